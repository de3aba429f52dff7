/**
 * What is loaded to servers that are compared: a small synthetic practice, always the same, under ids that no other data has. What
 * only Praxis knows is left out.
 */
import type { JsonObject, JsonValue } from '@praxis/fhir';
import { generatePractice } from '../../packages/server/src/synthetic/practice.ts';

export type Loaded = JsonObject & { readonly resourceType: string; readonly id: string };

/** Ids begin with it. Servers may refuse ids of digits alone. */
export const idPrefix = 'bench-';

/** In the order of the practice, in which references point to what came before. */
const types: ReadonlySet<string> = new Set([
  'Organization',
  'Location',
  'Practitioner',
  'Patient',
  'Condition',
  'AllergyIntolerance',
  'Appointment',
  'Encounter',
  'ServiceRequest',
  'Observation',
  'DiagnosticReport',
]);

/** The same day in each run, so that a server that has been loaded before gets the same again. */
const todayMs = Date.UTC(2026, 5, 15);

/** The resources. */
export function buildDataSet(patients: number): readonly Loaded[] {
  const practice = { seed: 'against', firm: 'against', name: 'Bench', timeZone: 'America/New_York', patients, todayMs };
  return [...generatePractice(practice)]
    .filter(({ resourceType }) => types.has(resourceType))
    .map(({ extension: _, ...resource }) => rename({ ...resource, id: `${idPrefix}${resource['id']}` }) as Loaded);
}

/** The value with references to the new ids. */
function rename(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(rename);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'reference' && typeof member === 'string' ? member.replace('/', `/${idPrefix}`) : rename(member ?? null),
    ]),
  );
}
