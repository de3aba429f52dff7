/**
 * The value sets that a firm may keep, as one table: what each is called, what it governs, and the codes that it begins
 * with. A firm keeps a set as the ValueSet of that id (docs/decisions/0204); what it does not keep is not judged (0205).
 *
 * https://hl7.org/fhir/R4/valueset.html · https://hl7.org/fhir/R4/terminologies.html#strength
 */
import { practiceExtensions } from '@praxis/fhir';

export interface FirmCode {
  /** Absent: the code system of the set. */
  readonly system?: string;
  readonly code: string;
  readonly display: string;
}

/**
 * What may stand in a bound element: `required`: each concept with a code holds one of the set; `extensible`: codes of
 * other code systems are possible as well, only those of the set's own, and those without a system, are judged.
 */
export type Strength = 'required' | 'extensible';

export interface BoundElement {
  readonly type: string;
  /** FHIRPath to values of type CodeableConcept. */
  readonly expression: string;
  /** The top-level member that holds them. */
  readonly member: string;
  readonly strength: Strength;
}

export interface FirmValueSet {
  /** Id of the ValueSet, and the last part of its URL and of that of its code system. */
  readonly id: string;
  readonly title: string;
  readonly governs: readonly BoundElement[];
  /** What a firm begins with that names no codes; none: the firm says them. */
  readonly defaults: readonly FirmCode[];
}

const urls = 'https://praxis.health/fhir';

/** Canonical URL of the set. */
export function buildValueSetUrl(id: string): string {
  return `${urls}/ValueSet/${id}`;
}

/** The code system of codes that name none. */
export function codeSystemUrl(id: string): string {
  return `${urls}/CodeSystem/${id}`;
}

/** The set that the appointment types of calendars are taken from. */
export const appointmentTypeSet = 'appointment-type';

const loinc = 'http://loinc.org';
const organizationType = 'http://terminology.hl7.org/CodeSystem/organization-type';

/** In the order of docs and lists. */
export const firmValueSets: readonly FirmValueSet[] = [
  {
    id: appointmentTypeSet,
    title: 'Appointment types',
    governs: [element('Appointment.appointmentType', 'required'), element('Slot.appointmentType', 'required')],
    defaults: [],
  },
  {
    id: 'reportable-reason',
    title: 'Reportable reasons',
    governs: [element('Appointment.reasonCode', 'extensible')],
    defaults: [],
  },
  {
    id: 'appointment-cancellation-reason',
    title: 'Reasons to cancel an appointment',
    governs: [element('Appointment.cancelationReason', 'required')],
    defaults: [],
  },
  {
    id: 'referral-source',
    title: 'Referral sources',
    governs: [
      element(`Patient.extension('${practiceExtensions.referralSource}').value.ofType(CodeableConcept)`, 'required'),
    ],
    defaults: [],
  },
  {
    id: 'insurance-policy-type',
    title: 'Types of insurance policy',
    governs: [element('Coverage.type', 'extensible'), element('InsurancePlan.type', 'extensible')],
    defaults: [],
  },
  {
    id: 'insured-relationship',
    title: 'Relationships to the insured',
    governs: [element('Coverage.relationship', 'extensible')],
    defaults: [],
  },
  {
    id: 'cost-to-beneficiary-type',
    title: 'Types of cost to the beneficiary',
    governs: [element('Coverage.costToBeneficiary.type', 'extensible')],
    defaults: codes({
      COPAY_AMOUNT: 'Copay amount',
      COINSURANCE_PERCENTAGE: 'Coinsurance percentage',
      DEDUCTIBLE: 'Deductible',
      OUT_OF_POCKET: 'Out of pocket',
      REMAINING_DEDUCTIBLE: 'Remaining deductible',
      REMAINING_OUT_OF_POCKET: 'Remaining out of pocket',
    }),
  },
  {
    id: 'document-category',
    title: 'Document categories',
    governs: [element('DocumentReference.category', 'extensible')],
    defaults: [
      { code: 'ccda', display: 'Clinical summary' },
      { code: 'note', display: 'Visit note' },
      { system: loinc, code: '81214-9', display: 'Clinical summary' },
      { system: loinc, code: '34133-9', display: 'Visit note' },
    ],
  },
  {
    id: 'document-type',
    title: 'Document types',
    governs: [element('DocumentReference.type', 'extensible')],
    defaults: codes({ PROS: 'PROS', pdf: 'PDF' }),
  },
  {
    id: 'encounter-type',
    title: 'Visit types',
    governs: [element('Encounter.type', 'extensible')],
    defaults: [],
  },
  { id: 'condition-type', title: 'Condition types', governs: [], defaults: codes({ PROB: 'Problem' }) },
  {
    id: 'condition-category',
    title: 'Condition categories',
    governs: [element('Condition.category', 'extensible')],
    defaults: codes({ DIAGNOSIS: 'Diagnosis', CONDITION: 'Condition' }),
  },
  {
    id: 'service-request-category-type',
    title: 'Order categories',
    governs: [element('ServiceRequest.category', 'extensible')],
    defaults: codes({ PATHOLOGY: 'Pathology', RADIOLOGY: 'Radiology', SURGICAL: 'Surgery' }),
  },
  {
    id: 'organization-type',
    title: 'Organization types',
    governs: [element('Organization.type', 'extensible')],
    defaults: [
      { system: organizationType, code: 'pay', display: 'Payer' },
      { system: organizationType, code: 'prov', display: 'Healthcare Provider' },
    ],
  },
  {
    id: 'recall-action',
    title: 'Recall actions',
    governs: [element(`Task.input.where(type.text = 'recall-action').value.ofType(CodeableConcept)`, 'extensible')],
    defaults: [],
  },
  { id: 'recall-type', title: 'Recall types', governs: [element('Task.reasonCode', 'extensible')], defaults: [] },
  {
    id: 'task-type',
    title: 'Task types',
    governs: [element('Task.code', 'extensible')],
    defaults: codes({ PMRECALL: 'Recall' }),
  },
];

const byId: ReadonlyMap<string, FirmValueSet> = new Map(firmValueSets.map((each) => [each.id, each]));

/** undefined: a ValueSet of this id is one like any other. */
export function findFirmValueSet(id: string): FirmValueSet | undefined {
  return byId.get(id);
}

function element(expression: string, strength: Strength): BoundElement {
  const [, type = '', member = ''] = /^(\w+)\.(\w+)/.exec(expression) ?? [];
  return { type, expression, member, strength };
}

function codes(rows: Readonly<Record<string, string>>): readonly FirmCode[] {
  return Object.entries(rows).map(([code, display]) => ({ code, display }));
}
