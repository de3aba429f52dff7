/**
 * The Task of a proposal (https://hl7.org/fhir/R4/task.html): which elements are to change and what was decided about them.
 * It holds no values: whoever may read Tasks need not be allowed to read what they are about (docs/decisions/0197).
 */
import {
  practiceIdentifierSystems,
  type Reference,
  type Task,
  type TaskOutput,
  type TaskStatusCode,
} from '@praxis/fhir';
import { toInstant } from '../../base/clock.ts';
import type { Decided, Proposed } from './fields.ts';
import { intakeCoding } from './task-states.ts';

/** `set` and `remove` as types of Task.input; the value is the path of the element. */
const changeSystem = 'https://praxis.health/fhir/CodeSystem/intake-change';

/** `accepted`, `edited` and `rejected` as types of Task.output, with the path; `resource` with a reference to it. */
const outcomeSystem = 'https://praxis.health/fhir/CodeSystem/intake-outcome';

export interface TaskDraft {
  readonly id: string;
  readonly type: string;
  /** Id of the resource that is to be changed. */
  readonly target: string | undefined;
  readonly patient: Reference | undefined;
  readonly proposed: Proposed;
  readonly nowMs: number;
}

/** The Task as it begins. */
export function buildIntakeTask({ id, type, target, patient, proposed, nowMs }: TaskDraft): Task {
  const now = toInstant(nowMs);
  return {
    resourceType: 'Task',
    identifier: [{ system: practiceIdentifierSystems.reconciliation, value: id }],
    status: 'requested',
    intent: 'proposal',
    code: { coding: [intakeCoding], text: `${type} to be accepted` },
    ...(target === undefined ? {} : { focus: { reference: `${type}/${target}` } }),
    ...(patient === undefined ? {} : { for: patient }),
    authoredOn: now,
    lastModified: now,
    input: Object.entries(proposed).map(([field, value]) => ({
      type: { coding: [{ system: changeSystem, code: value === null ? 'remove' : 'set' }] },
      valueString: `${type}.${field}`,
    })),
  };
}

export interface TaskStep {
  readonly status: TaskStatusCode;
  readonly type: string;
  readonly decided: Decided;
  /** Id of the resource that was made or changed. */
  readonly target: string | undefined;
  readonly nowMs: number;
}

/** The Task after staff have decided about some or all of it. */
export function buildDecidedTask(task: Task, { status, type, decided, target, nowMs }: TaskStep): Task {
  const output: TaskOutput[] = Object.entries(decided).map(([field, { decision }]) => ({
    type: { coding: [{ system: outcomeSystem, code: decision }] },
    valueString: `${type}.${field}`,
  }));
  if (target !== undefined)
    output.push({
      type: { coding: [{ system: outcomeSystem, code: 'resource' }] },
      valueReference: { reference: `${type}/${target}` },
    });
  return { ...task, status, lastModified: toInstant(nowMs), output };
}
