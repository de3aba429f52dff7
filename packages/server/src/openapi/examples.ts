/**
 * Examples of bodies. Tests send those of requests to the service and compare those of answers with what it returns.
 */

const patient = {
  resourceType: 'Patient',
  identifier: [{ system: 'http://hl7.org/fhir/sid/us-ssn', value: '444555666' }],
  name: [{ use: 'official', family: 'Quill', given: ['Ada'] }],
  telecom: [{ system: 'phone', value: '555-0136', use: 'mobile' }],
  gender: 'female',
  birthDate: '1980-02-29',
};

const appointment = {
  resourceType: 'Appointment',
  status: 'booked',
  description: 'Yearly examination',
  start: '2026-12-01T14:00:00Z',
  end: '2026-12-01T14:20:00Z',
  participant: [{ actor: { reference: 'Patient/1' }, status: 'accepted' }],
};

/** Resources as an application sends them, by type. */
const sentResources = { Patient: patient, Appointment: appointment };

/** What the service adds to a resource that it stores. */
const storedFacts = { id: '1', meta: { versionId: '1', lastUpdated: '2026-11-21T09:30:00.000Z' } };

/** Bodies of other kinds, by name. */
const otherBodies = {
  'json-patch': {
    summary: 'Another telephone number',
    value: [{ op: 'replace', path: '/telecom/0/value', value: '555-0199' }],
  },
  'fhirpath-patch': {
    summary: 'Another telephone number',
    value: {
      resourceType: 'Parameters',
      parameter: [
        {
          name: 'operation',
          part: [
            { name: 'type', valueCode: 'replace' },
            { name: 'path', valueString: 'Patient.telecom[0].value' },
            { name: 'value', valueString: '555-0199' },
          ],
        },
      ],
    },
  },
  transaction: {
    summary: 'Create a patient and an appointment, both or neither',
    value: {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        {
          fullUrl: 'urn:uuid:05efabf0-4be2-4561-91ce-51548425acb9',
          resource: patient,
          request: { method: 'POST', url: 'Patient' },
        },
        {
          resource: {
            ...appointment,
            participant: [
              { actor: { reference: 'urn:uuid:05efabf0-4be2-4561-91ce-51548425acb9' }, status: 'accepted' },
            ],
          },
          request: { method: 'POST', url: 'Appointment' },
        },
      ],
    },
  },
};

/** Names of the examples of a resource type, as it is sent or as it is returned. */
export function listResourceExamples(type: string, as: 'sent' | 'returned'): readonly string[] {
  return Object.hasOwn(sentResources, type) ? [`${type}.${as}`] : [];
}

/** The examples as components. */
export function buildExampleComponents(): Readonly<Record<string, object>> {
  const resources = Object.entries(sentResources).flatMap(([type, sent]) => [
    [`${type}.sent`, { summary: `${type} as sent`, value: sent }],
    [`${type}.returned`, { summary: `${type} as returned`, value: returned(sent) }],
  ]);
  return { ...Object.fromEntries(resources), ...otherBodies };
}

function returned({ resourceType, ...elements }: Readonly<Record<string, unknown>>): object {
  return { resourceType, ...storedFacts, ...elements };
}
