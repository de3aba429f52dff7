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
  application: { kind: 'text', description: 'The name of the application. *: all applications.' },
};

const proposal: Shape = {
  task: { kind: 'text', description: 'The id of the Task, which is the reconciliation id.' },
  application: { kind: 'text', description: 'The name of the application that proposed it.' },
  type: { kind: 'choice', values: typeNames, description: 'The resource type.' },
  resource: { kind: 'text', nullable: true, description: 'The Type/id of the resource to change. Null: it is new.' },
  proposedAt: { kind: 'time', description: 'When it was proposed.' },
  status: { kind: 'text', description: 'The state of the Task: docs/integrate/states.md, Coverage intake.' },
};

const list: Shape = { ...proposal, fields: { kind: 'texts', description: 'The elements to change.' } };

const whole: Shape = {
  ...proposal,
  version: {
    kind: 'integer',
    nullable: true,
    description: 'The current version of the resource. Null: it does not exist.',
  },
  fields: {
    kind: 'list',
    description: 'The elements one by one.',
    shape: {
      field: { kind: 'text', description: 'The element.' },
      change: { kind: 'choice', values: ['set', 'remove'], description: 'The proposed value.' },
      decision: { kind: 'text', nullable: true, description: 'accepted, edited or rejected. Null: open.' },
      overtaken: {
        kind: 'flag',
        description: 'Whether the element has changed since the proposal. If so, accepting it needs the version.',
      },
      values: {
        kind: 'document',
        description:
          'The FHIR values that exist: base (as the application saw it), current, proposed, and decided by an edit.',
      },
    },
  },
};

const firmPath = '/environments/{environment}/firms/{firm}';
const rulePath = `${firmPath}/intake-rules/{type}/{application}` as const;
const taskPath = `${firmPath}/intake/{task}` as const;

const ruleSegments = {
  type: { description: `The resource type: ${typeNames.join(', ')}`, values: typeNames },
  application: { description: 'Only for this application. *: for all', standard: everyone },
} as const;

const elements = { kind: 'texts', itemsMax: 100, lengthMax: 64 } as const;

const decisionFields = {
  accept: { ...elements, description: 'The elements to accept as proposed.' },
  reject: { ...elements, description: 'The elements to reject. They do not change.' },
  edit: {
    kind: 'object',
    byMember: true,
    description: 'The FHIR value to store instead of the proposed one, by element.',
  },
  rest: {
    kind: 'choice',
    values: ['accept', 'reject'],
    description: 'The decision about all elements that are still open.',
  },
  version: {
    ...versionField,
    description: 'The version of the resource that staff saw. Needed to overwrite later changes.',
  },
} as const;

export const intakeActions = [
  defineAction({
    name: 'intake rules',
    method: 'GET',
    path: `${firmPath}/intake-rules`,
    summary: 'List the resource types whose writes wait for review',
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
    summary: 'Hold the writes of an application, or with * of all applications, for review',
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
    summary: 'Store writes immediately again; held proposals stay held',
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
    summary: 'List the proposals that wait for review, oldest first',
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
    summary: 'Show a proposal with its old and new values',
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
    summary: 'Accept, edit or reject all or some elements of a proposal',
    description:
      'When every element is decided, the resource and the Task change in one transaction. Until then the resource does not change, and each decision can be replaced.',
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
