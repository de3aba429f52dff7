/** `praxis subscriptions …`: what leaves a practice by itself, and how to end that at once. */
import { type ActionContext, defineAction } from '../../actions/action.ts';
import { nothing, type Shape } from '../../actions/schema.ts';
import { getTargetFirm } from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { listAllStates, setSuspended } from './store.ts';

const subscription: Shape = {
  id: { kind: 'text', description: 'The id of the Subscription.' },
  application: { kind: 'text', description: 'The name of the application.' },
  status: { kind: 'text', description: 'requested, active, error or off.' },
  reason: { kind: 'text', nullable: true, description: 'Why it is in error or off.' },
  about: { kind: 'text', description: 'The topic, or the type of its criteria.' },
  endpoint: { kind: 'text', description: 'Where notifications go.' },
  content: { kind: 'text', description: 'empty, id-only or full-resource.' },
  events: { kind: 'integer', description: 'The number of events so far.' },
  waiting: { kind: 'integer', description: 'Events that are not delivered yet.' },
  failingSince: { kind: 'time', nullable: true, description: 'Since when the endpoint accepts nothing.' },
  suspended: { kind: 'flag', description: 'Whether the practice or the operator has ended it.' },
};

const firmPath = '/environments/{environment}/firms/{firm}/subscriptions';
const practices = ['operator', 'practice'] as const;

export const subscriptionActions = [
  defineAction({
    name: 'subscriptions list',
    method: 'GET',
    path: firmPath,
    summary: 'List the subscriptions of applications: where what leaves the practice goes',
    roles: practices,
    fields: {},
    output: { kind: 'list', shape: subscription },
    run: async (context, { path }) =>
      await listAllStates(context.store, await scopeOf(context, path), context.rowsMax + 1),
    command: { columns: ['id', 'application', 'status', 'reason', 'about', 'endpoint', 'events', 'waiting'] },
  }),
  defineAction({
    name: 'subscriptions suspend',
    method: 'PUT',
    path: `${firmPath}/{subscription}/suspension`,
    summary: 'End a subscription at once; nothing is sent for it until it is resumed',
    roles: practices,
    fields: {},
    output: nothing,
    run: async (context, { path }) => await suspend(context, path, true),
    command: { print: (_, { path }) => [`${path.subscription} is suspended`] },
  }),
  defineAction({
    name: 'subscriptions resume',
    method: 'DELETE',
    path: `${firmPath}/{subscription}/suspension`,
    summary: 'Let the application ask for a suspended subscription again',
    roles: practices,
    fields: {},
    output: nothing,
    run: async (context, { path }) => await suspend(context, path, false),
    command: { print: (_, { path }) => [`${path.subscription} may be asked for again`] },
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
async function suspend(
  context: ActionContext,
  path: FirmPath & { readonly subscription: string },
  isSuspended: boolean,
): Promise<void> {
  const { store, clock } = context;
  if (await setSuspended(store, await scopeOf(context, path), path.subscription, isSuspended, clock.now())) return;
  fail('resource-not-found', { diagnostics: 'There is no such subscription: subscriptions list shows them' });
}
