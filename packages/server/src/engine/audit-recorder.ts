/**
 * What a request leaves in the audit ledger beside its writes, which storage notes itself: one row for each interaction or
 * operation that was answered or refused. The rows are gathered here and handed to the ledger by whoever answers the
 * request, so that an attempt with rights that turn out to be old leaves none.
 */
import { getStoredText } from '../access/disclosure.ts';
import type { AccessRow } from '../audit/audit-row.ts';
import { openPatientSet, type PatientSet } from '../audit/patients.ts';
import { PraxisError } from '../base/errors.ts';
import { getTypeNumber, isResourceType } from '../search/numbers.ts';
import type { StoredResource } from '../storage/resources.ts';
import type { AuditRecord } from './audit-record.ts';
import type { FhirCall, FhirRequest, FhirResponse, InteractionContext } from './context.ts';

/** What is asked for. */
export interface Accessed extends Pick<FhirCall, 'type' | 'id' | 'versionId' | 'compartment'> {
  /** An interaction's name, or `$name`. */
  readonly interaction: string;
}

/** The record of one interaction or operation under way. */
export interface Audit {
  /** The context to answer in: what is shown is noted there. */
  readonly inside: InteractionContext & { readonly note: AuditRecord };
  /** Leaves the row of an answer, and returns it as it is shown. @throws PraxisError where it is refused as a whole */
  answered(response: FhirResponse): FhirResponse;
  /** Leaves the row of a refusal, and returns the error, to be thrown. */
  refused(error: unknown): unknown;
}

/** Opens the record of what is asked for: it ends with either an answer or a refusal. */
export function openAudit(context: InteractionContext, accessed: Accessed): Audit {
  const note: AuditRecord = { shown: 0, wrote: false, patients: openPatientSet(), grants: new Map() };
  const { type, id, compartment } = accessed;
  if (type === 'Patient') addId(note.patients, id);
  if (compartment?.type === 'Patient') addId(note.patients, compartment.id);
  return {
    inside: { ...context, note, fitted: undefined },
    answered(response) {
      const answer = context.fitted?.(response) ?? response;
      if (answer.isLeftOut === true) {
        note.shown = 0;
        note.grants.clear();
      }
      if (!note.wrote) context.trail.push(answeredRow(context, accessed, note));
      else if (note.shown > 0) context.trail.push(answeredRow(context, { ...accessed, interaction: 'read' }, note));
      return answer;
    },
    refused(error) {
      context.trail.push(buildRefusedRow(context, accessed, error, note.patients));
      return error;
    },
  };
}

/** Notes rows as shown of which the caller is told nothing but that they are gone. */
export function recordGone({ note, baseUrl }: InteractionContext, rows: readonly StoredResource[]): void {
  if (note === undefined) return;
  note.shown += rows.length;
  for (const { type, id, content } of rows) note.patients.addOf(type, id, getStoredText(content), baseUrl);
}

/** Notes the patients that a search asks for by their ids. */
export function recordSearchedPatients({ note, baseUrl }: InteractionContext, { type, parameters }: FhirRequest): void {
  if (note === undefined) return;
  for (const [name, value] of parameters) {
    const code = name.endsWith(':Patient') ? name.slice(0, -':Patient'.length) : name;
    if (!(patientParameters.has(code) || (type === 'Patient' && code === '_id'))) continue;
    for (const word of value.split(',')) addId(note.patients, idOf(word, baseUrl));
  }
}

const patientParameters: ReadonlySet<string> = new Set(['patient', 'subject']);

/** The id of `id`, `Patient/id` or its absolute form; others are no ids, and left out where they are added. */
function idOf(word: string, baseUrl: string): string {
  const local = word.startsWith(`${baseUrl}/`) ? word.slice(baseUrl.length + 1) : word;
  return local.startsWith('Patient/') ? local.slice('Patient/'.length) : local;
}

const idPattern = /^[A-Za-z0-9\-.]{1,64}$/;

function addId(patients: PatientSet, id: string): void {
  if (idPattern.test(id)) patients.add(id);
}

function answeredRow(context: InteractionContext, accessed: Accessed, note: AuditRecord): AccessRow {
  const row = rowOf(context, accessed, note.patients);
  const entries = entriesOf(note);
  row.shown = note.shown;
  if (note.shown > 0) row.elements = elementsOf(accessed.type, note);
  if (entries.length > 0) row.entries = entries;
  return row;
}

/** Those of the grants, once each. */
function entriesOf({ grants }: AuditRecord): readonly string[] {
  const [first, second] = grants.keys();
  if (first === undefined) return [];
  if (second === undefined && first.entries.length < 2) return first.entries;
  return [...new Set([...grants.keys()].flatMap(({ entries }) => entries))];
}

/** The row of a refusal. */
export function buildRefusedRow(
  context: InteractionContext,
  accessed: Accessed,
  error: unknown,
  patients: PatientSet = openPatientSet(),
): AccessRow {
  return { ...rowOf(context, accessed, patients), ...describeRefusal(error) };
}

/** Outcome, error code and missing entries of anything thrown. */
export function describeRefusal(error: unknown): Pick<AccessRow, 'outcome' | 'entries'> & { readonly reason: string } {
  if (!(error instanceof PraxisError)) return { outcome: 8, reason: 'internal' };
  const outcome = error.status >= 500 ? 8 : 4;
  // Refusals of access speak of entries and elements only, never of data.
  const missing = error.code === 'access-denied' ? (error.details.diagnostics.match(entryWord) ?? []) : [];
  return {
    outcome,
    reason: error.code,
    ...(missing.length === 0 ? {} : { entries: [...new Set(missing)].slice(0, missingMax) }),
  };
}

const entryWord = /\b(?:acl|system)\/[^\s;,]+/g;

/** Missing entries that one row names. */
const missingMax = 10;

/** A row that is being made. Column by column rather than of parts: every read makes one. */
type RowDraft = { -readonly [Name in keyof AccessRow]: AccessRow[Name] };

function rowOf(context: InteractionContext, accessed: Accessed, patients: PatientSet): RowDraft {
  const { caller, clock, scope } = context;
  const { interaction, type, id, versionId } = accessed;
  const row: RowDraft = {
    atMs: clock.now(),
    application: scope.application,
    interaction,
    outcome: 0,
    subject: caller.subject,
    tokenId: caller.tokenId,
    requestId: caller.requestId,
    flow: caller.flow,
  };
  if (isResourceType(type)) row.typeNumber = getTypeNumber(type);
  if (idPattern.test(id)) row.id = id;
  if (versionId !== '' && /^\d{1,9}$/.test(versionId)) row.versionId = Number(versionId);
  const concerned = patients.read();
  if (concerned !== undefined) row.patients = concerned;
  return row;
}

/** All, or the names; those of other types than the one asked for with `*` where all of them were shown. */
function elementsOf(asked: string, { grants }: AuditRecord): 'all' | readonly string[] {
  const names: string[] = [];
  let all = true;
  for (const [{ elements }, { type, filter }] of grants) {
    const wanted =
      filter.elements && type === asked ? [...filter.elements].map((name) => `${type}.${name}`) : undefined;
    if (elements === 'all' && wanted === undefined) {
      names.push(`${type}.*`);
      continue;
    }
    all = false;
    if (elements === 'all') names.push(...(wanted ?? []));
    else names.push(...(wanted === undefined ? elements : wanted.filter((name) => elements.has(name))));
  }
  return all ? 'all' : names;
}
