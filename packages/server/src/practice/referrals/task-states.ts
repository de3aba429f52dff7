/** Task, recalls among them (https://hl7.org/fhir/R4/valueset-task-status.html, https://hl7.org/fhir/R4/task.html#statemachine). */
import type { TaskStatusCode } from '@praxis/fhir';
import type { State, StateTable } from '../../resources/states/state-table.ts';

const states: readonly State<TaskStatusCode>[] = [
  { code: 'draft', meaning: 'not yet asked for', begins: ['application'] },
  { code: 'requested', meaning: 'asked for', begins: ['application'] },
  { code: 'received', meaning: 'the performer has it and has not decided', begins: ['application'] },
  { code: 'accepted', meaning: 'the performer will do it', begins: ['application'] },
  { code: 'ready', meaning: 'may begin; a recall: open', begins: ['application'] },
  { code: 'in-progress', meaning: 'begun; a recall: scheduled', begins: ['application'] },
  { code: 'on-hold', meaning: 'interrupted', begins: ['application'] },
  { code: 'completed', meaning: 'done; a recall: closed', begins: ['application'] },
  { code: 'rejected', meaning: 'the performer will not do it' },
  { code: 'cancelled', meaning: 'called off before it was done' },
  { code: 'failed', meaning: 'begun and not done' },
  { code: 'entered-in-error', meaning: 'it should never have been recorded' },
];

const recorded = states.map(({ code }) => code).filter((code) => code !== 'entered-in-error');
const written = { by: 'application', on: 'write' } as const;

export const taskStates: StateTable<TaskStatusCode> = {
  name: 'Task',
  type: 'Task',
  introduction:
    'The state machine that R4 shows for Tasks. For a recall, ready means open (also when overdue), in-progress means scheduled, completed means closed. A recall whose appointment is cancelled is open again. What was done elsewhere may be recorded afterwards.',
  states,
  transitions: [
    { from: ['draft'], to: ['requested', 'cancelled'], ...written },
    { from: ['requested'], to: ['received', 'accepted', 'rejected', 'ready', 'in-progress', 'cancelled'], ...written },
    { from: ['received'], to: ['accepted', 'rejected', 'ready', 'in-progress', 'cancelled'], ...written },
    { from: ['accepted'], to: ['ready', 'in-progress', 'on-hold', 'completed', 'failed', 'cancelled'], ...written },
    { from: ['ready'], to: ['in-progress', 'on-hold', 'completed', 'failed', 'cancelled'], ...written },
    {
      from: ['in-progress'],
      to: ['ready', 'on-hold', 'completed', 'failed', 'cancelled'],
      ...written,
      note: 'ready: what was scheduled fell through',
    },
    { from: ['on-hold'], to: ['ready', 'in-progress', 'failed', 'cancelled'], ...written },
    {
      from: ['completed', 'failed', 'cancelled', 'rejected'],
      to: ['ready', 'in-progress'],
      by: 'practice',
      on: 'write',
      note: 'taken up again',
    },
    { from: recorded, to: ['entered-in-error'], ...written },
  ],
};
