/**
 * Searches of the audit ledger by the parameters of AuditEvent (https://hl7.org/fhir/R4/auditevent.html#search). The ledger
 * has no index rows: what a test would find there is made of the columns of each row, so the tests of search decide here as
 * anywhere. Parameters of elements that the ledger's events do not have find none of them.
 */

import {
  applicationSystem,
  buildAuditEvent,
  interactionKinds,
  type LedgerEvent,
  type LedgerPlace,
} from '../audit/audit-event.ts';
import { type AuditOutcome, serviceLedger } from '../audit/audit-row.ts';
import { namesPatient, selectPatientPlaces } from '../audit/patient-places.ts';
import { type Sql, sql } from '../database/sql.ts';
import { makeUnlimitedSteps } from '../limits/budgets.ts';
import { indexElements } from '../search/index/index-rows.ts';
import { computeSystemNumber, getTypeNumber, noSystem } from '../search/numbers.ts';
import type { SearchCondition } from '../search/query/condition.ts';
import type { Criterion } from '../search/query/criteria.ts';
import { buildMandatoryGroups } from '../search/query/row-criteria.ts';
import { type Cursor, type CursorBinding, openCursor, sealCursor } from '../search/sql/cursor.ts';
import type { SearchTarget } from '../search/sql/plan.ts';
import type { TenantScope } from '../tenancy/scope.ts';

const patientType = getTypeNumber('Patient');

const and = sql` AND `;
const or = sql` OR `;

/** The columns of a page: the place, and all that an event is made of. */
const ledgerRows = sql`
  SELECT a.at, a.seq, json_build_object('at', a.at, 'seq', a.seq, 'application', a.application, 'name', n.name,
    'rtype', a.rtype, 'id', a.id, 'vid', a.vid, 'shown', a.shown, 'times', a.times, 'outcome', a.outcome,
    'interaction', a.interaction, 'subject', a.subject, 'token_id', a.token_id, 'request_id', a.request_id,
    'flow', a.flow, 'elements', COALESCE(l.elements, a.elements), 'entries', a.entries, 'reason', a.reason,
    'patients', a.patients)::text AS content`;

/** A stretch of the ledger: rows after a place, in the order of a search that `isOfLedger`. */
export interface LedgerStretch {
  readonly after: LedgerPlace | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Rows as storage selects pages: epoch, rtype, id, vid, lu, content, rid, k0. Newest first, or as `_sort` says. */
export function selectLedgerPage(target: SearchTarget, { after, offset, limit }: LedgerStretch): Sql {
  const { scope } = target;
  const ascending = isAscending(target);
  const begin: Sql[] = [];
  const beyond = ascending ? sql`>` : sql`<`;
  if (after !== undefined) begin.push(sql`(a.at, a.seq) ${beyond} (${after.at}::bigint, ${after.seq}::bigint)`);
  // Each page of a walk leaves a row itself: oldest first it ends with those of its beginning.
  if (ascending) begin.push(sql`a.at <= ${target.query.nowMs}::bigint`);
  const order = ascending ? sql`a.at, a.seq` : sql`a.at DESC, a.seq DESC`;
  const rows = sql`${ledgerRows} ${matching(target, begin)} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  return asPage(scope, rows, ascending ? sql`page.at, page.seq` : sql`page.at DESC, page.seq DESC`);
}

/** One row by its place. */
export function selectLedgerRow(scope: TenantScope, { at, seq }: LedgerPlace): Sql {
  const one = sql`${ledgerRows} FROM audit_ledger a ${joined(scope)} WHERE a.firm = ${scope.firm} AND a.at = ${at} AND a.seq = ${seq}`;
  return asPage(scope, one, sql`page.seq`);
}

/** Columns: epoch, total. */
export function selectLedgerCount(target: SearchTarget): Sql {
  const { firm, application } = target.scope;
  return sql`
    SELECT e.epoch, c.total FROM access_epoch e
    CROSS JOIN (SELECT count(*) AS total FROM (SELECT a.seq ${matching(target, [], sql.empty)}) f) c
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function joined({ firm }: TenantScope): Sql {
  return sql`LEFT JOIN audit_elements l ON l.firm = ${firm} AND l.fingerprint = a.elements
    LEFT JOIN application n ON n.id = a.application`;
}

function asPage({ firm, application }: TenantScope, rows: Sql, order: Sql): Sql {
  return sql`
    SELECT e.epoch, ${getTypeNumber('AuditEvent')}::smallint AS rtype, 'ledger-' || page.at || '-' || page.seq AS id, 1 AS vid,
      page.at AS lu, page.content, page.seq AS rid, page.at::text AS k0
    FROM access_epoch e LEFT JOIN (${rows}) page ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY ${order}`;
}

/** FROM and WHERE: led by the patient where one is asked for, else by time. */
function matching(target: SearchTarget, more: readonly Sql[], joins: Sql = joined(target.scope)): Sql {
  const { scope, query } = target;
  const { firm } = scope;
  const lead = query.criteria.find((condition) => patientOf(condition) !== undefined);
  const patient = lead && patientOf(lead);
  const groups = buildMandatoryGroups('AuditEvent', target.mandatory);
  const conditions = [
    sql`a.firm = ${firm}`,
    ...query.criteria.filter((condition) => condition !== lead).map((condition) => holds(condition)),
    ...query.criteria.flatMap((condition) => boundsOf(condition)),
    ...(groups.length === 0 ? [] : [anyOf(groups.map((group) => sql`(${all(group)})`))]),
    ...more,
  ];
  if (patient === undefined) return sql`FROM audit_ledger a ${joins} WHERE ${sql.join(conditions, and)}`;
  return sql`
    FROM (${selectPatientPlaces(firm, patient)}) p JOIN audit_ledger a ON a.firm = ${firm} AND a.at = p.at AND a.seq = p.seq ${joins}
    WHERE ${namesPatient(patient)} AND ${sql.join(conditions, and)}`;
}

/** The id, where the condition is that of one patient: the index holds its rows in the order of time. */
function patientOf(condition: SearchCondition): string | undefined {
  if (condition.kind !== 'rows' || condition.negated || condition.parameter.code !== 'patient') return undefined;
  const [test, ...others] = condition.table === 'reference' ? condition.tests : [];
  return others.length === 0 && test?.target?.type === patientType ? test.target.id : undefined;
}

function all(conditions: readonly SearchCondition[]): Sql {
  const each = conditions.map((condition) => holds(condition));
  return each.length === 0 ? sql`true` : sql.join(each, and);
}

/** @param parts one at least */
function anyOf(parts: readonly Sql[]): Sql {
  return sql`(${sql.join(parts, or)})`;
}

/**
 * Whether the ledger can be asked: chains, `_has` and `_list` lead over references, which its rows do not keep for it, and
 * its only order is that of time.
 */
export function isOfLedger({ query }: SearchTarget): boolean {
  const [first, ...more] = query.sort;
  const isByTime = first === undefined || (more.length === 0 && timeCodes.has(first.parameter.code));
  return isByTime && asksOfRowsAlone(query.criteria);
}

const timeCodes: ReadonlySet<string> = new Set(['date', '_lastUpdated']);

function asksOfRowsAlone(conditions: readonly SearchCondition[]): boolean {
  return conditions.every((condition) => {
    if (condition.kind === 'rows') return true;
    return condition.kind !== 'chain' && condition.kind !== 'has' && asksOfRowsAlone(condition.conditions);
  });
}

function holds(condition: SearchCondition): Sql {
  switch (condition.kind) {
    case 'rows':
      return criterionHolds(condition);
    case 'all':
      return sql`(${all(condition.conditions)})`;
    case 'any':
      return anyHolds(condition.conditions);
    case 'none':
      return sql`NOT ${anyHolds(condition.conditions)}`;
    case 'chain':
    case 'has':
      throw new TypeError('the ledger is asked of its rows alone');
  }
}

function anyHolds(conditions: readonly SearchCondition[]): Sql {
  const each = conditions.map((condition) => holds(condition));
  return each.length === 0 ? sql`false` : anyOf(each);
}

function criterionHolds(criterion: Criterion): Sql {
  const rows = rowsOf(criterion);
  const found = rows === undefined ? sql`false` : sql`EXISTS (SELECT FROM (${rows}) d WHERE ${anyTest(criterion)})`;
  return criterion.negated ? sql`NOT ${found}` : found;
}

function anyTest({ tests }: Criterion): Sql {
  return tests.length === 0 ? sql`true` : anyOf(tests.map(({ where }) => sql`(${where})`));
}

/** What the index tables would hold of the row `a` for the criterion; undefined: never anything. */
function rowsOf({ table, number, parameter }: Criterion): Sql | undefined {
  const { code } = parameter;
  if (table === 'resource') return sql`SELECT 'ledger-' || a.at || '-' || a.seq AS id, a.at AS lu`;
  if (table === 'date' && code === 'date') return sql`SELECT a.at * 1000 AS lo, a.at * 1000 + 1 AS hi`;
  if (table === 'reference') return referencesOf(code);
  if (table !== 'token') return undefined;
  if (number === parameter.numberIn('identifier') && code === 'agent')
    return sql`SELECT ${computeSystemNumber(applicationSystem)}::bigint AS system, a.application::text AS code WHERE a.application <> 0`;
  if (code === 'altid')
    return sql`SELECT ${noSystem}::bigint AS system, lower(a.subject) AS code WHERE a.subject IS NOT NULL`;
  if (code === 'policy')
    return sql`SELECT ${noSystem}::bigint AS system, p.entry AS code FROM unnest(string_to_array(a.entries, ' ')) AS p(entry) WHERE a.outcome = 0`;
  if (code === 'outcome')
    return codesOf(sql`a.outcome::text`, outcomes.map(String), number, (outcome) => ({ outcome: Number(outcome) }));
  if (code === 'action' || code === 'type' || code === 'subtype') {
    const kind = sql`CASE WHEN a.interaction LIKE '$%' THEN '$' ELSE a.interaction END`;
    return codesOf(kind, interactionKinds, number, (interaction) => ({ interaction }));
  }
  if (code !== 'entity-role') return undefined;
  const named = sql`CASE WHEN a.patients IS NULL THEN 'none' ELSE 'some' END`;
  return codesOf(named, ['none', 'some'], number, (key) => ({ patients: key === 'some' ? 'x' : null }));
}

function referencesOf(code: string): Sql | undefined {
  const patient = sql`SELECT ${patientType}::smallint AS target_rtype, t.patient AS target_id
    FROM unnest(string_to_array(a.patients, ' ')) AS t(patient)`;
  if (code === 'patient') return patient;
  if (code === 'source') return sql`SELECT 0::smallint AS target_rtype, ''::text AS target_id`;
  if (code !== 'entity') return undefined;
  return sql`${patient} UNION ALL SELECT a.rtype, a.id WHERE a.rtype IS NOT NULL AND a.id IS NOT NULL
    UNION ALL SELECT a.rtype, a.id || '/_history/' || a.vid WHERE a.rtype IS NOT NULL AND a.id IS NOT NULL AND a.vid IS NOT NULL`;
}

const outcomes: readonly AuditOutcome[] = [0, 4, 8, 12];

const sample: LedgerEvent = {
  ...{ at: 0, seq: 0, application: serviceLedger, name: null, type: undefined, id: null, vid: null, shown: null },
  ...{ times: null, outcome: 0, interaction: 'read', subject: null, token_id: null, request_id: null, flow: null },
  ...{ elements: null, entries: null, reason: null, patients: null },
};

const codesByNumber = new Map<number, readonly (readonly [key: string, system: string, code: string])[]>();

/** The token rows that the index would have for each key, made by indexing an event with what `made` makes of it. */
function codesOf(
  column: Sql,
  keys: readonly string[],
  number: number,
  made: (key: string) => Partial<LedgerEvent>,
): Sql | undefined {
  let known = codesByNumber.get(number);
  if (known === undefined) {
    known = keys.flatMap((key) => {
      const event = buildAuditEvent({ ...sample, ...made(key) });
      const rows = indexElements('AuditEvent', event, { timeZone: 'UTC' }, makeUnlimitedSteps());
      return rows.tokenParam.flatMap((param, at) =>
        param === number ? [[key, rows.tokenSystem[at] ?? noSystem, rows.tokenCode[at] ?? ''] as const] : [],
      );
    });
    codesByNumber.set(number, known);
  }
  if (known.length === 0) return undefined;
  const columns = [0, 1, 2].map((at) => known.map((row) => row[at]));
  return sql`SELECT n.system, n.code FROM unnest(${columns[0]}::text[], ${columns[1]}::bigint[], ${columns[2]}::text[]) AS n(key, system, code)
    WHERE n.key = ${column}`;
}

const microsPerMs = 1000n;

/** Bounds on the time of a row, where all tests of a criterion on it have them: the key can begin and end there. */
function boundsOf(condition: SearchCondition): readonly Sql[] {
  if (condition.kind !== 'rows' || condition.negated || condition.tests.length !== 1) return [];
  const { code } = condition.parameter;
  const span = code === 'date' || code === '_lastUpdated' ? condition.tests[0]?.span : undefined;
  return [
    ...(span?.from === undefined ? [] : [sql`a.at >= ${String(BigInt(span.from) / microsPerMs)}::bigint`]),
    ...(span?.to === undefined ? [] : [sql`a.at <= ${String(BigInt(span.to) / microsPerMs)}::bigint`]),
  ];
}

function isAscending({ query: { sort } }: SearchTarget): boolean {
  return sort[0]?.descending === false;
}

/** The link to what comes after a row of the ledger. */
export function sealLedgerCursor(target: SearchTarget, { at, seq }: LedgerPlace, page: number): string {
  const cursor: Cursor = { direction: 'forward', row: { keys: [String(at)], rid: seq }, page, rowsMax: undefined };
  return sealCursor(target.cursor.secrets, cursor, ledgerBinding(target));
}

/** The place that a link leads to; undefined: it leads to what is stored beside the ledger. */
export function openLedgerCursor(
  target: SearchTarget,
  cursor: string,
): (LedgerPlace & { readonly page: number }) | undefined {
  try {
    const { row, page } = openCursor(target.cursor.secrets, cursor, ledgerBinding(target));
    return row && { at: Number(row.keys[0]), seq: row.rid, page };
  } catch {
    return undefined; // of the other part, or none: that part refuses it
  }
}

function ledgerBinding({ scope, query, cursor }: SearchTarget): CursorBinding {
  return {
    firm: scope.firm,
    application: scope.application,
    policyFingerprint: cursor.policyFingerprint,
    canonical: `ledger ${query.canonical}`,
    nowMs: query.nowMs,
  };
}
