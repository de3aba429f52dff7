/**
 * `praxis subscriptions …`, `praxis app …`: what leaves a practice by itself, what became of it, and how to end it or have it told
 * again. A practice sees what concerns it, a vendor what its application asked for.
 */
import { type ActionContext, defineAction } from '../../actions/action.ts';
import { firmMember } from '../../actions/fields.ts';
import { listOverFirms } from '../../actions/over-firms.ts';
import { list, nothing, one, type Shape } from '../../actions/schema.ts';
import {
  getPlaceOfApplication,
  getTargetApplication,
  getTargetFirm,
  type PlaceOfApplication,
} from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import {
  listFirmsWithSubscriptions,
  listShownAttempts,
  listShownSubscriptions,
  type ReplayProblem,
  replayFrom,
  type Seen,
  type ShownSubscription,
  type Suspender,
  setSuspended,
} from './oversight.ts';

const subscription: Shape = {
  id: { kind: 'text', description: 'The id of the Subscription.' },
  application: { kind: 'text', description: 'The name of the application.' },
  status: { kind: 'text', description: 'requested, active, error or off.' },
  reason: { kind: 'text', nullable: true, description: 'Why it is in error or off.' },
  about: { kind: 'text', description: 'The topic, or the type of its criteria.' },
  endpoint: { kind: 'text', description: 'Where notifications go; websocket: to clients that connect.' },
  content: { kind: 'text', description: 'empty, id-only or full-resource.' },
  events: { kind: 'integer', description: 'The number of events so far.' },
  waiting: { kind: 'integer', description: 'Events that are not delivered yet.' },
  keptFrom: { kind: 'integer', nullable: true, description: 'The number of the first event that is kept.' },
  failingSince: { kind: 'time', nullable: true, description: 'Since when the endpoint accepts nothing.' },
  nextAttempt: { kind: 'time', nullable: true, description: 'When a failed notification is tried again.' },
  suspended: { kind: 'flag', description: 'Whether the practice or the operator has ended it.' },
  suspendedByVendor: { kind: 'flag', description: 'Whether the vendor has ended it.' },
};

const attempt: Shape = {
  number: { kind: 'integer', label: 'attempt', description: 'The number of the attempt, from 1.' },
  at: { kind: 'time', precision: 'instant', description: 'When it was made.' },
  kind: { kind: 'choice', values: ['handshake', 'heartbeat', 'event-notification'], description: 'What was sent.' },
  firstEvent: { kind: 'integer', nullable: true, description: 'The number of the first event. Null: it told of none.' },
  lastEvent: { kind: 'integer', nullable: true, description: 'The number of the last event.' },
  status: { kind: 'integer', nullable: true, description: 'The status of the answer. Null: there was none.' },
  reason: { kind: 'text', nullable: true, description: 'Why there was none.' },
  took: { kind: 'integer', label: 'ms', description: 'How long it took, in milliseconds.' },
  nextAttempt: { kind: 'time', nullable: true, description: 'When it is tried again. Null: it is not.' },
};

const fromField = {
  from: {
    kind: 'integer',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    required: true,
    description: 'The number of the first event that is told again.',
  },
} as const;

const columns = ['id', 'application', 'status', 'reason', 'about', 'endpoint', 'events', 'waiting'] as const;
const attemptColumns = [
  'number',
  'at',
  'kind',
  'firstEvent',
  'lastEvent',
  'status',
  'reason',
  'took',
  'nextAttempt',
] as const;

const firmPath = '/environments/{environment}/firms/{firm}/subscriptions';
const onePath = `${firmPath}/{subscription}` as const;
const practices = ['operator', 'practice'] as const;

const ofApplication = '/environments/{environment}/applications/{application}';
const atFirm = `${ofApplication}/firms/{at}/subscriptions` as const;
const oneAtFirm = `${atFirm}/{subscription}` as const;
const vendors = ['operator', 'vendor'] as const;

const practiceActions = [
  defineAction({
    name: 'subscriptions list',
    method: 'GET',
    path: firmPath,
    summary: 'List the subscriptions of applications: where what leaves the practice goes',
    roles: practices,
    output: list(subscription),
    run: async (context, { path }) =>
      await listShownSubscriptions(context.database, await seenByPractice(context, path), {
        limit: context.rowsMax + 1,
      }),
    command: { columns },
  }),
  defineAction({
    name: 'subscriptions show',
    method: 'GET',
    path: onePath,
    summary: 'Show a subscription',
    roles: practices,
    output: one(subscription),
    run: async (context, { path }) => await showOne(context, await seenByPractice(context, path), path.subscription),
  }),
  defineAction({
    name: 'subscriptions deliveries',
    method: 'GET',
    path: `${onePath}/deliveries`,
    summary: 'List the last attempts to reach the endpoint of a subscription, the newest first, and why they failed',
    roles: practices,
    output: list(attempt),
    run: async (context, { path }) =>
      await showAttempts(context, await seenByPractice(context, path), path.subscription),
    command: { columns: attemptColumns },
  }),
  defineAction({
    name: 'subscriptions replay',
    method: 'POST',
    path: `${onePath}/replay`,
    summary: 'Send the events of a subscription again, from a number on',
    description: 'The events must still be kept. They are sent under new webhook-ids, by the rights of this moment.',
    roles: practices,
    fields: fromField,
    run: async (context, { path, body }) =>
      await replay(context, await seenByPractice(context, path), path.subscription, body.from),
    command: {
      arguments: ['firm', 'subscription', 'from'],
      print: (_, { path, body }) => [`${path.subscription} is told its events from ${body.from} on again`],
    },
  }),
  defineAction({
    name: 'subscriptions suspend',
    method: 'PUT',
    path: `${onePath}/suspension`,
    summary: 'End a subscription at once; nothing is sent for it until it is resumed',
    roles: practices,
    output: nothing,
    run: async (context, { path }) =>
      await suspend(context, await seenByPractice(context, path), path.subscription, 'practice', true),
    command: { print: (_, { path }) => [`${path.subscription} is suspended`] },
  }),
  defineAction({
    name: 'subscriptions resume',
    method: 'DELETE',
    path: `${onePath}/suspension`,
    summary: 'Let the application ask for a suspended subscription again',
    roles: practices,
    output: nothing,
    run: async (context, { path }) =>
      await suspend(context, await seenByPractice(context, path), path.subscription, 'practice', false),
    command: { print: (_, { path }) => [`${path.subscription} may be asked for again`] },
  }),
];

const vendorActions = [
  defineAction({
    name: 'app subscriptions',
    method: 'GET',
    path: `${ofApplication}/subscriptions`,
    summary: 'List the subscriptions of an application at all firms that have authorised it',
    requestNote: 'By firm and id. Where `more` is true, ask firm by firm.',
    roles: vendors,
    output: list({ ...firmMember, ...subscription }),
    run: async (context, { path }) => {
      const application = await getTargetApplication(context, path);
      const firms = await listFirmsWithSubscriptions(context.database, path.environment, application.id);
      return await listOverFirms(firms, context.rowsMax, (firm, limit) =>
        listShownSubscriptions(context.database, { firm, application: application.id }, { limit }),
      );
    },
    command: { columns: ['firm', 'id', 'status', 'reason', 'about', 'endpoint', 'events', 'waiting'] },
  }),
  defineAction({
    name: 'app subscriptions-at',
    method: 'GET',
    path: atFirm,
    summary: 'List the subscriptions of an application at a firm',
    roles: vendors,
    output: list(subscription),
    run: async (context, { path }) =>
      await listShownSubscriptions(context.database, await seenByVendor(context, path), { limit: context.rowsMax + 1 }),
    command: { columns },
  }),
  defineAction({
    name: 'app deliveries',
    method: 'GET',
    path: `${oneAtFirm}/deliveries`,
    summary:
      'List the last attempts to reach the endpoint of a subscription of an application, the newest first, and why they failed',
    roles: vendors,
    output: list(attempt),
    run: async (context, { path }) => await showAttempts(context, await seenByVendor(context, path), path.subscription),
    command: { columns: attemptColumns },
  }),
  defineAction({
    name: 'app replay',
    method: 'POST',
    path: `${oneAtFirm}/replay`,
    summary: 'Send the events of a subscription of an application again, from a number on',
    description: 'The events must still be kept. They are sent under new webhook-ids, by the rights of this moment.',
    roles: vendors,
    fields: fromField,
    run: async (context, { path, body }) =>
      await replay(context, await seenByVendor(context, path), path.subscription, body.from),
    command: {
      arguments: ['application', 'at', 'subscription', 'from'],
      print: (_, { path, body }) => [`${path.subscription} is told its events from ${body.from} on again`],
    },
  }),
  defineAction({
    name: 'app suspend-subscription',
    method: 'PUT',
    path: `${oneAtFirm}/suspension`,
    summary: 'End a subscription of an application at once, as its vendor',
    roles: vendors,
    output: nothing,
    run: async (context, { path }) =>
      await suspend(context, await seenByVendor(context, path), path.subscription, 'vendor', true),
    command: { print: (_, { path }) => [`${path.subscription} is suspended`] },
  }),
  defineAction({
    name: 'app resume-subscription',
    method: 'DELETE',
    path: `${oneAtFirm}/suspension`,
    summary: 'Take back the suspension of a subscription by its vendor; one by the practice stays',
    roles: vendors,
    output: nothing,
    run: async (context, { path }) =>
      await suspend(context, await seenByVendor(context, path), path.subscription, 'vendor', false),
    command: { print: (_, { path }) => [`${path.subscription} may be asked for again`] },
  }),
];

export const subscriptionActions = [
  defineAction({
    name: 'subscriptions all',
    method: 'GET',
    path: '/environments/{environment}/subscriptions',
    summary: 'List the subscriptions of all firms of an environment',
    requestNote: 'By firm and id. Where `more` is true, ask firm by firm.',
    roles: ['operator'],
    output: list({ ...firmMember, ...subscription }),
    run: async ({ database, rowsMax }, { path }) =>
      await listOverFirms(
        await listFirmsWithSubscriptions(database, path.environment),
        rowsMax,
        async (firm, limit) => await listShownSubscriptions(database, { firm }, { limit }),
      ),
    command: { columns: ['firm', ...columns] },
  }),
  ...practiceActions,
  ...vendorActions,
];

interface FirmPath {
  readonly environment: string;
  readonly firm: string;
}

async function seenByPractice(context: ActionContext, path: FirmPath): Promise<Seen> {
  return { firm: (await getTargetFirm(context, path)).id };
}

async function seenByVendor(context: ActionContext, path: PlaceOfApplication): Promise<Seen> {
  const { firm, application } = await getPlaceOfApplication(context, path);
  return { firm: firm.id, application: application.id };
}

async function showOne({ database }: ActionContext, seen: Seen, id: string): Promise<ShownSubscription> {
  const [found] = await listShownSubscriptions(database, seen, { limit: 1, ids: [id] });
  return found ?? refuseUnknown();
}

async function showAttempts({ database }: ActionContext, seen: Seen, id: string) {
  return (await listShownAttempts(database, seen, id)) ?? refuseUnknown();
}

/** @throws PraxisError `resource-not-found`, `rule-broken` */
async function replay({ database, clock }: ActionContext, seen: Seen, id: string, from: number): Promise<void> {
  const problem = await replayFrom(database, seen, id, from, clock.now());
  if (problem !== undefined) refuseReplay(problem, from);
}

function refuseReplay(problem: ReplayProblem, from: number): never {
  switch (problem.kind) {
    case 'unknown':
      return refuseUnknown();
    case 'not-running': {
      const { status, reason } = problem;
      const why = reason === null ? '' : ` (${reason})`;
      return refuseFrom(`The subscription is ${status}${why}: its run has to go on for events to be told again`);
    }
    case 'not-kept': {
      const { keptFrom, events } = problem;
      const kept = keptFrom === null ? 'none is kept' : `${keptFrom} to ${events} are kept`;
      return refuseFrom(`from is ${from}, and no such event is kept: ${kept}`);
    }
  }
}

function refuseFrom(diagnostics: string): never {
  return fail('rule-broken', { diagnostics, expression: ['from'] });
}

/** @throws PraxisError `resource-not-found` */
async function suspend(
  { database, clock }: ActionContext,
  seen: Seen,
  id: string,
  suspender: Suspender,
  isSuspended: boolean,
): Promise<void> {
  if (!(await setSuspended(database, seen, id, suspender, isSuspended, clock.now()))) refuseUnknown();
}

function refuseUnknown(): never {
  return fail('resource-not-found', { diagnostics: 'There is no such subscription', expression: ['subscription'] });
}
