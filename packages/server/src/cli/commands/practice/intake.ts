/** `praxis intake …`: what applications write and the practice wants to accept first. */

import { JsonError, parseJson } from '@praxis/fhir';
import type { Platform } from '../../../app.ts';
import { baseUrlOf, openOrigins } from '../../../http/origins.ts';
import { openOperatorBudget } from '../../../limits/budgets.ts';
import { type Decider, type Decisions, decide } from '../../../practice/intake/deciding.ts';
import { intakeTypes, isIntakeType } from '../../../practice/intake/proposing.ts';
import { listProposals, type ShownProposal, showProposal } from '../../../practice/intake/shown.ts';
import { addIntakeRule, findIntakeRules, removeIntakeRule } from '../../../practice/intake/store.ts';
import { openOperatorScope } from '../../../tenancy/operator.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { versionOf } from '../../firm-documents.ts';
import { applicationOf, dateTime, environmentOption, firmOf, printTable } from '../../options.ts';

const ruleOptions = {
  ...environmentOption,
  application: { kind: 'value', description: 'Of this application alone; absent: of all' },
} as const;

const decisionOptions = {
  ...environmentOption,
  accept: { kind: 'values', description: 'An element that is taken over as proposed; may be repeated' },
  reject: { kind: 'values', description: 'An element that stays as it is; may be repeated' },
  edit: {
    kind: 'values',
    description: 'ELEMENT=JSON: what is taken over in place of the proposed value; may be repeated',
  },
  rest: { kind: 'value', description: 'accept or reject: what is decided about all that is still open' },
  version: { kind: 'value', description: 'Version of the resource that was looked at, where others have changed it' },
} as const;

/** Rows of one list. */
const rowsMax = 10_000;

export const intakeCommands: readonly Command[] = [
  {
    name: 'intake rules',
    summary: 'List the types whose writes wait until the practice accepts them',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await deciderOf(await context.platform(), input);
      const rows = (await findIntakeRules(store, scope)).map((rule) => [rule.type, rule.applicationName ?? '*']);
      printTable(context, ['TYPE', 'APPLICATION'], rows);
    },
  },
  {
    name: 'intake require',
    summary: 'Let what applications write of a type wait, from the next request on',
    arguments: ['FIRM', 'TYPE'],
    options: ruleOptions,
    async run(context, input) {
      const platform = await context.platform();
      const { store, scope } = await deciderOf(platform, input);
      await addIntakeRule(store, scope, await ruleOf(platform, input));
      context.print(`${input.argument(1)} waits for the practice`);
    },
  },
  {
    name: 'intake release',
    summary: 'Store it at once again; what waits goes on waiting',
    arguments: ['FIRM', 'TYPE'],
    options: ruleOptions,
    async run(context, input) {
      const platform = await context.platform();
      const { store, scope } = await deciderOf(platform, input);
      const isGone = await removeIntakeRule(store, scope, await ruleOf(platform, input));
      context.print(isGone ? `${input.argument(1)} is stored at once` : 'There was no such rule');
    },
  },
  {
    name: 'intake list',
    summary: 'List what waits for the practice, oldest first',
    arguments: ['FIRM'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await deciderOf(await context.platform(), input);
      const rows = (await listProposals(store, scope, rowsMax)).map((each) => [
        ...[each.task, dateTime(each.proposedAtMs), each.application, each.status],
        ...[each.resource ?? `new ${each.type}`, each.fields.join(' ')],
      ]);
      printTable(context, ['TASK', 'PROPOSED', 'APPLICATION', 'STATUS', 'RESOURCE', 'FIELDS'], rows);
    },
  },
  {
    name: 'intake show',
    summary: 'Print one proposal with its values, old and new',
    arguments: ['FIRM', 'TASK'],
    options: environmentOption,
    async run(context, input) {
      const { store, scope } = await deciderOf(await context.platform(), input);
      print(context, await showProposal(store, scope, input.argument(1)));
    },
  },
  {
    name: 'intake decide',
    summary: 'Accept, edit or reject some elements or all',
    arguments: ['FIRM', 'TASK'],
    options: decisionOptions,
    async run(context, input) {
      const decider = await deciderOf(await context.platform(), input);
      const task = input.argument(1);
      await decide(decider, task, decisionsOf(input));
      const { status, resource } = await showProposal(decider.store, decider.scope, task);
      context.print(`${task} is ${status}${resource === undefined ? '' : `: ${resource}`}`);
    },
  },
];

async function deciderOf(platform: Platform, input: CommandInput): Promise<Decider> {
  const { database, clock, store, config } = platform;
  const firm = await firmOf(platform, input, input.argument(0));
  const scope = await openOperatorScope(database, clock, firm);
  const origins = openOrigins(config, () => `http://${config.host}:${config.port}`);
  const baseUrl = baseUrlOf(origins, { environment: firm.environment, firm: firm.prefix, product: scope.product });
  return { store, scope, clock, budget: openOperatorBudget(), baseUrl, username: 'operator', flow: 'command' };
}

/** @throws UsageError */
async function ruleOf(platform: Platform, input: CommandInput) {
  const type = input.argument(1);
  if (!isIntakeType(type)) throw new UsageError(`TYPE must be one of ${Object.keys(intakeTypes).join(', ')}`);
  const name = input.option('application');
  return { type, application: name === undefined ? undefined : (await applicationOf(platform, input, name)).id };
}

/** @throws UsageError */
function decisionsOf(input: CommandInput): Decisions {
  const rest = input.option('rest');
  if (rest !== undefined && rest !== 'accept' && rest !== 'reject')
    throw new UsageError('--rest must be accept or reject');
  const version = versionOf(input);
  return {
    accept: input.list('accept'),
    reject: input.list('reject'),
    edit: Object.fromEntries(input.list('edit').map(editOf)),
    ...(rest === undefined ? {} : { rest }),
    ...(version === undefined ? {} : { version }),
  };
}

/** @throws UsageError */
function editOf(text: string): readonly [field: string, value: unknown] {
  const [, field = '', json = ''] = /^([A-Za-z_]+)=(.*)$/s.exec(text) ?? [];
  if (field === '') throw new UsageError('--edit must be ELEMENT=JSON, such as period={"start":"2027-01-01"}');
  return [field, jsonOf(field, json)];
}

function print(context: CommandContext, { fields, ...proposal }: ShownProposal): void {
  const proposedAt = dateTime(proposal.proposedAtMs);
  const { proposedAtMs: _shown, ...facts } = proposal;
  context.print(JSON.stringify({ ...facts, proposedAt, fields }, undefined, 2));
}

/** @throws UsageError */
function jsonOf(field: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof JsonError)
      throw new UsageError(`--edit ${field}= must go on with a JSON value: ${cause.message}`);
    throw cause;
  }
}
