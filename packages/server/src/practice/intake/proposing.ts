/**
 * Writes that a practice wants to accept first (docs/decisions/0197): checked like any write, they become a Task and change
 * nothing. The answer is 202 with the Task as Location.
 */
import type { Reference, TypedResource } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { fail } from '../../base/errors.ts';
import { makeResourceId } from '../../base/ids.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from '../../engine/context.ts';
import type { CheckedWrite, ResourceHooks } from '../../engine/hooks.ts';
import { buildAwaitingOutcome } from '../../engine/outcome.ts';
import { compileCriterionTest, discloseReadable } from '../../engine/rights/disclosing.ts';
import { compileReadable } from '../../engine/rights/readable-members.ts';
import { requireBound } from '../../engine/write/bindings.ts';
import { buildWrite } from '../../engine/write/build-write.ts';
import { requireInvariants } from '../../engine/write/invariants.ts';
import { saveVersion } from '../../engine/write/save-version.ts';
import { requireType, type StoredResource } from '../../storage/store.ts';
import { attachProposedContent } from '../documents/attach-content.ts';
import { computeProposedFields, type Proposed } from './fields.ts';
import { buildIntakeTask } from './intake-task.ts';
import { addProposal, awaitsAcceptance, waitingMax } from './store.ts';

/** Types of which a practice may want that → the element that names the patient. */
export const intakeTypes = { Condition: 'subject', Coverage: 'beneficiary', MedicationStatement: 'subject' } as const;

export type IntakeType = keyof typeof intakeTypes;

export function isIntakeType(type: string): type is IntakeType {
  return Object.hasOwn(intakeTypes, type);
}

export const intakeHooks: ResourceHooks = {
  types: Object.keys(intakeTypes),
  intercept: { isActive: isAwaited, answer: proposedInstead },
};

/** Whether what the caller writes of the type waits for the practice. */
async function isAwaited({ store, scope }: InteractionContext, type: string): Promise<boolean> {
  return isIntakeType(type) && (await awaitsAcceptance(store, scope, type));
}

/**
 * The answer to a write that waits for the practice; undefined: it does not wait and is to be stored.
 * @throws PraxisError `rule-broken` inside a transaction Bundle, whose other entries could not rely on it
 */
async function proposedInstead(
  context: InteractionContext,
  request: Pick<FhirRequest, 'prefer'>,
  checked: CheckedWrite,
): Promise<FhirResponse | undefined> {
  const { current, write, touched } = checked;
  const { type } = write;
  if (!isIntakeType(type) || !(await isAwaited(context, type))) return undefined;
  if (context.allOrNothing === true) {
    fail('rule-broken', {
      diagnostics: `${type} waits for the practice to accept it, so it cannot be part of a transaction: send it by itself or in a batch`,
      expression: [type],
    });
  }
  const before = current === undefined || current.deleted ? undefined : parseStored(current.content);
  const { content } = requireType(write, type);
  if (content === null) return undefined;
  const after = parseStored(content);
  const proposed = computeProposedFields(before ?? {}, after, touched);
  if (before !== undefined && current !== undefined && Object.keys(proposed).length === 0)
    return unchanged(context, request, current);
  // Else the practice would be asked about what cannot be stored.
  await requireInvariants(context, write, current);
  await requireBound(context, type, before, after);
  return await propose(context, request, { ...checked, type, after, proposed });
}

interface NewProposal extends CheckedWrite {
  readonly type: IntakeType;
  readonly after: TypedResource<IntakeType>;
  readonly proposed: Proposed;
}

async function propose(
  context: InteractionContext,
  request: Pick<FhirRequest, 'prefer'>,
  made: NewProposal,
): Promise<FhirResponse> {
  const { scope, store, clock, baseUrl } = context;
  const { type, write, current, proposed } = made;
  const id = makeResourceId(clock);
  // A create gets its id when it is accepted; a client that has chosen one keeps it.
  const target = write.audit.interaction === 'create' ? undefined : write.id;
  const task = buildIntakeTask({ id, type, target, patient: patientOf(context, made), proposed, nowMs: clock.now() });
  const { policy: _asWriter, ...plain } = context;
  const taskWrite = await buildWrite(plain, 'create', 'Task', id, task, 0);
  // What allows it is what allows the write that it stands for.
  const audit = { ...taskWrite.audit, ...(write.audit.entries === undefined ? {} : { entries: write.audit.entries }) };
  const draft = { task: id, type, target, base: current?.versionId ?? 0, proposedAtMs: clock.now() };
  await store.transaction(scope, async (inside) => {
    if (!(await addProposal(inside, scope, { ...draft, proposed: JSON.stringify(proposed) })))
      fail('rule-broken', {
        diagnostics: `${waitingMax} writes of the application wait for the practice: go on when it has decided about some of them, or take some back (Task.status cancelled)`,
      });
    const storing = { ...context, store: inside };
    await attachProposedContent(storing, write, id);
    const outcome = await saveVersion(storing, { ...taskWrite, audit }, undefined, {
      act: { by: 'server', on: 'write' },
    });
    if (outcome.outcome !== 'written')
      fail('conflict', { diagnostics: 'The new id is already in use: repeat the request' });
  });
  const location = `${baseUrl}/Task/${id}`;
  return request.prefer.return === 'minimal'
    ? { status: 202, location }
    : { status: 202, location, body: buildAwaitingOutcome(type, id) };
}

/** Whoever patches some elements may not be allowed to read whose they are. */
function patientOf(
  context: InteractionContext,
  { type, write, current, touched, after }: NewProposal,
): Reference | undefined {
  const member = intakeTypes[type];
  const patient = after.resourceType === 'Coverage' ? after.beneficiary : after.subject;
  if (touched === undefined || touched.includes(member) || current === undefined) return patient;
  const readable = compileReadable(context.policy, type, compileCriterionTest(context, write.type, current.content));
  return readable(member) ? patient : undefined;
}

/** Nothing to decide about: no Task, and no version. */
function unchanged(
  context: InteractionContext,
  request: Pick<FhirRequest, 'prefer'>,
  row: StoredResource,
): FhirResponse {
  const { type, id, versionId, lastUpdatedMs } = row;
  const location = `${context.baseUrl}/${type}/${id}/_history/${versionId}`;
  const facts = { status: 200, id, versionId, lastUpdatedMs, location };
  const body = request.prefer.return === 'minimal' ? undefined : discloseReadable(context, row);
  return body === undefined ? facts : { ...facts, body };
}
