// A profile as a firm would store it.

const element = (path: string, more: Readonly<Record<string, unknown>>) => ({
  id: path,
  path,
  definition: path,
  base: { path, min: 0, max: '*' },
  ...more,
});

/** A patient is active, has a birth date, and a telephone number or an address. */
export const firmProfile = {
  resourceType: 'StructureDefinition',
  url: 'http://maple.example.org/StructureDefinition/our-patient',
  version: '1.0',
  name: 'OurPatient',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  snapshot: {
    element: [
      element('Patient', {
        min: 0,
        max: '*',
        constraint: [
          {
            key: 'own-1',
            severity: 'error',
            human: 'There is a way to reach the patient',
            expression: 'telecom.exists() or address.exists()',
          },
        ],
      }),
      element('Patient.active', { min: 0, max: '1', type: [{ code: 'boolean' }], fixedBoolean: true }),
      element('Patient.birthDate', { min: 1, max: '1', type: [{ code: 'date' }] }),
    ],
  },
} as const;
