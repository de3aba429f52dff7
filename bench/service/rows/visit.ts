/**
 * First visits of new patients as a transaction: each leaves ten resources that refer to each other.
 */
import type { JsonObject } from '@praxis/fhir';

/** Resources of one visit. */
export const resourcesOfVisit = 10;

const hl7 = 'http://terminology.hl7.org/CodeSystem';
const [began, ended, date] = ['2026-10-05T10:00:00-04:00', '2026-10-05T10:25:00-04:00', '2026-10-05'];

/** The Bundle. @param patient body of the Patient that each of them makes */
export function buildVisits(visits: number, patient: string): JsonObject {
  const entry = Array.from({ length: visits }, (_, visit) => {
    const urnOf = (place: number): string => `urn:uuid:6f1d0a52-0000-4000-8000-${place.toString().padStart(12, '0')}`;
    const first = visit * resourcesOfVisit;
    const resources = listResources(JSON.parse(patient), urnOf(first), urnOf(first + 1));
    return resources.map((resource, place) => ({
      fullUrl: urnOf(first + place),
      resource,
      request: { method: 'POST', url: resource['resourceType'] ?? null },
    }));
  });
  return { resourceType: 'Bundle', type: 'transaction', entry: entry.flat() };
}

function listResources(patient: JsonObject, patientUrn: string, encounterUrn: string): readonly JsonObject[] {
  const subject = { reference: patientUrn };
  const encounter = { reference: encounterUrn };
  const about = { subject, encounter };
  return [
    patient,
    {
      resourceType: 'Encounter',
      status: 'finished',
      class: { system: `${hl7}/v3-ActCode`, code: 'AMB', display: 'ambulatory' },
      subject,
      participant: [{ individual: { reference: 'Practitioner/100' } }],
      period: { start: began, end: ended },
      reasonCode: [{ text: 'A rash on both arms' }],
      serviceProvider: { reference: 'Organization/practice' },
    },
    measurement('8867-4', 'Heart rate', 68, '/min', about),
    measurement('8310-5', 'Body temperature', 36.6, 'Cel', about),
    measurement('29463-7', 'Body weight', 64.2, 'kg', about),
    measurement('8302-2', 'Body height', 168, 'cm', about),
    diagnosis('L20.9', 'Atopic dermatitis', about),
    diagnosis('L50.9', 'Urticaria', about),
    {
      resourceType: 'AllergyIntolerance',
      clinicalStatus: { coding: [{ system: `${hl7}/allergyintolerance-clinical`, code: 'active' }] },
      code: {
        coding: [{ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', code: '723', display: 'amoxicillin' }],
      },
      patient: subject,
      encounter,
      recordedDate: date,
    },
    {
      resourceType: 'MedicationStatement',
      status: 'active',
      medicationCodeableConcept: {
        coding: [{ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', code: '5492', display: 'hydrocortisone' }],
      },
      subject,
      context: encounter,
      effectivePeriod: { start: date },
      dateAsserted: date,
      dosage: [{ text: 'thinly, twice daily' }],
    },
  ];
}

function measurement(code: string, display: string, value: number, unit: string, about: JsonObject): JsonObject {
  return {
    resourceType: 'Observation',
    status: 'final',
    category: [{ coding: [{ system: `${hl7}/observation-category`, code: 'vital-signs' }] }],
    code: { coding: [{ system: 'http://loinc.org', code, display }] },
    ...about,
    effectiveDateTime: began,
    valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code: unit },
  };
}

function diagnosis(code: string, display: string, about: JsonObject): JsonObject {
  return {
    resourceType: 'Condition',
    clinicalStatus: { coding: [{ system: `${hl7}/condition-clinical`, code: 'active' }] },
    verificationStatus: { coding: [{ system: `${hl7}/condition-ver-status`, code: 'confirmed' }] },
    code: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10-cm', code, display }], text: display },
    ...about,
    recordedDate: date,
  };
}
