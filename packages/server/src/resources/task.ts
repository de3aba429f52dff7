/** Task (https://hl7.org/fhir/R4/task.html): proposals that wait for the practice are judged by a table of their own. */
import type { WriteOutcome } from '../storage/store.ts';
import type { Behaviour, BehaviourContext, VersionChange } from './behaviour.ts';
import { intakeStates } from './states/intake.ts';
import { judgedBy } from './states/judging.ts';
import { tableOf } from './states/state-table.ts';
import { taskStates } from './states/task.ts';
import { together } from './together.ts';

export const task: Behaviour = { type: 'Task', ...judgedBy([intakeStates, taskStates]), store: storeTask };

/** States in which nothing waits any more, and nothing was decided. */
const withdrawn: ReadonlySet<unknown> = new Set(['cancelled', 'entered-in-error']);

/** What is taken back waits no longer. */
async function storeTask({ scope, store }: BehaviourContext, change: VersionChange): Promise<WriteOutcome> {
  const { before, after, write } = change;
  const isIntake = before !== undefined && tableOf([intakeStates], before) !== undefined;
  if (!isIntake || (after !== undefined && !withdrawn.has(after['status']))) return await store.write(scope, write);
  return await together(store, scope, async (inside) => {
    await inside.closeProposal(scope, write.id);
    return await inside.write(scope, write);
  });
}
