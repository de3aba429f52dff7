/**
 * What the engine knows of a resource type beside R4's definitions: one row a type, and nothing of it stands elsewhere. What
 * a type does is declared by hooks (engine/hooks.ts).
 */

export interface ResourceType {
  /** Rows of a page at most; absent: pageRowsDefault. Clients often ask for more: `_count` is clamped, never refused. */
  readonly pageRowsMax?: number;
  /**
   * The search parameter that tells when the care took place which a resource is about, for `start` and `end` of $everything
   * (https://hl7.org/fhir/R4/patient-operation-everything.html). Without it, resources are in whatever the dates are, as the
   * patient is.
   */
  readonly careDate?: string;
  /**
   * The parameters that R4 says are strict hierarchies and that are references. The first orders the type where another
   * parameter leads to it.
   */
  readonly hierarchies?: readonly [string, ...string[]];
  /** Very many resources refer to one of it; it selects less than one patient does. */
  readonly isBroadTarget?: true;
  /** The server alone writes it (docs/integrate/contract.md#fhir): its resources are rows of the ledger, with their own order. */
  readonly isLedger?: true;
}

/** Rows of a page of types that say nothing else (https://hl7.org/fhir/R4/search.html#count). */
const pageRowsDefault = 100;

const rows: Readonly<Record<string, ResourceType>> = {
  AdverseEvent: { careDate: 'date' },
  AllergyIntolerance: { careDate: 'date' },
  Appointment: { pageRowsMax: 50, careDate: 'date' },
  AuditEvent: { careDate: 'date', isLedger: true },
  CarePlan: { careDate: 'date', hierarchies: ['part-of', 'based-on', 'replaces'] },
  CareTeam: { careDate: 'date' },
  ChargeItem: { pageRowsMax: 50, careDate: 'occurrence' },
  Claim: { careDate: 'created' },
  ClaimResponse: { careDate: 'created' },
  ClinicalImpression: { careDate: 'date' },
  Communication: { careDate: 'sent' },
  CommunicationRequest: { careDate: 'occurrence' },
  Composition: { careDate: 'date' },
  Condition: { careDate: 'onset-date' },
  Consent: { careDate: 'date' },
  CoverageEligibilityRequest: { careDate: 'created' },
  CoverageEligibilityResponse: { careDate: 'created' },
  DetectedIssue: { careDate: 'identified' },
  DeviceRequest: { careDate: 'event-date' },
  DiagnosticReport: { pageRowsMax: 50, careDate: 'date' },
  DocumentManifest: { careDate: 'created' },
  DocumentReference: { pageRowsMax: 10, careDate: 'date' },
  Encounter: { pageRowsMax: 50, careDate: 'date', hierarchies: ['part-of'] },
  EpisodeOfCare: { careDate: 'date' },
  ExplanationOfBenefit: { careDate: 'created' },
  FamilyMemberHistory: { pageRowsMax: 50, careDate: 'date' },
  Flag: { careDate: 'date' },
  Goal: { careDate: 'start-date' },
  HealthcareService: { isBroadTarget: true },
  ImagingStudy: { careDate: 'started' },
  Immunization: { careDate: 'date' },
  InsurancePlan: { isBroadTarget: true },
  Invoice: { careDate: 'date' },
  List: { careDate: 'date' },
  Location: { hierarchies: ['partof'], isBroadTarget: true },
  MeasureReport: { careDate: 'period' },
  Media: { careDate: 'created' },
  Medication: { isBroadTarget: true },
  MedicationAdministration: { careDate: 'effective-time' },
  MedicationDispense: { careDate: 'whenhandedover' },
  MedicationRequest: { careDate: 'authoredon' },
  MedicationStatement: { pageRowsMax: 50, careDate: 'effective' },
  NutritionOrder: { careDate: 'datetime' },
  Observation: { careDate: 'date' },
  Organization: { hierarchies: ['partof'], isBroadTarget: true },
  Patient: { pageRowsMax: 50 },
  Practitioner: { isBroadTarget: true },
  PractitionerRole: { isBroadTarget: true },
  Procedure: { careDate: 'date' },
  Provenance: { careDate: 'recorded' },
  QuestionnaireResponse: { careDate: 'authored' },
  RequestGroup: { careDate: 'authored' },
  RiskAssessment: { careDate: 'date' },
  ServiceRequest: { pageRowsMax: 50, careDate: 'authored' },
  Specimen: { careDate: 'collected' },
  Task: { pageRowsMax: 50 },
  VisionPrescription: { careDate: 'datewritten' },
};

const types: ReadonlyMap<string, ResourceType> = new Map(Object.entries(rows));
const plain: ResourceType = {};

/** What is known of a type; nothing where it has no row. */
export function findResourceType(type: string): ResourceType {
  return types.get(type) ?? plain;
}

/** The most rows that a page of the type holds, and the number it holds when `_count` is not given. */
export function getPageRowsMax(type: string): number {
  return findResourceType(type).pageRowsMax ?? pageRowsDefault;
}

/** Types that the server alone writes: never writable, not even with `acl/*`. */
export const ledgerTypes: ReadonlySet<string> = new Set(types.keys().filter((type) => types.get(type)?.isLedger));
