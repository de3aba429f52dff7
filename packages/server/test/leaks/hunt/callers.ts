/**
 * Who asks in the leak hunt: every kind of token, none with the right to what its plots hide.
 */
import type { StoredOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { type Group, groups, type PlotKind } from './planted.ts';

export const callerNames = [
  'names',
  'legacy',
  'reader',
  'writer',
  'editor',
  'partial',
  'described',
  'filtered',
  'coded',
  'recalls',
  'scoped',
  'booker',
  'mover',
  'waiting',
  'followups',
  'times',
  'creator',
  'filer',
  'scanner',
  'proposer',
  'stranger',
  'outsider',
  'foreign',
] as const;
export type CallerName = (typeof callerNames)[number];

export interface CallerKind {
  readonly means: string;
  readonly acl: readonly string[];
  /** What the firm authorises of it; absent: all. */
  readonly authorisedAcl?: readonly string[];
  readonly rows?: StoredOperatorRows;
  readonly flow: 'client' | 'legacy';
  /** Groups of plots at which it asks. */
  readonly groups: readonly Group[];
  /** Whether what the plot hides is hidden from it; absent: always. */
  readonly isBlindTo?: (kind: PlotKind) => boolean;
  /** `plot`: authorised where it asks; `own`: at another firm, where it asks; `none`: at another firm or environment. */
  readonly authorised: 'plot' | 'own' | 'none';
  /** Types whose answers are not the same twice, and so are not asked for: the ledger tells of times and requests. */
  readonly leaves?: readonly string[];
}

const names = ['acl/enc_s', 'acl/pat_s_name_dob_gen'];
const anywhere: readonly Group[] = groups;
/** What is changed by moving or cancelling an appointment, which takes that it is read. */
const movedElements = [
  'status',
  'start',
  'end',
  'appointmentType',
  'minutesDuration',
  'slot',
  'participant',
  'cancelationReason',
];
const people = 'acl/pat_s_name_dob_gen';

export const callerKinds: Readonly<Record<CallerName, CallerKind>> = {
  names: {
    means: 'searches patients by name, date of birth and gender, and all of visits',
    acl: names,
    flow: 'client',
    groups: ['fields'],
    authorised: 'plot',
  },
  legacy: {
    means: 'the same by a token of the legacy flow',
    acl: names,
    flow: 'legacy',
    groups: ['fields'],
    authorised: 'plot',
  },
  reader: {
    means: 'reads the same elements, and may not search; its token would reach more than the firm has authorised',
    acl: ['acl/enc_r', 'acl/pat_r', 'acl/pat_r_name_dob_gen'],
    authorisedAcl: ['acl/enc_r', 'acl/pat_r_name_dob_gen'],
    flow: 'client',
    groups: ['fields'],
    authorised: 'plot',
  },
  writer: {
    means: 'creates and changes patients of which it reads names alone, and posts transactions',
    acl: [
      'acl/enc_s',
      'acl/pat_c',
      'acl/pat_u',
      'acl/pat_r_name_dob_gen',
      'acl/pat_s_name_dob_gen',
      'acl/trans_bndl_post',
    ],
    flow: 'client',
    groups: ['fields'],
    authorised: 'plot',
  },
  editor: {
    means: 'reads names of patients, and may change some elements, as an operator says',
    acl: ['acl/enc_s', 'acl/pat_u', 'acl/pat_r_name_dob_gen'],
    rows: { pat: { elements: ['name', 'gender', 'birthDate', 'active'] } },
    flow: 'client',
    groups: ['fields'],
    authorised: 'plot',
  },
  partial: {
    means: 'names of patients, visits, and those value sets, code systems and places that are active (SMART scopes)',
    acl: [
      ...names,
      'system/ValueSet.rs?status=active',
      'system/CodeSystem.rs?status=active',
      'system/Location.rs?status=active',
    ],
    flow: 'client',
    groups: ['fields'],
    authorised: 'plot',
  },
  described: {
    means: 'orders of one category, and two elements of them, as an operator says',
    acl: ['acl/serv_req_r', 'acl/serv_req_s', 'acl/serv_req_u'],
    rows: {
      serv_req: { criteria: [{ parameter: 'category', values: ['PATHOLOGY'] }], elements: ['status', 'category'] },
    },
    flow: 'client',
    groups: ['orders'],
    authorised: 'plot',
  },
  filtered: {
    means: 'everything, but of orders those of one category (a filter of order types)',
    acl: ['acl/*', 'acl/lab_type_path'],
    flow: 'client',
    groups: ['orders'],
    isBlindTo: ({ secret }) => secret !== 'definition',
    authorised: 'plot',
    leaves: ['AuditEvent'],
  },
  coded: {
    means: 'a SMART scope with a query on orders, and what refers to them',
    acl: ['system/ServiceRequest.rs?category=PATHOLOGY', 'system/Patient.rs', 'acl/enc_s', 'acl/diag_rprt_s'],
    flow: 'client',
    groups: ['orders'],
    authorised: 'plot',
  },
  recalls: {
    means: 'tasks that are recalls (an entry with a row criterion), patients and visits',
    acl: ['acl/tsk_pmrecall_s', 'acl/pat_s', 'acl/enc_s'],
    flow: 'client',
    groups: ['tasks'],
    authorised: 'plot',
  },
  scoped: {
    means: 'a SMART scope that reads and writes recalls, patients and visits',
    acl: ['system/Task.crus?code=PMRECALL', 'system/Patient.rs', 'acl/enc_s'],
    flow: 'client',
    groups: ['tasks'],
    authorised: 'plot',
  },
  booker: {
    means: 'finds, holds and books slots, and sees no appointment',
    acl: ['acl/slot_s', 'acl/appmt_c', people],
    flow: 'client',
    groups: ['calendar'],
    authorised: 'plot',
  },
  mover: {
    means: 'moves and cancels appointments; of what they say it reads when they are, with whom, and in which state',
    acl: ['acl/slot_s', 'system/Appointment.u', 'acl/appmt_r', 'acl/appmt_s', people],
    rows: { appmt: { elements: movedElements } },
    flow: 'client',
    groups: ['calendar'],
    isBlindTo: ({ secret }) => secret === 'value',
    authorised: 'plot',
  },
  waiting: {
    means: 'keeps the waiting list: of appointments those that wait, and two elements of them',
    acl: ['acl/appmt_r', 'acl/appmt_s', 'acl/appmt_u', people],
    rows: { appmt: { criteria: [{ parameter: 'status', values: ['waitlist'] }], elements: ['status', 'start'] } },
    flow: 'client',
    groups: ['calendar'],
    authorised: 'plot',
  },
  followups: {
    means: 'slots of one type (a SMART scope with a query)',
    acl: ['system/Slot.s?appointment-type=FOLLOWUP', people],
    flow: 'client',
    groups: ['slots'],
    authorised: 'plot',
  },
  times: {
    means: 'of slots when they are and for what, as an operator says, not whether they are taken nor whose they are',
    acl: ['acl/slot_s', people],
    rows: { slot: { elements: ['start', 'end', 'appointmentType'] } },
    flow: 'client',
    groups: ['slots'],
    authorised: 'plot',
  },
  creator: {
    means: 'creates appointments, and sees no slots',
    acl: ['acl/appmt_c', people],
    flow: 'client',
    groups: ['slots'],
    isBlindTo: ({ secret }) => secret === 'existence',
    authorised: 'plot',
  },
  filer: {
    means: 'files letters and reads them, and sees no other documents (a SMART scope with a query)',
    acl: ['acl/bnry_c_url', 'system/DocumentReference.crus?type=LETTER', people],
    flow: 'client',
    groups: ['documents'],
    authorised: 'plot',
  },
  scanner: {
    means: 'uploads documents, and reads of them their state, type and date',
    acl: ['acl/bnry_c_url', 'system/DocumentReference.c', 'acl/doc_ref_r', 'acl/doc_ref_s', people],
    rows: { doc_ref: { elements: ['status', 'type', 'date'] } },
    flow: 'client',
    groups: ['documents'],
    isBlindTo: ({ secret }) => secret === 'value' || secret === 'link',
    authorised: 'plot',
  },
  proposer: {
    means: 'reads and writes coverage, which waits for the practice, and sees no tasks',
    acl: ['acl/cov_r', 'acl/cov_s', 'acl/cov_c', 'acl/cov_u', people],
    flow: 'client',
    groups: ['proposals'],
    authorised: 'plot',
  },
  stranger: {
    means: 'everything at another firm',
    acl: ['acl/*'],
    flow: 'client',
    groups: ['elsewhere'],
    authorised: 'own',
    leaves: ['AuditEvent'],
  },
  outsider: {
    means: 'a token of another firm, at the firm of the secret',
    acl: ['acl/*'],
    flow: 'client',
    groups: anywhere,
    authorised: 'none',
  },
  foreign: {
    means: 'a token of another environment, at the firm of the secret',
    acl: ['acl/*'],
    flow: 'client',
    groups: anywhere,
    authorised: 'none',
  },
};

/** Those who ask at plots of the kind. */
export function callersAt(kind: PlotKind): readonly CallerName[] {
  return callerNames.filter((name) => {
    const { groups, isBlindTo } = callerKinds[name];
    return groups.includes(kind.group) && (isBlindTo === undefined || isBlindTo(kind));
  });
}
