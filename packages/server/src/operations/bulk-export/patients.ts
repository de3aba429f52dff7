/** Whose records an export has: the patients that are named, or the members of a Group. */
import type { JsonObject } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { findNamed } from '../../engine/read/linked-resources.ts';
import { readWhole } from '../../engine/rights/whole-resource.ts';
import { findObject, findText, listObjects } from '../../search/json-values.ts';
import { quoteName } from '../../search/query/search-values.ts';
import { readObjectInputs } from '../input.ts';
import { parseMoment } from '../moments.ts';
import type { OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';

/** Patients that a Group can have for an export of it, at most: each request for the export reads their ids. */
export const membersMax = 10_000;

const patientReference = /^Patient\/([A-Za-z0-9\-.]{1,64})$/;

/**
 * Ids of the patients that `patient` names, each once; undefined: it names none.
 * @param members of the Group that is exported; absent: there is none
 * @throws PraxisError `operation-parameter-invalid` for what is no patient, or none that the caller finds
 */
export async function readPatients(
  context: InteractionContext,
  { input }: Pick<OperationRequest, 'input'>,
  members?: ReadonlySet<string>,
): Promise<readonly string[] | undefined> {
  const references = readObjectInputs(input, 'patient').map(({ reference }) => reference);
  if (references.length === 0) return undefined;
  const ids = [...new Set(references.map((reference) => readPatientId(context, reference)))];
  const stranger = members && ids.find((id) => !members.has(id));
  if (stranger !== undefined) refuseParameter('patient', `names Patient/${stranger}, which is no member of the Group`);
  const found = new Set(
    (
      await findNamed(
        context,
        ids.map((id) => `Patient/${id}`),
      )
    ).map(({ id }) => id),
  );
  const unknown = ids.find((id) => !found.has(id));
  if (unknown !== undefined) refuseParameter('patient', `names Patient/${unknown}, which is not known`);
  return ids;
}

function readPatientId(context: InteractionContext, reference: unknown): string {
  const text = typeof reference === 'string' ? reference : '';
  const id = findPatientId(context, text);
  return id ?? refuseParameter('patient', `names ${quoteName(text)}: it takes references such as Patient/23`);
}

function findPatientId({ baseUrl }: InteractionContext, reference: string): string | undefined {
  const local = reference.startsWith(`${baseUrl}/`) ? reference.slice(baseUrl.length + 1) : reference;
  return patientReference.exec(local)?.[1];
}

/**
 * Ids of the patients that are members of the Group now, each once.
 * @throws PraxisError `access-denied`, `resource-not-found`, `rule-broken` for a Group of others than actual persons, or of too many
 */
export async function readMembers(context: InteractionContext, id: string): Promise<ReadonlySet<string>> {
  const group = await readWhole(context, 'Group', id);
  if (group['type'] !== 'person' || group['actual'] !== true) {
    return fail('rule-broken', {
      diagnostics: `Group/${id} is no group of actual persons: an export takes a Group with type person and actual true`,
      expression: ['Group.type', 'Group.actual'],
    });
  }
  const members = new Set(listMembers(context, group));
  if (members.size > membersMax) {
    return fail('rule-broken', {
      diagnostics: `Group/${id} has ${members.size} patients; an export takes groups of ${membersMax} at most`,
      expression: ['Group.member'],
    });
  }
  return members;
}

function listMembers(context: InteractionContext, group: JsonObject): readonly string[] {
  return listObjects(group, 'member').flatMap((member) => {
    const id = findPatientId(context, findText(findObject(member, 'entity'), 'reference') ?? '');
    const end = findText(findObject(member, 'period'), 'end');
    const endMs = end === undefined ? undefined : parseMoment(context, end);
    const hasEnded = endMs !== undefined && endMs < context.clock.now();
    return id === undefined || hasEnded || member['inactive'] === true ? [] : [id];
  });
}
