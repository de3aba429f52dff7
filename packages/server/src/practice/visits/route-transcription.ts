/**
 * Where a transcription lands (docs/decisions/0199): a Composition of the type Consult note that names no encounter
 * goes into the open visit of its patient, where there is exactly one that the caller may find; else it is a chart
 * note. The answer shows which: `encounter`, or the category.
 */
import type { CodeableConcept, Composition } from '@praxis/fhir';
import { PraxisError } from '../../base/errors.ts';
import type { InteractionContext } from '../../engine/context.ts';
import type { ResourceHooks } from '../../engine/hooks.ts';
import { findMatches } from '../../engine/write/conditional.ts';

/** https://loinc.org/11488-4: what transcriptions are sent as. */
const noteType = { system: 'http://loinc.org', code: '11488-4' };

const chartNotePlace = {
  system: 'https://praxis.health/fhir/CodeSystem/composition-place',
  code: 'chart-note',
  display: 'Chart note',
};
const chartNote = { coding: [chartNotePlace], text: 'Chart note: no single open visit of the patient was found' };

/** States of an encounter that the patient is in. */
const openStates = 'arrived,triaged,in-progress';

export const transcriptionHooks: ResourceHooks = { types: ['Composition'], complete: routeTranscription };

/** The resource as it is stored: that which was sent, unless it is a note without a place. */
async function routeTranscription(context: InteractionContext, resource: Composition): Promise<Composition> {
  const { encounter, type, category = [] } = resource;
  if (encounter !== undefined || !hasCoding(type, noteType)) return resource;
  if (category.some((concept) => hasCoding(concept, chartNotePlace))) return resource;
  const visit = await openVisit(context, patientOf(context, resource));
  if (visit === undefined) return { ...resource, category: [...category, chartNote] };
  return { ...resource, encounter: { reference: `Encounter/${visit}`, display: 'Open visit of the patient' } };
}

/** Id of the one open visit that the caller may find; undefined: none, several, or the caller may not search for them. */
async function openVisit(context: InteractionContext, patient: string | undefined): Promise<string | undefined> {
  if (patient === undefined) return undefined;
  try {
    const criteria = [
      ['patient', patient],
      ['status', openStates],
    ] as const;
    const [visit, ...others] = await findMatches(context, 'Encounter', criteria);
    return others.length === 0 ? visit?.id : undefined;
  } catch (error) {
    if (error instanceof PraxisError && error.code === 'access-denied') return undefined;
    throw error;
  }
}

/** `Patient/id` where the note is about a patient of the firm. */
function patientOf({ baseUrl }: InteractionContext, { subject }: Composition): string | undefined {
  const reference = subject?.reference ?? '';
  const local = reference.startsWith(`${baseUrl}/`) ? reference.slice(baseUrl.length + 1) : reference;
  return /^Patient\/[A-Za-z0-9\-.]{1,64}(?=\/_history\/|$)/.exec(local)?.[0];
}

function hasCoding({ coding = [] }: CodeableConcept, { system, code }: { system: string; code: string }): boolean {
  return coding.some((each) => each.system === system && each.code === code);
}
