// Each correction of R4's definitions changes what it says it changes: the corrected text does, the published one fails.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  compileCompositeExtractor,
  compileExtractor,
  errata,
  FhirPathError,
  findTypeDefinition,
  getSearchParameters,
  type JsonObject,
  type SearchParameter,
} from '../src/index.ts';
import { freeSteps, testWork } from './free-steps.ts';

/** What the corrected and the published parameter select: values, or the message that refuses the expression. */
interface ErratumCase {
  readonly resource: JsonObject;
  readonly code: string;
  readonly corrected: unknown;
  readonly published: unknown;
}

const genetics = 'http://hl7.org/fhir/StructureDefinition/observation-genetics';
const maidenName = 'http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName';
const assessed = 'http://hl7.org/fhir/StructureDefinition/DiagnosticReport-geneticsAssessedCondition';
const din = 'http://hl7.org/fhir/SearchParameter/device-extensions-Device-din';
const isSubject = 'http://hl7.org/fhir/StructureDefinition/questionnaireresponse-isSubject';
const period = { start: '2024-01-01', end: '2024-01-31' };
const variant = part(`${genetics}Variant`, 'NM_000059.3:c.1A>G');
const protein = part(`${genetics}AminoAcidChange`, 'NP_000050.2:p.Met1Val');
const subjectAnswer = {
  linkId: '1',
  extension: [{ url: isSubject, valueBoolean: true }],
  answer: [{ valueReference: { reference: 'Patient/1' } }],
};

const cases: Readonly<Record<string, ErratumCase>> = {
  'document-reference-relationship-components': {
    code: 'relationship',
    resource: {
      resourceType: 'DocumentReference',
      relatesTo: [{ code: 'replaces', target: { reference: 'DocumentReference/1' } }],
    },
    corrected: [[[{ reference: 'DocumentReference/1' }], ['replaces']]],
    published: [[['replaces'], [{ reference: 'DocumentReference/1' }]]],
  },
  'observation-code-value-date-type-name': {
    code: 'code-value-date',
    resource: { resourceType: 'Observation', code: { text: 'due' }, valueDateTime: '2024-01-01' },
    corrected: [[[{ text: 'due' }], ['2024-01-01']]],
    published: /^Unknown type DateTime/,
  },
  'group-characteristic-value-component': {
    code: 'characteristic-value',
    resource: { resourceType: 'Group', characteristic: [{ code: { text: 'age' }, valueRange: { low: { value: 1 } } }] },
    corrected: [[[{ text: 'age' }], []]],
    published: [[[{ text: 'age' }], [{ low: { value: 1 } }]]],
  },
  'capability-statement-fhirversion-element': {
    code: 'fhirversion',
    resource: { resourceType: 'CapabilityStatement', version: '7', fhirVersion: '4.0.1' },
    corrected: ['4.0.1'],
    published: ['7'],
  },
  'device-use-statement-patient-type': {
    code: 'patient',
    resource: { resourceType: 'DeviceUseStatement', subject: { reference: 'Group/1' } },
    corrected: [],
    published: [{ reference: 'Group/1' }],
  },
  'consent-source-reference-type': {
    code: 'source-reference',
    resource: { resourceType: 'Consent', sourceAttachment: { title: 'Scan' } },
    corrected: [],
    published: [{ title: 'Scan' }],
  },
  'bundle-composition-type': {
    code: 'composition',
    resource: { resourceType: 'Bundle', entry: [{ resource: { resourceType: 'Patient', id: '1' } }] },
    corrected: [],
    published: [{ resourceType: 'Patient', id: '1' }],
  },
  'bundle-message-type': {
    code: 'message',
    resource: { resourceType: 'Bundle', entry: [{ resource: { resourceType: 'Patient', id: '1' } }] },
    corrected: [],
    published: [{ resourceType: 'Patient', id: '1' }],
  },
  'risk-assessment-date-period': {
    code: 'date',
    resource: { resourceType: 'RiskAssessment', occurrencePeriod: period },
    corrected: [period],
    published: [],
  },
  'provenance-when-period': {
    code: 'when',
    resource: { resourceType: 'Provenance', occurredPeriod: period },
    corrected: [period],
    published: [],
  },
  'communication-request-occurrence-period': {
    code: 'occurrence',
    resource: { resourceType: 'CommunicationRequest', occurrencePeriod: period },
    corrected: [period],
    published: [],
  },
  'device-request-event-date-timing': {
    code: 'event-date',
    resource: { resourceType: 'DeviceRequest', occurrenceTiming: { event: ['2024-01-01'] } },
    corrected: [{ event: ['2024-01-01'] }],
    published: [],
  },
  'questionnaire-response-item-subject-function': {
    code: 'item-subject',
    resource: { resourceType: 'QuestionnaireResponse', item: [subjectAnswer, { ...subjectAnswer, extension: [] }] },
    corrected: [{ reference: 'Patient/1' }],
    published: /^Unsupported use of the function hasExtension\(\)/,
  },
  'patient-mothers-maiden-name-extension': {
    code: 'mothersMaidenName',
    resource: { resourceType: 'Patient', extension: [{ url: maidenName, valueString: 'Okafor' }] },
    corrected: ['Okafor'],
    published: [],
  },
  'patient-birth-order-boolean-expression': {
    code: 'birthOrderBoolean',
    resource: { resourceType: 'Patient', multipleBirthInteger: 2 },
    corrected: [true],
    published: undefined,
  },
  'observation-gene-identifier-value': {
    code: 'gene-identifier',
    resource: {
      resourceType: 'Observation',
      extension: [{ url: `${genetics}Gene`, valueCodeableConcept: { text: 'BRCA2' } }],
    },
    corrected: [{ text: 'BRCA2' }],
    published: [{ url: `${genetics}Gene`, valueCodeableConcept: { text: 'BRCA2' } }],
  },
  'observation-dna-variant-extension': {
    code: 'dna-variant',
    resource: variant,
    corrected: ['NM_000059.3:c.1A>G', 'in words'],
    published: [],
  },
  'observation-gene-dnavariant-extension': {
    code: 'gene-dnavariant',
    resource: variant,
    corrected: ['NM_000059.3:c.1A>G', 'in words'],
    published: [],
  },
  'observation-amino-acid-change-extension': {
    code: 'amino-acid-change',
    resource: protein,
    corrected: ['NP_000050.2:p.Met1Val', 'in words'],
    published: [],
  },
  'observation-gene-amino-acid-change-extension': {
    code: 'gene-amino-acid-change',
    resource: protein,
    corrected: ['NP_000050.2:p.Met1Val', 'in words'],
    published: [],
  },
  'diagnostic-report-assessed-condition-value': {
    code: 'assessed-condition',
    resource: {
      resourceType: 'DiagnosticReport',
      extension: [{ url: assessed, valueReference: { reference: 'Condition/1' } }],
    },
    corrected: [{ reference: 'Condition/1' }],
    published: [{ url: assessed, valueReference: { reference: 'Condition/1' } }],
  },
  'device-din-value': {
    code: 'din',
    resource: { resourceType: 'Device', extension: [{ url: din, valueIdentifier: { value: 'A9999' } }] },
    corrected: [{ value: 'A9999' }],
    published: [{ url: din, valueIdentifier: { value: 'A9999' } }],
  },
};

test('names are unique, and every erratum says why and where to read it', () => {
  assert.equal(new Set(errata.map(({ name }) => name)).size, errata.length);
  for (const { name, reason, source } of errata) {
    assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)+$/);
    assert.match(reason, /^[A-Za-z].*\.$/, name);
    assert.match(source, /^https:\/\/hl7\.org\/fhir\/R4\//, name);
  }
});

test('resource-id-type: the id of a resource is an id', () => {
  for (const type of ['Resource', 'DomainResource', 'Patient', 'Bundle']) {
    assert.deepEqual(findTypeDefinition(type)?.elements.get('id')?.types, [{ code: 'id' }]);
  }
  assert.deepEqual(findTypeDefinition('HumanName')?.elements.get('id')?.types, [{ code: 'string' }]);
});

test('every erratum of a search parameter has a case below', () => {
  const names = errata.filter(({ change }) => 'parameter' in change).map(({ name }) => name);
  assert.deepEqual(Object.keys(cases).sort(), [...names].sort());
});

for (const [name, { resource, code, corrected, published }] of Object.entries(cases)) {
  test(`${name}: ${String(resource['resourceType'])}.${code} fails as published and works as corrected`, () => {
    const type = String(resource['resourceType']);
    const parameter = getSearchParameters(type).get(code);
    assert.ok(parameter !== undefined);
    assert.deepEqual(selected(parameter, resource), corrected);
    const asPublished = { ...parameter, ...publishedParts(name, parameter) };
    if (published instanceof RegExp) {
      assert.throws(
        () => selected(asPublished, resource),
        (error) => error instanceof FhirPathError && published.test(error.message),
      );
    } else assert.deepEqual(selected(asPublished, resource), published);
  });
}

function publishedParts(name: string, { expression = '' }: SearchParameter): Partial<SearchParameter> {
  const change = errata.find((erratum) => erratum.name === name)?.change;
  if (change?.kind === 'components') return { components: change.from };
  assert.ok(change?.kind === 'expression' && expression.includes(change.to));
  const { from, to } = change;
  return { expression: from === undefined ? undefined : expression.replace(to, () => from) };
}

/** What a parameter selects from a resource, values alone. */
function selected(parameter: SearchParameter, resource: JsonObject): unknown {
  const type = String(resource['resourceType']);
  if (parameter.expression === undefined) return undefined;
  if (parameter.components === undefined) {
    return compileExtractor(type, parameter.expression)(resource, freeSteps, testWork).map(({ value }) => value);
  }
  return compileCompositeExtractor(type, parameter)(resource, freeSteps, testWork).map((tuple) =>
    tuple.map((values) => values.map(({ value }) => value)),
  );
}

function part(url: string, code: string): JsonObject {
  return {
    resourceType: 'Observation',
    extension: [{ url, extension: [{ url: 'Name', valueCodeableConcept: { coding: [{ code }], text: 'in words' } }] }],
  };
}
