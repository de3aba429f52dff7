/** Running an action, whoever asks for it: by HTTP or on the command line. */
import type { Action, ActionInput } from '../actions/action.ts';
import type { Fields } from '../actions/schema.ts';
import { getTargetFirm } from '../actions/targets.ts';
import { PraxisError } from '../base/errors.ts';
import { CostlyParameters } from '../search/index/costly-parameters.ts';
import { openOperatorScope } from '../tenancy/operator.ts';
import type { Segments } from './access.ts';
import type { Concerned } from './audit-actions.ts';
import type { AdminContext } from './context.ts';

/** Times that an action is begun again because rights at the firm changed while it ran; nothing was written then. */
const freshMax = 3;

/** An action acts as the operator at the firm, whose rights become old with those of everybody there. */
export async function runAction<C extends AdminContext>(
  action: Action<string, Fields, C>,
  context: C,
  input: ActionInput<string, Fields>,
): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action.run(context, input);
    } catch (error) {
      if (error instanceof CostlyParameters) await failCostly(context, input.path, error);
      const isStale = error instanceof PraxisError && error.code === 'stale-access';
      if (!isStale || attempt === freshMax) throw error;
    }
  }
}

/** The action is not refused for definitions of the firm's that cost too much: they are marked as failed. */
async function failCostly(
  context: AdminContext,
  { environment = '', firm: prefix = '' }: Segments,
  { failed }: CostlyParameters,
): Promise<void> {
  const { database, clock, store } = context;
  const scope = await openOperatorScope(database, clock, await getTargetFirm(context, { environment, firm: prefix }));
  await store.failParameters(scope, failed);
}

/** What a change by the action is about: by the segments of its path, and fields that name a place. */
export function findConcerned({ fields }: Action, { path, body }: ActionInput<string, Fields>): Concerned {
  const given = new Map<string, unknown>(Object.entries(body));
  const placed = (wanted: string): readonly string[] =>
    Object.entries(fields).flatMap(([name, { place }]) =>
      place === wanted ? [given.get(name) ?? []].flat().map(String) : [],
    );
  const named = path['firm'] ?? path['at'];
  return {
    environment: path['environment'] ?? placed('environment')[0],
    firms: named === undefined ? placed('firm') : [named],
    application: path['application'],
  };
}
