/**
 * The codes a dermatology practice works with. Code systems by their R4 URIs (https://hl7.org/fhir/R4/terminologies-systems.html);
 * display texts are our own short words.
 */
import type { JsonObject } from '@praxis/fhir';

export const systems = {
  icd10: 'http://hl7.org/fhir/sid/icd-10-cm',
  snomed: 'http://snomed.info/sct',
  rxnorm: 'http://www.nlm.nih.gov/research/umls/rxnorm',
  loinc: 'http://loinc.org',
  cpt: 'http://www.ama-assn.org/go/cpt',
  npi: 'http://hl7.org/fhir/sid/us-npi',
  ssn: 'http://hl7.org/fhir/sid/us-ssn',
  hl7: 'http://terminology.hl7.org/CodeSystem',
  identifierType: 'http://terminology.hl7.org/CodeSystem/v2-0203',
  actCode: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
  roleCode: 'http://terminology.hl7.org/CodeSystem/v3-RoleCode',
  taxonomy: 'http://nucc.org/provider-taxonomy',
  firm: 'https://praxis.health/fhir/CodeSystem',
} as const;

export interface Term {
  readonly system: string;
  readonly code: string;
  readonly display: string;
}

const terms = (system: string, rows: Readonly<Record<string, string>>): readonly Term[] =>
  Object.entries(rows).map(([code, display]) => ({ system, code, display }));

const firmTerms = (set: string, rows: Readonly<Record<string, string>>): readonly Term[] =>
  terms(`${systems.firm}/${set}`, rows);

export const diagnoses = terms(systems.icd10, {
  'L70.0': 'Acne vulgaris',
  'L40.0': 'Plaque psoriasis',
  'L57.0': 'Actinic keratosis',
  'L20.9': 'Atopic dermatitis',
  'L82.1': 'Seborrheic keratosis',
  'B07.9': 'Viral wart',
  'L71.9': 'Rosacea',
  'D22.9': 'Melanocytic nevus',
  'L65.9': 'Hair loss',
  'L50.9': 'Urticaria',
  'C44.91': 'Basal cell carcinoma of skin',
  'L21.9': 'Seborrheic dermatitis',
  'L30.9': 'Dermatitis',
  'B35.1': 'Nail fungus',
  'L72.0': 'Epidermal cyst',
  I10: 'High blood pressure',
  'E11.9': 'Type 2 diabetes',
  'J45.909': 'Asthma',
});

export const medications = terms(systems.rxnorm, {
  '6064': 'isotretinoin',
  '10753': 'tretinoin',
  '3640': 'doxycycline',
  '6851': 'methotrexate',
  '8640': 'prednisone',
  '5492': 'hydrocortisone',
  '10759': 'triamcinolone',
  '6135': 'ketoconazole',
  '2582': 'clindamycin',
  '6980': 'minocycline',
  '29046': 'lisinopril',
  '6809': 'metformin',
  '83367': 'atorvastatin',
});

export const allergens = terms(systems.rxnorm, {
  '7980': 'penicillin G',
  '10180': 'sulfamethoxazole',
  '2670': 'codeine',
  '5640': 'ibuprofen',
  '1191': 'aspirin',
  '723': 'amoxicillin',
});

export const reactions = terms(systems.snomed, {
  '247472004': 'Hives',
  '271807003': 'Rash',
  '422587007': 'Nausea',
  '418290006': 'Itching',
});

export const procedures = terms(systems.cpt, {
  '99203': 'New patient visit',
  '99213': 'Follow-up visit',
  '99214': 'Long follow-up visit',
  '17000': 'Destruction of one lesion',
  '17110': 'Destruction of warts',
  '11102': 'Tangential biopsy',
  '11900': 'Injection into lesions',
  '88305': 'Tissue examination',
});

export const orders = terms(systems.loinc, {
  '58410-2': 'Blood count panel',
  '24323-8': 'Metabolic panel',
  '66121-5': 'Skin pathology panel',
  '24331-1': 'Lipid panel',
});

export const orderCategories = firmTerms('service-request-category-type', {
  PATHOLOGY: 'Pathology',
  RADIOLOGY: 'Radiology',
  SURGICAL: 'Surgery',
  THERAPIES: 'Therapies',
  CLINICAL_LAB: 'Clinical laboratory',
});

export const appointmentTypes = firmTerms('appointment-type', {
  NEW: 'New patient',
  FOLLOWUP: 'Follow-up',
  SKINCHECK: 'Full skin check',
  PROCEDURE: 'Procedure',
  COSMETIC: 'Cosmetic consultation',
});

/** Minutes an appointment of each type takes, in the order of `appointmentTypes`. */
export const appointmentMinutes = [30, 15, 30, 45, 30] as const;

export const cancellationReasons = firmTerms('appointment-cancellation-reason', {
  PATIENT: 'Cancelled by patient',
  PROVIDER: 'Cancelled by practice',
  WEATHER: 'Weather',
});
export const reportableReasons = firmTerms('reportable-reason', { NONE: 'None', WORK: 'Work injury' });
export const referralSources = firmTerms('referral-source', {
  PHYSICIAN: 'Physician',
  WEB: 'Web search',
  FRIEND: 'Friend or family',
  INSURER: 'Insurer',
});
export const recallReasons = firmTerms('recall-type', {
  SKINCHECK: 'Yearly skin check',
  SUTURES: 'Suture removal',
  LABS: 'Laboratory follow-up',
});
export const recallActions = firmTerms('recall-action', { CALL: 'Call', LETTER: 'Letter', MESSAGE: 'Message' });
export const documentCategories = firmTerms('document-category', {
  INSURANCE: 'Insurance',
  CONSENT: 'Consent',
  LAB: 'Laboratory',
  PHOTO: 'Photograph',
});
export const encounterTypes = firmTerms('encounter-type', {
  OFFICE: 'Office visit',
  VIDEO: 'Video visit',
  PROCEDURE: 'Procedure visit',
});
export const insuranceTypes = firmTerms('insurance-policy-type', {
  COMMERCIAL: 'Commercial',
  MEDICARE: 'Medicare',
  MEDICAID: 'Medicaid',
  SELF: 'Self pay',
});

/** The firm's own value sets: name → what it lists. */
export const firmValueSets: Readonly<Record<string, readonly Term[]>> = {
  'appointment-type': appointmentTypes,
  'appointment-cancellation-reason': cancellationReasons,
  'reportable-reason': reportableReasons,
  'referral-source': referralSources,
  'recall-type': recallReasons,
  'recall-action': recallActions,
  'document-category': documentCategories,
  'encounter-type': encounterTypes,
  'insurance-policy-type': insuranceTypes,
  'service-request-category-type': orderCategories,
  'insured-relationship': terms(`${systems.hl7}/subscriber-relationship`, {
    self: 'Self',
    spouse: 'Spouse',
    child: 'Child',
    parent: 'Parent',
    common: 'Common law spouse',
    other: 'Other',
  }),
  'cost-to-beneficiary-type': firmTerms('cost-to-beneficiary-type', {
    COPAY_AMOUNT: 'Copay amount',
    COINSURANCE_PERCENTAGE: 'Coinsurance percentage',
    DEDUCTIBLE: 'Deductible',
    OUT_OF_POCKET: 'Out of pocket',
    REMAINING_DEDUCTIBLE: 'Remaining deductible',
    REMAINING_OUT_OF_POCKET: 'Remaining out of pocket',
  }),
  'document-type': firmTerms('document-type', { PROS: 'PROS', pdf: 'PDF' }),
  'condition-type': firmTerms('condition-type', { PROB: 'Problem' }),
  'condition-category': firmTerms('condition-category', { DIAGNOSIS: 'Diagnosis', CONDITION: 'Condition' }),
  'organization-type': terms(`${systems.hl7}/organization-type`, { pay: 'Payer', prov: 'Healthcare Provider' }),
  'task-type': firmTerms('task-type', { PMRECALL: 'Recall' }),
};

/** A CodeableConcept with one coding and its words as text. */
export function concept(term: Term): JsonObject {
  return { coding: [{ system: term.system, code: term.code, display: term.display }], text: term.display };
}

/** A CodeableConcept of a code that needs no display. */
export function code(system: string, value: string): JsonObject {
  return { coding: [{ system, code: value }] };
}
