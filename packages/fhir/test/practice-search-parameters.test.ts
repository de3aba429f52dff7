// The parameters that practices' applications use: R4's where it has them, rows of our own where not.
import assert from 'node:assert/strict';
import test from 'node:test';
import { compileExtractor, getSearchParameters, type JsonObject, practiceExtensions } from '../src/index.ts';
import { freeSteps, testWork } from './free-steps.ts';

const prefix = 'https://praxis.health/fhir/SearchParameter/';
const r4 = 'http://hl7.org/fhir/SearchParameter/';

// Every parameter that existing applications send, by type, without those of all resources.
const used: Readonly<Record<string, readonly string[]>> = {
  Account: ['patient'],
  AllergyIntolerance: ['patient'],
  Appointment: [
    'appointment-type',
    'created',
    'date',
    'location',
    'patient',
    'practitioner',
    'status',
    'supporting-info',
  ],
  ChargeItem: ['context', 'patient', 'type'],
  Condition: ['patient'],
  Coverage: ['order', 'patient', 'reconciliationId'],
  DiagnosticReport: ['encounter', 'patient', 'requisition', 'type'],
  DocumentReference: ['date', 'category', 'description', 'encounter', 'identifier', 'patient', 'requisition', 'type'],
  Encounter: ['appointment', 'date', 'patient', 'status'],
  FamilyMemberHistory: ['patient'],
  InsurancePlan: ['owned-by', 'status'],
  Location: ['address-city', 'address-country', 'address-postalcode', 'address-state', 'name', 'status'],
  MedicationStatement: ['patient'],
  Organization: ['active', 'identifier', 'name', 'type'],
  Patient: [
    'address-postalcode',
    'active',
    'birthdate',
    'email',
    'family',
    'gender',
    'general-practitioner',
    'given',
    'identifier',
    'language',
    'phone',
    'us-core-ethnicity',
    'us-core-race',
    'referral-source',
  ],
  Practitioner: ['active', 'email', 'family', 'given', 'identifier', 'phone', 'type'],
  ServiceRequest: ['authored', 'category', 'patient', 'encounter', 'requester', 'requisition', 'status'],
  Slot: ['appointment-type', 'date', 'identifier', 'start', 'status'],
  Subscription: ['owner'],
  Task: ['code', 'patient', 'restriction'],
};

const ours: readonly string[] = [
  'Appointment-created',
  'ChargeItem-type',
  'Coverage-order',
  'Coverage-reconciliationId',
  'DiagnosticReport-requisition',
  'DiagnosticReport-type',
  'DocumentReference-requisition',
  'Patient-us-core-ethnicity',
  'Patient-us-core-race',
  'Patient-referral-source',
  'Practitioner-type',
  'Slot-date',
  'Subscription-owner',
  'Task-restriction',
];

const cases: readonly (readonly [string, JsonObject, readonly unknown[]])[] = [
  [
    'owner',
    { resourceType: 'Subscription', extension: [{ url: practiceExtensions.subscriptionOwner, valueCode: '7' }] },
    ['7'],
  ],
  ['created', { resourceType: 'Appointment', created: '2024-01-01' }, ['2024-01-01']],
  [
    'type',
    { resourceType: 'ChargeItem', extension: [{ url: practiceExtensions.chargeItemType, valueCodeableConcept: {} }] },
    [{}],
  ],
  ['order', { resourceType: 'Coverage', order: 1 }, [1]],
  [
    'reconciliationId',
    {
      resourceType: 'Coverage',
      identifier: [{ system: 'https://praxis.health/fhir/sid/reconciliation', value: '7' }, { value: '8' }],
    },
    [{ system: 'https://praxis.health/fhir/sid/reconciliation', value: '7' }],
  ],
  [
    'requisition',
    {
      resourceType: 'DiagnosticReport',
      identifier: [{ value: '1' }, { system: 'https://praxis.health/fhir/sid/requisition', value: '2' }],
      basedOn: [{ identifier: { value: '3' } }],
    },
    [{ value: '3' }, { system: 'https://praxis.health/fhir/sid/requisition', value: '2' }],
  ],
  ['type', { resourceType: 'DiagnosticReport', category: [{ text: 'Radiology' }] }, [{ text: 'Radiology' }]],
  [
    'requisition',
    { resourceType: 'DocumentReference', context: { related: [{ identifier: { value: '4' } }] } },
    [{ value: '4' }],
  ],
  [
    'us-core-race',
    {
      resourceType: 'Patient',
      extension: [
        {
          url: practiceExtensions.usCoreRace,
          extension: [
            { url: 'ombCategory', valueCoding: { code: '2028-9' } },
            { url: 'text', valueString: 'Asian' },
          ],
        },
      ],
    },
    [{ code: '2028-9' }],
  ],
  [
    'us-core-ethnicity',
    {
      resourceType: 'Patient',
      extension: [
        {
          url: practiceExtensions.usCoreEthnicity,
          extension: [{ url: 'ombCategory', valueCoding: { code: '2186-5' } }],
        },
      ],
    },
    [{ code: '2186-5' }],
  ],
  [
    'referral-source',
    { resourceType: 'Patient', extension: [{ url: practiceExtensions.referralSource, valueCodeableConcept: {} }] },
    [{}],
  ],
  [
    'type',
    {
      resourceType: 'Practitioner',
      extension: [{ url: practiceExtensions.practitionerType, valueCodeableConcept: { coding: [{ code: 'ref' }] } }],
    },
    [{ coding: [{ code: 'ref' }] }],
  ],
  ['date', { resourceType: 'Slot', start: '2024-01-01T08:00:00Z' }, ['2024-01-01T08:00:00Z']],
  ['restriction', { resourceType: 'Task', restriction: { period: { end: '2024-01-01' } } }, [{ end: '2024-01-01' }]],
];

test('every parameter that applications use exists; R4 defines it or a row of ours does', () => {
  const found: string[] = [];
  for (const [type, codes] of Object.entries(used)) {
    const parameters = getSearchParameters(type);
    assert.ok(parameters.has('_lastUpdated'));
    for (const code of codes) {
      const url = parameters.get(code)?.url ?? '';
      assert.ok(url.startsWith(r4) || url === `${prefix}${type}-${code}`, `${type}.${code}: ${url}`);
      if (url.startsWith(prefix)) found.push(url.slice(prefix.length));
    }
  }
  assert.deepEqual(found, ours);
});

test('each row of ours finds its values', () => {
  assert.equal(cases.length, ours.length);
  for (const [code, resource, expected] of cases) {
    const type = String(resource['resourceType']);
    const parameter = getSearchParameters(type).get(code);
    assert.ok(parameter !== undefined, `${type}.${code}`);
    assert.ok(parameter.url.startsWith(prefix), `${type}.${code}`);
    const values = compileExtractor(type, parameter.expression ?? '')(resource, freeSteps, testWork).map(
      ({ value }) => value,
    );
    assert.deepEqual(values, expected, `${type}.${code}`);
  }
});
