/**
 * The published vocabulary of access entries, written down a second time from its documentation: code, resource type,
 * letters. It is the oracle of the tests of this folder; the registry must not be used to make it.
 */

/** Letters in capitals are in the published sample token, too. `-`: the type is not published. */
const table = `
acc Account S
algy_intol AllergyIntolerance RSCu
appmt Appointment RSCU
chrg_item ChargeItem RSC
comp Composition C
cond Condition RSCu
cov Coverage RScu
diag_rprt DiagnosticReport RSc
doc_ref DocumentReference RSCu
enc Encounter RS
fmly_his FamilyMemberHistory RScu
fmly_his_ef FamilyMemberHistory Cu
insr_plan InsurancePlan RS
loc Location RS
med_state MedicationStatement RSCu
obsv_ef Observation RScu
org Organization RSC
org_pay Organization RS
pat Patient RSCU
pay_recon PaymentReconciliation rc
pmc_ocu_ef - RSc
prac Practitioner RSC
prac_role PractitionerRole RS
proc_ef Procedure RSc
rel_person RelatedPerson R
req_grp RequestGroup RScu
serv_req ServiceRequest RScu
slot Slot S
tsk Task RS
tsk_pmrecall Task RS
val_set ValueSet R
`;

export interface PublishedCode {
  readonly code: string;
  readonly type: string;
  readonly letters: readonly string[];
  readonly sampleLetters: readonly string[];
}

export const publishedCodes: readonly PublishedCode[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [code = '', type = '', flags = ''] = line.split(' ');
    return {
      code,
      type,
      letters: [...flags.toLowerCase()],
      sampleLetters: [...flags].filter((flag) => flag < 'a').map((flag) => flag.toLowerCase()),
    };
  });

export const publishedFilters = [
  'acl/lab_type_path',
  'acl/lab_type_radio',
  'acl/lab_type_surg',
  'acl/lab_type_ther',
  'acl/lab_type_clinic',
];
export const publishedOpaque = ['acl/m_t', 'acl/t_s', 'acl/mynwscp'];

const sampleBeyondTheTable = [
  'acl/pat_s_id',
  'acl/pat_s_name_dob_gen',
  'acl/bnry_c_url',
  'acl/trans_bndl_post',
  'acl/trans_bndl_diag_rprt_labs',
  'acl/trans_bndl_diag_rprt_urin',
];

const othersBeyondTheTable = [
  'acl/trans_bndl_diag_rprt_opto',
  'acl/trans_bndl_algy_intol_other',
  'acl/trans_bndl_med_stmt_other',
  'acl/trans_bndl_appmt_remind',
  'acl/pat_ef_m',
];

/** The 71 entries of the published sample token. */
export const sampleToken: readonly string[] = [
  ...publishedCodes.flatMap(({ code, sampleLetters }) => sampleLetters.map((letter) => `acl/${code}_${letter}`)),
  ...sampleBeyondTheTable,
];

/** All 104. */
export const publishedEntries: readonly string[] = [
  ...publishedCodes.flatMap(({ code, letters }) => letters.map((letter) => `acl/${code}_${letter}`)),
  ...sampleBeyondTheTable,
  ...othersBeyondTheTable,
  ...publishedFilters,
  ...publishedOpaque,
];

/** What an entry alone grants, as `type.letter`: at most one each. Elements and rows are tested elsewhere. */
export function grantedBy(entry: string): string | undefined {
  if (entry === 'acl/pat_s_id' || entry === 'acl/pat_s_name_dob_gen') return 'Patient.s';
  if (entry.includes('_ef_')) return undefined;
  const row = publishedCodes.find(({ code, letters }) => letters.some((letter) => entry === `acl/${code}_${letter}`));
  return row && `${row.type}.${entry.slice(-1)}`;
}
