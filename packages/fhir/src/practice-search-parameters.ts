// Search parameters that practices' applications use and R4 does not define for the type. Each row is data like R4's own;
// what R4 has no element for is kept in extensions and identifiers of the names below.
// https://hl7.org/fhir/R4/searchparameter.html and https://hl7.org/fhir/R4/extensibility.html
import type { SearchParameterRow } from './search-parameter-rows.ts';

/** URLs of the extensions that these parameters read. */
export const practiceExtensions = {
  /** Patient: where the patient was referred from; CodeableConcept. */
  referralSource: 'https://praxis.health/fhir/StructureDefinition/referral-source',
  /** Practitioner: what the practice lists the person as, 'ref' for a referring provider; CodeableConcept. */
  practitionerType: 'https://praxis.health/fhir/StructureDefinition/practitioner-type',
  /** ChargeItem: the type of the transaction, 'CG' for a charge; CodeableConcept. */
  chargeItemType: 'https://praxis.health/fhir/StructureDefinition/charge-item-type',
  /** Subscription: the number of the application whose it is, which the service sets; code. */
  subscriptionOwner: 'https://praxis.health/fhir/StructureDefinition/subscription-owner',
  /** https://hl7.org/fhir/us/core/STU3.1.1/StructureDefinition-us-core-race.html */
  usCoreRace: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race',
  /** https://hl7.org/fhir/us/core/STU3.1.1/StructureDefinition-us-core-ethnicity.html */
  usCoreEthnicity: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-ethnicity',
} as const;

/** Systems of the identifiers that these parameters read. */
export const practiceIdentifierSystems = {
  /** Coverage: the number under which a submitted coverage waits for the practice to accept it. */
  reconciliation: 'https://praxis.health/fhir/sid/reconciliation',
  /** ChargeItem: the id that an application gives the transaction, each once. No parameter but R4's own reads it. */
  transaction: 'https://praxis.health/fhir/sid/transaction',
  /** DiagnosticReport, DocumentReference: the number of the requisition, as in ServiceRequest.requisition. */
  requisition: 'https://praxis.health/fhir/sid/requisition',
} as const;

const requisition = `where(system='${practiceIdentifierSystems.requisition}')`;

/** Id, also the last part of the URL → row. */
export const practiceSearchParameters: Readonly<Record<string, SearchParameterRow>> = {
  'Appointment-created': {
    code: 'created',
    type: 'date',
    base: ['Appointment'],
    expression: 'Appointment.created',
    description: 'When the appointment was first made',
  },
  'ChargeItem-type': {
    code: 'type',
    type: 'token',
    base: ['ChargeItem'],
    expression: `ChargeItem.extension('${practiceExtensions.chargeItemType}').value.ofType(CodeableConcept)`,
    description: 'The type of the transaction, for instance CG for a charge',
  },
  'Coverage-order': {
    code: 'order',
    type: 'number',
    base: ['Coverage'],
    expression: 'Coverage.order',
    description: 'The place of the policy among those of the patient: 1 for the primary one',
  },
  'Coverage-reconciliationId': {
    code: 'reconciliationId',
    type: 'token',
    base: ['Coverage'],
    expression: `Coverage.identifier.where(system='${practiceIdentifierSystems.reconciliation}')`,
    description: 'The number under which a submitted coverage waits for the practice to accept it',
  },
  'DiagnosticReport-requisition': {
    code: 'requisition',
    type: 'token',
    base: ['DiagnosticReport'],
    expression: `DiagnosticReport.basedOn.identifier | DiagnosticReport.identifier.${requisition}`,
    description: 'The number of the requisition that the report answers',
  },
  'DiagnosticReport-type': {
    code: 'type',
    type: 'token',
    base: ['DiagnosticReport'],
    expression: 'DiagnosticReport.category',
    description: 'The kind of service that made the report, for instance pathology or radiology',
  },
  'DocumentReference-requisition': {
    code: 'requisition',
    type: 'token',
    base: ['DocumentReference'],
    expression: `DocumentReference.context.related.identifier | DocumentReference.identifier.${requisition}`,
    description: 'The number of the requisition that the document belongs to',
  },
  'Patient-referral-source': {
    code: 'referral-source',
    type: 'token',
    base: ['Patient'],
    expression: `Patient.extension('${practiceExtensions.referralSource}').value.ofType(CodeableConcept)`,
    description: 'Where the patient was referred from',
  },
  'Patient-us-core-ethnicity': {
    code: 'us-core-ethnicity',
    type: 'token',
    base: ['Patient'],
    expression: `Patient.extension('${practiceExtensions.usCoreEthnicity}').extension.value.ofType(Coding)`,
    description: 'The ethnicity of the patient, in its categories and in detail',
  },
  'Patient-us-core-race': {
    code: 'us-core-race',
    type: 'token',
    base: ['Patient'],
    expression: `Patient.extension('${practiceExtensions.usCoreRace}').extension.value.ofType(Coding)`,
    description: 'The races of the patient, in their categories and in detail',
  },
  'Practitioner-type': {
    code: 'type',
    type: 'token',
    base: ['Practitioner'],
    expression: `Practitioner.extension('${practiceExtensions.practitionerType}').value.ofType(CodeableConcept)`,
    description: 'What the practice lists the person as: ref for a referring provider',
  },
  'Slot-date': {
    code: 'date',
    type: 'date',
    base: ['Slot'],
    expression: 'Slot.start',
    description: 'When the slot begins',
  },
  'Subscription-owner': {
    code: 'owner',
    type: 'token',
    base: ['Subscription'],
    expression: `Subscription.extension('${practiceExtensions.subscriptionOwner}').value.ofType(code)`,
    description: 'The application whose subscription it is: each application sees its own alone',
  },
  'Task-restriction': {
    code: 'restriction',
    type: 'date',
    base: ['Task'],
    expression: 'Task.restriction.period',
    description: 'The period in which the task is to be done',
  },
};
