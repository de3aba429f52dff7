/**
 * The official R4 instances that the validator refuses, each with the defect that makes it right to do so. The
 * definitions quoted are those of the same package, npm hl7.fhir.r4.examples 4.0.1.
 */
import type { ValidationRule } from '../src/validate.ts';

export interface RejectedExample {
  readonly rule: ValidationRule;
  /** Paths of the issues, without indexes. */
  readonly paths: readonly string[];
  /** Number of issues. */
  readonly count: number;
  readonly defect: string;
}

const emptyNarrative =
  'text.div holds white space only; txt-2: "The narrative SHALL have some non-whitespace content".';

const guide: readonly RejectedExample[] = [
  {
    rule: 'reference',
    paths: ['ImplementationGuide.manifest.resource.reference.reference'],
    count: 1,
    defect:
      'manifest.resource[11904] refers to a SearchParameter by an id of 67 characters; the type id has 64 at most, so no server can hold that resource.',
  },
  {
    rule: 'cardinality-min',
    paths: ['ImplementationGuide.name', 'ImplementationGuide.status'],
    count: 2,
    defect: 'name and status are missing; ImplementationGuide.name and .status are 1..1.',
  },
];

/** File → its defects: instances of all types but the six bulk definition types. */
export const rejectedExamples: Readonly<Record<string, readonly RejectedExample[]>> = {
  'ActivityDefinition-blood-tubes-supply.json': [
    { rule: 'narrative', paths: ['ActivityDefinition.text.div'], count: 1, defect: emptyNarrative },
  ],
  'ActivityDefinition-heart-valve-replacement.json': [
    { rule: 'narrative', paths: ['ActivityDefinition.text.div'], count: 1, defect: emptyNarrative },
  ],
  'DeviceMetric-example.json': [
    {
      rule: 'reference-target',
      paths: ['DeviceMetric.parent.reference'],
      count: 1,
      defect: 'parent is DeviceDefinition/dc102; DeviceMetric.parent is Reference(Device).',
    },
  ],
  'DeviceUseStatement-example.json': [
    {
      rule: 'reference-target',
      paths: ['DeviceUseStatement.reasonReference.reference'],
      count: 1,
      defect:
        'reasonReference is Procedure/example; DeviceUseStatement.reasonReference is Reference(Condition | Observation | DiagnosticReport | DocumentReference | Media).',
    },
  ],
  'EventDefinition-example.json': [
    { rule: 'narrative', paths: ['EventDefinition.text.div'], count: 1, defect: emptyNarrative },
  ],
  'ImplementationGuide-fhir.json': guide,
  // A copy of ImplementationGuide-fhir.json.
  'ig-r4.json': guide,
  'MedicationRequest-medrx0301.json': [
    {
      rule: 'reference-target',
      paths: ['MedicationRequest.dispenseRequest.performer.reference'],
      count: 1,
      defect:
        'dispenseRequest.performer is Practitioner/f001; MedicationRequest.dispenseRequest.performer is Reference(Organization).',
    },
  ],
  'Observation-clinical-gender.json': [
    {
      rule: 'reference-target',
      paths: ['Observation.performer.reference'],
      count: 1,
      defect:
        'performer is Encounter/example; Observation.performer is Reference(Practitioner | PractitionerRole | Organization | CareTeam | Patient | RelatedPerson).',
    },
  ],
  'Questionnaire-qs1.json': [
    {
      rule: 'cardinality-min',
      paths: [
        'Questionnaire.item.item.linkId',
        'Questionnaire.item.item.item.linkId',
        'Questionnaire.item.item.item.item.linkId',
      ],
      count: 32,
      defect: 'Items of type display have no linkId; Questionnaire.item.linkId is 1..1 at every level.',
    },
  ],
  'Questionnaire-zika-virus-exposure-assessment.json': [
    { rule: 'narrative', paths: ['Questionnaire.text.div'], count: 1, defect: emptyNarrative },
  ],
};

const baseMissing: readonly RejectedExample[] = [
  {
    rule: 'cardinality-min',
    paths: ['SearchParameter.base'],
    count: 1,
    defect: 'base is missing; SearchParameter.base is 1..*.',
  },
];

/** As above: instances of the six bulk definition types. */
export const rejectedDefinitions: Readonly<Record<string, readonly RejectedExample[]>> = {
  'SearchParameter-codesystem-extensions-CodeSystem-author.json': baseMissing,
  'SearchParameter-codesystem-extensions-CodeSystem-effective.json': baseMissing,
  'SearchParameter-codesystem-extensions-CodeSystem-end.json': baseMissing,
  'SearchParameter-codesystem-extensions-CodeSystem-keyword.json': baseMissing,
  'SearchParameter-codesystem-extensions-CodeSystem-workflow.json': baseMissing,
  'SearchParameter-questionnaireresponse-extensions-QuestionnaireResponse-item-subject.json': [
    {
      rule: 'id',
      paths: ['SearchParameter.id'],
      count: 1,
      defect: 'The id has 67 characters; the type id has 64 at most.',
    },
  ],
  'SearchParameter-valueset-extensions-ValueSet-author.json': baseMissing,
  'SearchParameter-valueset-extensions-ValueSet-effective.json': baseMissing,
  'SearchParameter-valueset-extensions-ValueSet-end.json': baseMissing,
  'SearchParameter-valueset-extensions-ValueSet-keyword.json': baseMissing,
  'SearchParameter-valueset-extensions-ValueSet-workflow.json': baseMissing,
};
