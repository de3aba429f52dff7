/**
 * An appointment's step from one state to the next, with all that goes with it, in one transaction: judged by its table of
 * states, under the rights and preconditions of a PATCH of its status.
 */
import { parseStored } from '../../access/disclosure.ts';
import { listGrantingEntries } from '../../access/explain.ts';
import type { Criterion } from '../../access/policy.ts';
import { fail } from '../../base/errors.ts';
import type { FhirRequest, InteractionContext } from '../../engine/context.ts';
import { requireMatch, requireNoneMatch } from '../../engine/preconditions.ts';
import { refuseDeleted } from '../../engine/read/read.ts';
import { type RightsContext, refuse, refuseNotFound } from '../../engine/rights/denials.ts';
import { compileCriterionTest } from '../../engine/rights/disclosing.ts';
import { compileReadable } from '../../engine/rights/readable-members.ts';
import { requireTouchable, requireTouched } from '../../engine/rights/write-rights.ts';
import { buildWrite, requireResource } from '../../engine/write/build-write.ts';
import { resolveActor, saveVersion } from '../../engine/write/save-version.ts';
import { resolveStep } from '../../resources/states/judging.ts';
import type { Act } from '../../resources/states/state-table.ts';
import type { StoredResource } from '../../storage/store.ts';
import { appointmentStates } from '../booking/appointment-states.ts';
import { moveVisits, Overtaken } from './visits.ts';

/** Attempts without If-Match before a concurrent change is reported. */
const attemptsMax = 5;

/**
 * The appointment as it is stored now, and the Encounters that were made or changed with it.
 * @throws PraxisError as the operations do
 */
export async function moveAppointment(context: InteractionContext, request: FhirRequest, on: Act['on']) {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    try {
      return await context.store.transaction(context.scope, (store) => moveOnce({ ...context, store }, request, on));
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
    }
  }
  return fail('conflict', { diagnostics: `${request.type}/${request.id} is being changed by others: try again` });
}

/** @throws Overtaken */
async function moveOnce(context: InteractionContext, request: FhirRequest, on: Act['on']) {
  const current = await requireCurrent(context, request);
  const before = parseStored(current.content);
  const act: Act = { by: resolveActor(context), on };
  const { to, effects } = resolveStep(appointmentStates, before, act);
  const after = requireResource({ ...before, status: to }, 'Appointment', context.budget);
  const write = await buildWrite(context, 'patch', 'Appointment', request.id, after, current.versionId, current);
  requireTouched(context, write, touched);
  const outcome = await saveVersion(context, write, current, { act });
  if (outcome.outcome === 'conflict') throw new Overtaken();
  const { versionId } = outcome;
  const { lastUpdatedMs } = write;
  const appointment = { ...current, versionId, lastUpdatedMs, content: write.content ?? current.content };
  const visited = { id: request.id, resource: after, on, granted: write.audit };
  return { appointment, encounters: await moveVisits(context, visited, effects) };
}

const touched = ['status'];

/**
 * Passes where the caller may read the status: whether it can be changed tells of it.
 * @throws PraxisError `access-denied`
 */
export function requireStatusReadable({ policy }: RightsContext, covered: (criterion: Criterion) => boolean): void {
  if (compileReadable(policy, 'Appointment', covered)('status')) return;
  const what = 'Changing Appointment.status, which the application may not read,';
  refuse({ policy }, what, listGrantingEntries(policy, 'Appointment', 'r'));
}

/** The appointment, after all that is asked of a PATCH of its status. */
async function requireCurrent(context: InteractionContext, request: FhirRequest): Promise<StoredResource> {
  const { type, id } = request;
  const current = await context.store.read(context.scope, type, id);
  if (current === undefined) return refuseNotFound(type, id);
  if (current.deleted) return refuseDeleted(context, current);
  const covered = compileCriterionTest(context, type, current.content);
  requireTouchable(context, request, covered, touched);
  requireStatusReadable(context, covered);
  requireMatch(request.ifMatch, current.versionId);
  requireNoneMatch(request.ifNoneMatch, current.versionId);
  return current;
}
