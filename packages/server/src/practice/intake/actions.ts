/** `praxis intake …`: what applications write and the practice wants to accept first. */

import { type ActionContext, defineAction } from '../../actions/action.ts';
import { formatToMinute } from '../../actions/command-form.ts';
import { versionField } from '../../actions/fields.ts';
import { nothing, type Shape } from '../../actions/schema.ts';
import { getAuthorisedTargets, getTargetFirm } from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import { requestLimits } from '../../limits/budgets.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { decide } from './deciding.ts';
import { intakeTypes } from './proposing.ts';
import { listProposals, showProposal } from './shown.ts';
import { addIntakeRule, findIntakeRules, removeIntakeRule } from './store.ts';

const practices = ['operator', 'practice'] as const;

/** In a path, where the name of an application could stand. */
const everyone = '*';

const typeNames = Object.keys(intakeTypes);

const rule: Shape = {
  type: { kind: 'choice', values: typeNames, description: 'The resource type.' },
  application: { kind: 'text', description: 'Name of the application; *: all of them.' },
};

const proposal: Shape = {
  task: { kind: 'text', description: 'Id of the Task, and the reconciliation id.' },
  application: { kind: 'text', description: 'Name of the application that proposed it.' },
  type: { kind: 'choice', values: typeNames, description: 'The resource type.' },
  resource: { kind: 'text', nullable: true, description: 'Type/id of what is to be changed; null: it is new.' },
  proposedAt: { kind: 'time', description: 'When it was proposed.' },
  status: { kind: 'text', description: 'State of the Task: docs/integrate/states.md, Coverage intake.' },
};

const list: Shape = { ...proposal, fields: { kind: 'texts', description: 'The elements that are to change.' } };

const whole: Shape = {
  ...proposal,
  version: { kind: 'integer', nullable: true, description: 'Version of the resource now; null: there is none.' },
  fields: {
    kind: 'list',
    description: 'Element by element.',
    shape: {
      field: { kind: 'text', description: 'The element.' },
      change: { kind: 'choice', values: ['set', 'remove'], description: 'What is proposed.' },
      decision: { kind: 'text', nullable: true, description: 'accepted, edited or rejected; null: it is open.' },
      overtaken: { kind: 'flag', description: 'Others have changed it since: accepting it needs the version.' },
      values: {
        kind: 'document',
        description:
          'FHIR values, those that there are: base as the application saw it, current, proposed, decided by an edit.',
      },
    },
  },
};

const firmPath = '/environments/{environment}/firms/{firm}';
const rulePath = `${firmPath}/intake-rules/{type}/{application}` as const;
const taskPath = `${firmPath}/intake/{task}` as const;

const ruleSegments = {
  type: { description: `The resource type: ${typeNames.join(', ')}`, values: typeNames },
  application: { description: 'Of this application alone; *: of all', standard: everyone },
} as const;

const elements = { kind: 'texts', itemsMax: 100, lengthMax: 64 } as const;

const decisionFields = {
  accept: { ...elements, description: 'Elements that are taken over as proposed.' },
  reject: { ...elements, description: 'Elements that stay as they are.' },
  edit: {
    kind: 'object',
    byMember: true,
    description: 'Element: the FHIR value that is taken over in place of the proposed one.',
  },
  rest: { kind: 'choice', values: ['accept', 'reject'], description: 'What is decided about all that is still open.' },
  version: {
    ...versionField,
    description: 'Version of the resource that was looked at; needed to replace what others have changed since.',
  },
} as const;

export const intakeActions = [
  defineAction({
    name: 'intake rules',
    method: 'GET',
    path: `${firmPath}/intake-rules`,
    summary: 'List the types whose writes wait until the practice accepts them',
    roles: practices,
    fields: {},
    output: { kind: 'list', shape: rule },
    async run(context, { path }) {
      const rules = await findIntakeRules(context.store, await scopeOf(context, path));
      return rules.map(({ type, applicationName }) => ({ type, application: applicationName ?? everyone }));
    },
  }),
  defineAction({
    name: 'intake require',
    method: 'PUT',
    path: rulePath,
    summary: 'Let what an application, or with * every one, writes of a type wait, from the next request on',
    roles: practices,
    fields: {},
    output: nothing,
    async run(context, { path }) {
      await addIntakeRule(context.store, await scopeOf(context, path), await ruleOf(context, path));
    },
    command: { segments: ruleSegments, print: (_, { path }) => [`${path.type} waits for the practice`] },
  }),
  defineAction({
    name: 'intake release',
    method: 'DELETE',
    path: rulePath,
    summary: 'Store it at once again; what waits goes on waiting',
    roles: practices,
    fields: {},
    output: nothing,
    async run(context, { path }) {
      if (await removeIntakeRule(context.store, await scopeOf(context, path), await ruleOf(context, path))) return;
      fail('resource-not-found', { diagnostics: 'There is no such rule: intake rules lists them' });
    },
    command: { segments: ruleSegments, print: (_, { path }) => [`${path.type} is stored at once`] },
  }),
  defineAction({
    name: 'intake list',
    method: 'GET',
    path: `${firmPath}/intake`,
    summary: 'List what waits for the practice, oldest first',
    roles: practices,
    fields: {},
    output: { kind: 'list', shape: list },
    run: async (context, { path }) =>
      await listProposals(context.store, await scopeOf(context, path), context.rowsMax + 1),
    command: {
      columns: [
        ...['task', 'proposedAt', 'application', 'status'],
        { heading: 'RESOURCE', cell: ({ resource, type }) => resource ?? `new ${type}` },
        'fields',
      ],
    },
  }),
  defineAction({
    name: 'intake show',
    method: 'POST',
    path: taskPath,
    summary: 'One proposal with its values, old and new',
    requestNote: 'A POST, since whoever looks at values leaves a row in the ledger.',
    roles: practices,
    fields: {},
    output: { kind: 'one', shape: whole },
    run: async (context, { path }) => await showProposal(context.store, await scopeOf(context, path), path.task),
    command: { print: (proposal) => [printProposal(proposal)] },
  }),
  defineAction({
    name: 'intake decide',
    method: 'PUT',
    path: taskPath,
    summary: 'Accept, edit or reject some elements or all',
    description:
      'Once every element is decided, the resource and the Task change in one transaction. Until then nothing of the resource changes, and each decision can be replaced.',
    roles: practices,
    fields: decisionFields,
    output: { kind: 'one', shape: whole },
    async run(context, { path, body }) {
      const { store, clock, caller, baseUrlOf, openBudget } = context;
      const scope = await scopeOf(context, path);
      const baseUrl = baseUrlOf({ environment: path.environment, prefix: path.firm });
      const budget = openBudget(scope, requestLimits);
      const username = caller.kind === 'command' ? 'operator' : caller.username;
      const decider = { store, scope, clock, budget, baseUrl, username, flow: caller.kind };
      await decide(decider, path.task, body);
      return await showProposal(store, scope, path.task);
    },
    command: {
      print: ({ status, resource }, { path }) => [
        `${path.task} is ${status}${resource === null ? '' : `: ${resource}`}`,
      ],
    },
  }),
];

interface FirmPath {
  readonly environment: string;
  readonly firm: string;
}

async function scopeOf(context: ActionContext, path: FirmPath): Promise<TenantScope> {
  return await openOperatorScope(context.database, context.clock, await getTargetFirm(context, path));
}

/** @throws PraxisError `resource-not-found` */
async function ruleOf(
  context: ActionContext,
  path: FirmPath & { readonly type: string; readonly application: string },
) {
  if (!typeNames.includes(path.type))
    fail('resource-not-found', { diagnostics: `type is one of ${typeNames.join(', ')}`, expression: ['type'] });
  const isAll = path.application === everyone;
  const application = isAll ? undefined : (await getAuthorisedTargets(context, path)).application.id;
  return { type: path.type, application };
}

/** Without what there is not. */
function printProposal({ proposedAtMs, ...proposal }: Awaited<ReturnType<typeof showProposal>>): string {
  const whole = { ...proposal, proposedAt: formatToMinute(proposedAtMs) };
  return JSON.stringify(whole, (_, value: unknown) => value ?? undefined, 2);
}
