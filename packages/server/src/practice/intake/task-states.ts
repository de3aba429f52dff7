/**
 * The Task of a proposed change that the practice wants to accept first: coverage above all
 * (https://hl7.org/fhir/R4/valueset-task-status.html).
 */
import type { TaskStatusCode } from '@praxis/fhir';
import type { StateTable } from '../../resources/states/state-table.ts';

/** The coding in `Task.code` of such a Task. */
export const intakeCoding = { system: 'https://praxis.health/fhir/CodeSystem/task-type', code: 'intake' };

const byPractice = { by: 'practice', on: 'write' } as const;

export const intakeStates: StateTable<TaskStatusCode> = {
  name: 'Coverage intake',
  type: 'Task',
  coding: intakeCoding,
  introduction: `A Task with the code \`${intakeCoding.code}\` of \`${intakeCoding.system}\` is a proposal of an application: a coverage, a condition or a medication. It waits until staff decide on all of it or on each field. The application may withdraw it. The state shows the outcome.`,
  states: [
    { code: 'requested', meaning: 'waits for the practice', begins: ['server'] },
    { code: 'in-progress', meaning: 'some fields are decided' },
    { code: 'accepted', meaning: 'all was taken over as it was proposed' },
    { code: 'completed', meaning: 'taken over in part, or edited' },
    { code: 'rejected', meaning: 'nothing was taken over' },
    { code: 'cancelled', meaning: 'taken back by the application before it was decided' },
    { code: 'entered-in-error', meaning: 'it should never have been proposed' },
  ],
  transitions: [
    { from: ['requested'], to: ['cancelled'], by: 'application', on: 'write' },
    { from: ['requested'], to: ['in-progress', 'accepted', 'completed', 'rejected'], ...byPractice },
    { from: ['in-progress'], to: ['accepted', 'completed', 'rejected'], ...byPractice },
    { from: ['requested', 'in-progress'], to: ['entered-in-error'], ...byPractice },
  ],
};
