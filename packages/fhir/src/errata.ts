// Known errors of the published R4 definitions and what we use instead. tools/generate-fhir.ts applies every row; a row
// whose `from` is not what R4 publishes stops it. R4 is frozen, so such errors stay in it for good.
// https://hl7.org/fhir/R4/

import type { Corrections, Erratum, ExpressionChange } from './erratum.ts';
import { invariants } from './invariants/errata.ts';

const parameterPrefix = 'http://hl7.org/fhir/SearchParameter/';
const extensionPrefix = 'http://hl7.org/fhir/StructureDefinition/';
const datesSource = 'https://hl7.org/fhir/R4/search.html#date';
const extensionSource = 'https://hl7.org/fhir/R4/fhirpath.html#functions';

const variantName = `Observation.extension('${extensionPrefix}observation-geneticsVariant').extension('Name').value`;
const proteinName = `Observation.extension('${extensionPrefix}observation-geneticsAminoAcidChange').extension('Name').value`;

const variantExtension = {
  from: `Observation.extension('${extensionPrefix}observation-geneticsDnaVariant')`,
  to: `${variantName}.ofType(CodeableConcept).coding.code | ${variantName}.ofType(CodeableConcept).text`,
  reason: 'R4 has no extension of this URL; the name of the variant is a part of observation-geneticsVariant.',
  source: 'https://hl7.org/fhir/R4/extension-observation-geneticsvariant.html',
};
const proteinExtension = {
  from: `Observation.extension('${extensionPrefix}observation-geneticsAminoAcidChangeName')`,
  to: `${proteinName}.ofType(CodeableConcept).coding.code | ${proteinName}.ofType(CodeableConcept).text`,
  reason: 'R4 has no extension of this URL; the name is a part of observation-geneticsAminoAcidChange.',
  source: 'https://hl7.org/fhir/R4/extension-observation-geneticsaminoacidchange.html',
};

/** Of search parameters, by the name of the erratum. */
const expressions: Corrections<ExpressionChange> = {
  'capability-statement-fhirversion-element': {
    parameter: 'CapabilityStatement-fhirversion',
    from: 'CapabilityStatement.version',
    to: 'CapabilityStatement.fhirVersion',
    reason: 'Described as the version of FHIR, but the expression selects the version of the statement itself.',
    source: 'https://hl7.org/fhir/R4/capabilitystatement.html#search',
  },
  'device-use-statement-patient-type': {
    parameter: 'clinical-patient',
    from: 'DeviceUseStatement.subject |',
    to: 'DeviceUseStatement.subject.where(resolve() is Patient) |',
    reason: 'The subject may be a Group; alone of all branches over such subjects this one does not ask for a Patient.',
    source: 'https://hl7.org/fhir/R4/deviceusestatement.html#search',
  },
  'consent-source-reference-type': {
    parameter: 'Consent-source-reference',
    from: 'Consent.source',
    to: '(Consent.source as Reference)',
    reason: 'source[x] may be an Attachment, which a reference parameter cannot find.',
    source: 'https://hl7.org/fhir/R4/consent.html#search',
  },
  'bundle-composition-type': {
    parameter: 'Bundle-composition',
    from: 'Bundle.entry[0].resource',
    to: '(Bundle.entry[0].resource as Composition)',
    reason: 'Meant for documents, but the expression takes the first resource of any bundle, whatever its type.',
    source: 'https://hl7.org/fhir/R4/bundle.html#search',
  },
  'bundle-message-type': {
    parameter: 'Bundle-message',
    from: 'Bundle.entry[0].resource',
    to: '(Bundle.entry[0].resource as MessageHeader)',
    reason: 'Meant for messages, but the expression takes the first resource of any bundle, whatever its type.',
    source: 'https://hl7.org/fhir/R4/bundle.html#search',
  },
  'risk-assessment-date-period': {
    parameter: 'clinical-date',
    from: '(RiskAssessment.occurrence as dateTime)',
    to: '(RiskAssessment.occurrence as dateTime) | (RiskAssessment.occurrence as Period)',
    reason: 'occurrence[x] may be a Period, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  'provenance-when-period': {
    parameter: 'Provenance-when',
    from: '(Provenance.occurred as dateTime)',
    to: '(Provenance.occurred as dateTime) | (Provenance.occurred as Period)',
    reason: 'occurred[x] may be a Period, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  'communication-request-occurrence-period': {
    parameter: 'CommunicationRequest-occurrence',
    from: '(CommunicationRequest.occurrence as dateTime)',
    to: '(CommunicationRequest.occurrence as dateTime) | (CommunicationRequest.occurrence as Period)',
    reason: 'occurrence[x] may be a Period, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  'device-request-event-date-timing': {
    parameter: 'DeviceRequest-event-date',
    from: '(DeviceRequest.occurrence as Period)',
    to: '(DeviceRequest.occurrence as Period) | (DeviceRequest.occurrence as Timing)',
    reason: 'occurrence[x] may be a Timing, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  'questionnaire-response-item-subject-function': {
    parameter: 'questionnaireresponse-extensions-QuestionnaireResponse-item-subject',
    from: `where(hasExtension('${extensionPrefix}questionnaireresponse-isSubject'))`,
    to: `where(extension('${extensionPrefix}questionnaireresponse-isSubject').exists())`,
    reason: 'FHIRPath has no function hasExtension().',
    source: extensionSource,
  },
  'patient-mothers-maiden-name-extension': {
    parameter: 'patient-extensions-Patient-mothersMaidenName',
    from: `extension('${extensionPrefix}patient-extensions-Patient-mothersMaidenName')`,
    to: `extension('${extensionPrefix}patient-mothersMaidenName').value.ofType(string)`,
    reason:
      'No extension has this URL: it is made of the parameter’s id. And an extension, unlike its value, is no string.',
    source: 'https://hl7.org/fhir/R4/extension-patient-mothersmaidenname.html',
  },
  'patient-birth-order-boolean-expression': {
    parameter: 'patient-extensions-Patient-birthOrderBoolean',
    to: 'Patient.multipleBirth.exists() and Patient.multipleBirth != false',
    reason: 'Published without an expression, though multipleBirth[x] holds what it asks for: a boolean or the order.',
    source: 'https://hl7.org/fhir/R4/patient.html#search',
  },
  'observation-gene-identifier-value': {
    parameter: 'observation-genetic-Observation-gene-identifier',
    from: `observation-geneticsGene')`,
    to: `observation-geneticsGene').value.ofType(CodeableConcept)`,
    reason: 'The expression selects the extension instead of its value; a token parameter cannot find an extension.',
    source: 'https://hl7.org/fhir/R4/extension-observation-geneticsgene.html',
  },
  'observation-dna-variant-extension': {
    parameter: 'observation-genetic-Observation-dna-variant',
    ...variantExtension,
  },
  'observation-gene-dnavariant-extension': {
    parameter: 'observation-genetic-Observation-gene-dnavariant',
    ...variantExtension,
  },
  'observation-amino-acid-change-extension': {
    parameter: 'observation-genetic-Observation-amino-acid-change',
    ...proteinExtension,
  },
  'observation-gene-amino-acid-change-extension': {
    parameter: 'observation-genetic-Observation-gene-amino-acid-change',
    ...proteinExtension,
  },
  'diagnostic-report-assessed-condition-value': {
    parameter: 'diagnosticreport-genetic-DiagnosticReport-assessed-condition',
    from: `DiagnosticReport-geneticsAssessedCondition')`,
    to: `DiagnosticReport-geneticsAssessedCondition').value.ofType(Reference)`,
    reason: 'The expression selects the extension instead of the reference in it.',
    source: 'https://hl7.org/fhir/R4/extension-diagnosticreport-geneticsassessedcondition.html',
  },
  'device-din-value': {
    parameter: 'device-extensions-Device-din',
    from: `Device.extension('${parameterPrefix}device-extensions-Device-din')`,
    to:
      `Device.extension('${parameterPrefix}device-extensions-Device-din').value.ofType(Identifier) | ` +
      `Device.extension('${parameterPrefix}device-extensions-Device-din').value.ofType(string)`,
    reason: 'The expression selects the extension instead of its value; a token parameter cannot find an extension.',
    source: extensionSource,
  },
};

/** Of composite search parameters, by the name of the erratum: the expressions of the components. */
const components: Corrections<{
  readonly parameter: string;
  readonly definitions: readonly string[];
  readonly from: readonly string[];
  readonly to: readonly string[];
}> = {
  'document-reference-relationship-components': {
    parameter: 'DocumentReference-relationship',
    definitions: ['DocumentReference-relatesto', 'DocumentReference-relation'],
    from: ['code', 'target'],
    to: ['target', 'code'],
    reason: 'The expressions of the two components are swapped: relatesto is the reference, relation is the code.',
    source: 'https://hl7.org/fhir/R4/documentreference.html#search',
  },
  'observation-code-value-date-type-name': {
    parameter: 'Observation-code-value-date',
    definitions: ['clinical-code', 'Observation-value-date'],
    from: ['code', 'value.as(DateTime) | value.as(Period)'],
    to: ['code', 'value.as(dateTime) | value.as(Period)'],
    reason: 'The FHIR type is called dateTime; FHIR has no type DateTime, so no dateTime value is ever selected.',
    source: 'https://hl7.org/fhir/R4/datatypes.html#dateTime',
  },
  'group-characteristic-value-component': {
    parameter: 'Group-characteristic-value',
    definitions: ['Group-characteristic', 'Group-value'],
    from: ['code', 'value'],
    to: ['code', 'value.as(CodeableConcept) | value.as(boolean)'],
    reason: 'The component takes every type of value[x], but the token parameter that defines it takes two.',
    source: 'https://hl7.org/fhir/R4/group.html#search',
  },
};

export const errata: readonly Erratum[] = [
  {
    name: 'resource-id-type',
    change: { kind: 'element-type', path: 'Resource.id', from: 'string', to: 'id' },
    reason: 'The machine-readable definition gives Resource.id the type string; the page says id.',
    source: 'https://hl7.org/fhir/R4/resource.html#id',
  },
  ...Object.entries(components).map(([name, { reason, source, parameter, definitions, from, to }]): Erratum => {
    const withDefinitions = (expressions: readonly string[]) =>
      expressions.map((expression, at) => ({ definition: `${parameterPrefix}${definitions[at]}`, expression }));
    const change = { kind: 'components', parameter, from: withDefinitions(from), to: withDefinitions(to) } as const;
    return { name, change, reason, source };
  }),
  ...Object.entries(expressions).map(([name, { reason, source, ...change }]): Erratum => {
    return { name, change: { kind: 'expression', ...change }, reason, source };
  }),
  ...Object.entries(invariants).map(([name, { reason, source, ...change }]): Erratum => {
    return { name, change: { kind: 'invariant', ...change }, reason, source };
  }),
];
