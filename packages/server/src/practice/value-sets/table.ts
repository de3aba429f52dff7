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

const organizationType = 'http://terminology.hl7.org/CodeSystem/organization-type';

/** The set that the appointment types of calendars are taken from. */
export const appointmentTypeSet = 'appointment-type';

const rows: readonly (Omit<FirmValueSet, 'defaults'> & { readonly defaults?: readonly FirmCode[] })[] = [
  {
    id: appointmentTypeSet,
    title: 'Appointment types',
    governs: bind('required', 'Appointment.appointmentType', 'Slot.appointmentType'),
  },
  { id: 'reportable-reason', title: 'Reportable reasons', governs: bind('extensible', 'Appointment.reasonCode') },
  {
    id: 'appointment-cancellation-reason',
    title: 'Reasons to cancel an appointment',
    governs: bind('required', 'Appointment.cancelationReason'),
  },
  {
    id: 'referral-source',
    title: 'Referral sources',
    governs: bind(
      'required',
      `Patient.extension('${practiceExtensions.referralSource}').value.ofType(CodeableConcept)`,
    ),
  },
  {
    id: 'insurance-policy-type',
    title: 'Types of insurance policy',
    governs: bind('extensible', 'Coverage.type', 'InsurancePlan.type'),
  },
  {
    id: 'insured-relationship',
    title: 'Relationships to the insured',
    governs: bind('extensible', 'Coverage.relationship'),
  },
  {
    id: 'cost-to-beneficiary-type',
    title: 'Types of cost to the beneficiary',
    governs: bind('extensible', 'Coverage.costToBeneficiary.type'),
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
    governs: bind('extensible', 'DocumentReference.category'),
    defaults: [
      ...codes({ ccda: 'Clinical summary', note: 'Visit note' }),
      ...codes({ '81214-9': 'Clinical summary', '34133-9': 'Visit note' }, 'http://loinc.org'),
    ],
  },
  {
    id: 'document-type',
    title: 'Document types',
    governs: bind('extensible', 'DocumentReference.type'),
    defaults: codes({ PROS: 'PROS', pdf: 'PDF' }),
  },
  { id: 'encounter-type', title: 'Visit types', governs: bind('extensible', 'Encounter.type') },
  { id: 'condition-type', title: 'Condition types', governs: [], defaults: codes({ PROB: 'Problem' }) },
  {
    id: 'condition-category',
    title: 'Condition categories',
    governs: bind('extensible', 'Condition.category'),
    defaults: codes({ DIAGNOSIS: 'Diagnosis', CONDITION: 'Condition' }),
  },
  {
    id: 'service-request-category-type',
    title: 'Order categories',
    governs: bind('extensible', 'ServiceRequest.category'),
    defaults: codes({ PATHOLOGY: 'Pathology', RADIOLOGY: 'Radiology', SURGICAL: 'Surgery' }),
  },
  {
    id: 'organization-type',
    title: 'Organization types',
    governs: bind('extensible', 'Organization.type'),
    defaults: codes({ pay: 'Payer', prov: 'Healthcare Provider' }, organizationType),
  },
  {
    id: 'recall-action',
    title: 'Recall actions',
    governs: bind('extensible', `Task.input.where(type.text = 'recall-action').value.ofType(CodeableConcept)`),
  },
  { id: 'recall-type', title: 'Recall types', governs: bind('extensible', 'Task.reasonCode') },
  {
    id: 'task-type',
    title: 'Task types',
    governs: bind('extensible', 'Task.code'),
    defaults: codes({ PMRECALL: 'Recall' }),
  },
];

/** In the order of docs and lists. */
export const firmValueSets: readonly FirmValueSet[] = rows.map((row) => ({ defaults: [], ...row }));

const byId: ReadonlyMap<string, FirmValueSet> = new Map(firmValueSets.map((each) => [each.id, each]));

/** undefined: a ValueSet of this id is one like any other. */
export function findFirmValueSet(id: string): FirmValueSet | undefined {
  return byId.get(id);
}

function bind(strength: Strength, ...expressions: readonly string[]): readonly BoundElement[] {
  return expressions.map((expression) => {
    const [, type = '', member = ''] = /^(\w+)\.(\w+)/.exec(expression) ?? [];
    return { type, expression, member, strength };
  });
}

/** @param system absent: that of the set */
function codes(rows: Readonly<Record<string, string>>, system?: string): readonly FirmCode[] {
  return Object.entries(rows).map(([code, display]) => ({ ...(system && { system }), code, display }));
}
