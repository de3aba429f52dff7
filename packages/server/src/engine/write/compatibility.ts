/**
 * Bodies of creates and PUTs as existing clients send them, made R4 before they are validated, where the application's
 * settings say so (tenancy/application-settings.ts): what is stored and returned is R4 always.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import type { InteractionContext } from '../context.ts';
import { buildingWrite } from './build-write.ts';
import { leaveOutEmpty } from './empty-elements.ts';

/** The body as it is meant; not validated. @throws PraxisError `too-costly` */
export async function normalizeForR4(
  { settings, budget }: Pick<InteractionContext, 'settings' | 'budget'>,
  body: JsonValue,
): Promise<JsonValue> {
  if (!isJsonObject(body)) return body;
  let resource = body;
  if (settings.emptyElements) {
    await budget.turn(buildingWrite);
    resource = leaveOutEmpty(resource, budget);
  }
  if (settings.textMinutes) resource = withMinutes(resource);
  if (settings.impliedParticipantStatus) resource = withParticipantStatus(resource);
  if (settings.upperCaseStatus) resource = withLowerCaseStatus(resource);
  return resource;
}

function withMinutes(resource: JsonObject): JsonObject {
  const { resourceType, minutesDuration } = resource;
  if (resourceType !== 'Appointment' || typeof minutesDuration !== 'string' || !/^[1-9]\d{0,5}$/.test(minutesDuration))
    return resource;
  return { ...resource, minutesDuration: Number(minutesDuration) };
}

/** Statuses of an Appointment to which the participants have not agreed yet. */
const unagreed: ReadonlySet<JsonValue | undefined> = new Set(['proposed', 'pending', 'waitlist']);

function withParticipantStatus(resource: JsonObject): JsonObject {
  const { resourceType, participant, status } = resource;
  if (resourceType !== 'Appointment' || !Array.isArray(participant)) return resource;
  const implied = unagreed.has(status) ? 'needs-action' : 'accepted';
  return {
    ...resource,
    participant: participant.map((each) =>
      isJsonObject(each) && each['status'] === undefined ? { ...each, status: implied } : each,
    ),
  };
}

function withLowerCaseStatus(resource: JsonObject): JsonObject {
  const { status, clinicalStatus, verificationStatus } = resource;
  return {
    ...resource,
    ...(status === undefined ? {} : { status: lowered(status) }),
    ...(clinicalStatus === undefined ? {} : { clinicalStatus: withLoweredCodes(clinicalStatus) }),
    ...(verificationStatus === undefined ? {} : { verificationStatus: withLoweredCodes(verificationStatus) }),
  };
}

/** `IN_PROGRESS` is `in-progress`. */
function lowered(code: JsonValue): JsonValue {
  return typeof code === 'string' && /^[A-Z][A-Z_-]*$/.test(code) ? code.toLowerCase().replaceAll('_', '-') : code;
}

function withLoweredCodes(concept: JsonValue): JsonValue {
  if (!isJsonObject(concept) || !Array.isArray(concept['coding'])) return concept;
  const coding = concept['coding'].map((each) =>
    isJsonObject(each) && each['code'] !== undefined ? { ...each, code: lowered(each['code']) } : each,
  );
  return { ...concept, coding };
}
