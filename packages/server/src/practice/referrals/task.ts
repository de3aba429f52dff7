/** Task (https://hl7.org/fhir/R4/task.html): proposals that wait for the practice are judged by a table of their own. */
import type { TaskStatusCode } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { Behaviour, BehaviourContext, VersionChange } from '../../resources/behaviour.ts';
import { buildJudge } from '../../resources/states/judging.ts';
import { findStateTable } from '../../resources/states/state-table.ts';
import { commitUnlessConflict } from '../../resources/write-or-rollback.ts';
import type { WriteOutcome } from '../../storage/store.ts';
import { closeProposal, findProposal } from '../intake/store.ts';
import { intakeStates } from '../intake/task-states.ts';
import { taskStates } from './task-states.ts';

export const task: Behaviour<'Task'> = { type: 'Task', ...buildJudge([intakeStates, taskStates]), store: storeTask };

/** States in which nothing waits any more, and nothing was decided. */
const withdrawn: ReadonlySet<TaskStatusCode | undefined> = new Set(['cancelled', 'entered-in-error']);

/**
 * What is taken back waits no longer. Who changes the status reads it (`judged`), so the refusal tells nothing new.
 * @throws PraxisError `rule-broken` where another application takes it back
 */
async function storeTask({ scope, store }: BehaviourContext, change: VersionChange<'Task'>): Promise<WriteOutcome> {
  const { before, after, write, act } = change;
  const isIntake = before !== undefined && findStateTable([intakeStates], before) !== undefined;
  if (!isIntake || (after !== undefined && !withdrawn.has(after.status))) return await store.write(scope, write);
  if (act?.by === 'application' && after !== undefined) {
    const proposal = await findProposal(store, scope, write.id);
    if (proposal !== undefined && proposal.application !== scope.application)
      fail('rule-broken', {
        diagnostics:
          'Task.status: only the application that made the proposal can withdraw it, and only the practice can decide it',
        expression: ['Task.status'],
      });
  }
  return await commitUnlessConflict(store, scope, async (inside) => {
    await closeProposal(inside, scope, write.id);
    return await inside.write(scope, write);
  });
}
