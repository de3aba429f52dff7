// Known errors of the published R4 definitions and what we use instead. tools/generate-fhir.ts applies every row; a row
// whose `from` is not what R4 publishes stops it. R4 is frozen, so such errors stay in it for good.
// https://hl7.org/fhir/R4/

import type { Erratum } from './erratum.ts';
import { invariantErrata } from './invariants/errata.ts';

const parameterPrefix = 'http://hl7.org/fhir/SearchParameter/';
const extensionPrefix = 'http://hl7.org/fhir/StructureDefinition/';
const datesSource = 'https://hl7.org/fhir/R4/search.html#date';
const extensionSource = 'https://hl7.org/fhir/R4/fhirpath.html#functions';

const variantName = `Observation.extension('${extensionPrefix}observation-geneticsVariant').extension('Name').value`;
const proteinName = `Observation.extension('${extensionPrefix}observation-geneticsAminoAcidChange').extension('Name').value`;

export const errata: readonly Erratum[] = [
  {
    name: 'resource-id-type',
    change: { kind: 'element-type', path: 'Resource.id', from: 'string', to: 'id' },
    reason: 'The machine-readable definition gives Resource.id the type string; the page says id.',
    source: 'https://hl7.org/fhir/R4/resource.html#id',
  },
  {
    name: 'document-reference-relationship-components',
    change: {
      kind: 'components',
      parameter: 'DocumentReference-relationship',
      from: [
        { definition: `${parameterPrefix}DocumentReference-relatesto`, expression: 'code' },
        { definition: `${parameterPrefix}DocumentReference-relation`, expression: 'target' },
      ],
      to: [
        { definition: `${parameterPrefix}DocumentReference-relatesto`, expression: 'target' },
        { definition: `${parameterPrefix}DocumentReference-relation`, expression: 'code' },
      ],
    },
    reason: 'The expressions of the two components are swapped: relatesto is the reference, relation is the code.',
    source: 'https://hl7.org/fhir/R4/documentreference.html#search',
  },
  {
    name: 'observation-code-value-date-type-name',
    change: {
      kind: 'components',
      parameter: 'Observation-code-value-date',
      from: [
        { definition: `${parameterPrefix}clinical-code`, expression: 'code' },
        { definition: `${parameterPrefix}Observation-value-date`, expression: 'value.as(DateTime) | value.as(Period)' },
      ],
      to: [
        { definition: `${parameterPrefix}clinical-code`, expression: 'code' },
        { definition: `${parameterPrefix}Observation-value-date`, expression: 'value.as(dateTime) | value.as(Period)' },
      ],
    },
    reason: 'The FHIR type is called dateTime; FHIR has no type DateTime, so no dateTime value is ever selected.',
    source: 'https://hl7.org/fhir/R4/datatypes.html#dateTime',
  },
  {
    name: 'group-characteristic-value-component',
    change: {
      kind: 'components',
      parameter: 'Group-characteristic-value',
      from: [
        { definition: `${parameterPrefix}Group-characteristic`, expression: 'code' },
        { definition: `${parameterPrefix}Group-value`, expression: 'value' },
      ],
      to: [
        { definition: `${parameterPrefix}Group-characteristic`, expression: 'code' },
        {
          definition: `${parameterPrefix}Group-value`,
          expression: 'value.as(CodeableConcept) | value.as(boolean)',
        },
      ],
    },
    reason: 'The component takes every type of value[x], but the token parameter that defines it takes two.',
    source: 'https://hl7.org/fhir/R4/group.html#search',
  },
  {
    name: 'capability-statement-fhirversion-element',
    change: {
      kind: 'expression',
      parameter: 'CapabilityStatement-fhirversion',
      from: 'CapabilityStatement.version',
      to: 'CapabilityStatement.fhirVersion',
    },
    reason: 'Described as the version of FHIR, but the expression selects the version of the statement itself.',
    source: 'https://hl7.org/fhir/R4/capabilitystatement.html#search',
  },
  {
    name: 'device-use-statement-patient-type',
    change: {
      kind: 'expression',
      parameter: 'clinical-patient',
      from: 'DeviceUseStatement.subject |',
      to: 'DeviceUseStatement.subject.where(resolve() is Patient) |',
    },
    reason: 'The subject may be a Group; alone of all branches over such subjects this one does not ask for a Patient.',
    source: 'https://hl7.org/fhir/R4/deviceusestatement.html#search',
  },
  {
    name: 'consent-source-reference-type',
    change: {
      kind: 'expression',
      parameter: 'Consent-source-reference',
      from: 'Consent.source',
      to: '(Consent.source as Reference)',
    },
    reason: 'source[x] may be an Attachment, which a reference parameter cannot find.',
    source: 'https://hl7.org/fhir/R4/consent.html#search',
  },
  {
    name: 'bundle-composition-type',
    change: {
      kind: 'expression',
      parameter: 'Bundle-composition',
      from: 'Bundle.entry[0].resource',
      to: '(Bundle.entry[0].resource as Composition)',
    },
    reason: 'Meant for documents, but the expression takes the first resource of any bundle, whatever its type.',
    source: 'https://hl7.org/fhir/R4/bundle.html#search',
  },
  {
    name: 'bundle-message-type',
    change: {
      kind: 'expression',
      parameter: 'Bundle-message',
      from: 'Bundle.entry[0].resource',
      to: '(Bundle.entry[0].resource as MessageHeader)',
    },
    reason: 'Meant for messages, but the expression takes the first resource of any bundle, whatever its type.',
    source: 'https://hl7.org/fhir/R4/bundle.html#search',
  },
  {
    name: 'risk-assessment-date-period',
    change: {
      kind: 'expression',
      parameter: 'clinical-date',
      from: '(RiskAssessment.occurrence as dateTime)',
      to: '(RiskAssessment.occurrence as dateTime) | (RiskAssessment.occurrence as Period)',
    },
    reason: 'occurrence[x] may be a Period, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  {
    name: 'provenance-when-period',
    change: {
      kind: 'expression',
      parameter: 'Provenance-when',
      from: '(Provenance.occurred as dateTime)',
      to: '(Provenance.occurred as dateTime) | (Provenance.occurred as Period)',
    },
    reason: 'occurred[x] may be a Period, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  {
    name: 'communication-request-occurrence-period',
    change: {
      kind: 'expression',
      parameter: 'CommunicationRequest-occurrence',
      from: '(CommunicationRequest.occurrence as dateTime)',
      to: '(CommunicationRequest.occurrence as dateTime) | (CommunicationRequest.occurrence as Period)',
    },
    reason: 'occurrence[x] may be a Period, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  {
    name: 'device-request-event-date-timing',
    change: {
      kind: 'expression',
      parameter: 'DeviceRequest-event-date',
      from: '(DeviceRequest.occurrence as Period)',
      to: '(DeviceRequest.occurrence as Period) | (DeviceRequest.occurrence as Timing)',
    },
    reason: 'occurrence[x] may be a Timing, which date parameters search, but the expression leaves it out.',
    source: datesSource,
  },
  {
    name: 'questionnaire-response-item-subject-function',
    change: {
      kind: 'expression',
      parameter: 'questionnaireresponse-extensions-QuestionnaireResponse-item-subject',
      from: `where(hasExtension('${extensionPrefix}questionnaireresponse-isSubject'))`,
      to: `where(extension('${extensionPrefix}questionnaireresponse-isSubject').exists())`,
    },
    reason: 'FHIRPath has no function hasExtension().',
    source: extensionSource,
  },
  {
    name: 'patient-mothers-maiden-name-extension',
    change: {
      kind: 'expression',
      parameter: 'patient-extensions-Patient-mothersMaidenName',
      from: `extension('${extensionPrefix}patient-extensions-Patient-mothersMaidenName')`,
      to: `extension('${extensionPrefix}patient-mothersMaidenName').value.ofType(string)`,
    },
    reason:
      'No extension has this URL: it is made of the parameter’s id. And an extension, unlike its value, is no string.',
    source: 'https://hl7.org/fhir/R4/extension-patient-mothersmaidenname.html',
  },
  {
    name: 'patient-birth-order-boolean-expression',
    change: {
      kind: 'expression',
      parameter: 'patient-extensions-Patient-birthOrderBoolean',
      to: 'Patient.multipleBirth.exists() and Patient.multipleBirth != false',
    },
    reason: 'Published without an expression, though multipleBirth[x] holds what it asks for: a boolean or the order.',
    source: 'https://hl7.org/fhir/R4/patient.html#search',
  },
  {
    name: 'observation-gene-identifier-value',
    change: {
      kind: 'expression',
      parameter: 'observation-genetic-Observation-gene-identifier',
      from: `observation-geneticsGene')`,
      to: `observation-geneticsGene').value.ofType(CodeableConcept)`,
    },
    reason: 'The expression selects the extension instead of its value; a token parameter cannot find an extension.',
    source: 'https://hl7.org/fhir/R4/extension-observation-geneticsgene.html',
  },
  {
    name: 'observation-dna-variant-extension',
    change: {
      kind: 'expression',
      parameter: 'observation-genetic-Observation-dna-variant',
      from: `Observation.extension('${extensionPrefix}observation-geneticsDnaVariant')`,
      to: `${variantName}.ofType(CodeableConcept).coding.code | ${variantName}.ofType(CodeableConcept).text`,
    },
    reason: 'R4 has no extension of this URL; the name of the variant is a part of observation-geneticsVariant.',
    source: 'https://hl7.org/fhir/R4/extension-observation-geneticsvariant.html',
  },
  {
    name: 'observation-gene-dnavariant-extension',
    change: {
      kind: 'expression',
      parameter: 'observation-genetic-Observation-gene-dnavariant',
      from: `Observation.extension('${extensionPrefix}observation-geneticsDnaVariant')`,
      to: `${variantName}.ofType(CodeableConcept).coding.code | ${variantName}.ofType(CodeableConcept).text`,
    },
    reason: 'R4 has no extension of this URL; the name of the variant is a part of observation-geneticsVariant.',
    source: 'https://hl7.org/fhir/R4/extension-observation-geneticsvariant.html',
  },
  {
    name: 'observation-amino-acid-change-extension',
    change: {
      kind: 'expression',
      parameter: 'observation-genetic-Observation-amino-acid-change',
      from: `Observation.extension('${extensionPrefix}observation-geneticsAminoAcidChangeName')`,
      to: `${proteinName}.ofType(CodeableConcept).coding.code | ${proteinName}.ofType(CodeableConcept).text`,
    },
    reason: 'R4 has no extension of this URL; the name is a part of observation-geneticsAminoAcidChange.',
    source: 'https://hl7.org/fhir/R4/extension-observation-geneticsaminoacidchange.html',
  },
  {
    name: 'observation-gene-amino-acid-change-extension',
    change: {
      kind: 'expression',
      parameter: 'observation-genetic-Observation-gene-amino-acid-change',
      from: `Observation.extension('${extensionPrefix}observation-geneticsAminoAcidChangeName')`,
      to: `${proteinName}.ofType(CodeableConcept).coding.code | ${proteinName}.ofType(CodeableConcept).text`,
    },
    reason: 'R4 has no extension of this URL; the name is a part of observation-geneticsAminoAcidChange.',
    source: 'https://hl7.org/fhir/R4/extension-observation-geneticsaminoacidchange.html',
  },
  {
    name: 'diagnostic-report-assessed-condition-value',
    change: {
      kind: 'expression',
      parameter: 'diagnosticreport-genetic-DiagnosticReport-assessed-condition',
      from: `DiagnosticReport-geneticsAssessedCondition')`,
      to: `DiagnosticReport-geneticsAssessedCondition').value.ofType(Reference)`,
    },
    reason: 'The expression selects the extension instead of the reference in it.',
    source: 'https://hl7.org/fhir/R4/extension-diagnosticreport-geneticsassessedcondition.html',
  },
  {
    name: 'device-din-value',
    change: {
      kind: 'expression',
      parameter: 'device-extensions-Device-din',
      from: `Device.extension('${parameterPrefix}device-extensions-Device-din')`,
      to:
        `Device.extension('${parameterPrefix}device-extensions-Device-din').value.ofType(Identifier) | ` +
        `Device.extension('${parameterPrefix}device-extensions-Device-din').value.ofType(string)`,
    },
    reason: 'The expression selects the extension instead of its value; a token parameter cannot find an extension.',
    source: extensionSource,
  },
  ...invariantErrata,
];
