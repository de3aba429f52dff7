/**
 * What the floor has to do for the rows, learned from the product: what it answers, and which rows its writes leave. Each is asked
 * once. What the floor writes is another firm's, so that neither finds nor seals what the other has written.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { makeUuid } from '../../../packages/server/src/base/ids.ts';
import type { Database } from '../../../packages/server/src/database/database.ts';
import { type Sql, sql } from '../../../packages/server/src/database/sql.ts';
import { getTypeNumber } from '../../../packages/server/src/search/numbers.ts';
import type { Caller, FoundBundle } from '../caller.ts';
import type { Call } from '../line.ts';
import { sendAll, type Workload } from '../load.ts';
import type { Ground } from '../nodes.ts';
import { firmPrefix } from '../prepare.ts';
import { type Asked, type Row, takeInTurn, type UpdateSample } from '../rows/row.ts';
import { type CapturedRows, captureRows, countRows } from './captured-rows.ts';
import type { FloorPlan, PlannedAnswer, PlannedUpdate, PlannedWrite, WriteStatement } from './plan.ts';
import { buildCreate, buildUpdate, toTemplates } from './write-statements.ts';

/** Until the rows of what was shown are in the ledger, which takes them in lots. */
const ledgerMs = 1_000;
/** Resources that the floor updates in turn. */
const updatedResources = 200;
/** By how much the number of the firm of the floor is above that of the product: there is no such firm. */
const firmDistance = 1_000;

/** Whom the plan is learned from, and where its traces are. */
export interface PlanSource {
  readonly caller: Caller;
  readonly owner: Database;
  readonly firm: number;
}

/** What the floor does for a row. */
export interface PlannedRow {
  readonly row: Row;
  /** What is asked of the floor. */
  readonly workload: Workload;
  readonly answers?: readonly PlannedAnswer[];
  readonly write?: PlannedWrite;
  readonly update?: PlannedUpdate;
  /** The write of the product that the floor repeats. */
  readonly captured?: Captured;
}

/** What a request of the product has left. */
interface Captured {
  readonly requestId: string;
  readonly rows: CapturedRows;
  readonly body: string;
  readonly status: number;
}

/** The number of the firm of the bench. */
export async function findFirm(owner: Database): Promise<number> {
  const [firm] = await owner.query<{ id: number }>(sql`SELECT id FROM firm WHERE prefix = ${firmPrefix}`);
  if (firm === undefined) throw new Error('the firm of the bench is missing');
  return firm.id;
}

/** What the floor does for the rows; rows that are not held against it are left out. */
export async function planRows(source: PlanSource, rows: readonly Row[]): Promise<readonly PlannedRow[]> {
  const planned: PlannedRow[] = [];
  for (const row of rows) {
    const { base, workload } = row;
    const slug = workload.name.replaceAll(' ', '-');
    if (base.kind === 'handler')
      planned.push({ row, workload: { name: workload.name, status: base.status, call: base.call } });
    if (base.kind === 'statement') planned.push(await planAnswers(source, row, slug, base.asked));
    if (base.kind === 'create') planned.push(await planCreate(source, row, slug));
    if (base.kind === 'update') planned.push(await planUpdate(source, row, slug, base.sample));
  }
  return planned;
}

/** What the floor is told. */
export function buildPlan(
  { caller, firm }: PlanSource,
  { connections, prepared }: Ground,
  rows: readonly PlannedRow[],
): FloorPlan {
  const { owner } = connections;
  return {
    database: 'url' in owner ? { connectionString: owner.url } : owner,
    firm,
    firmPrefix,
    clientSecret: prepared.client.clientSecret,
    refreshToken: caller.refreshToken,
    username: prepared.legacy.username,
    patientType: getTypeNumber('Patient'),
    answers: rows.flatMap(({ answers = [] }) => answers),
    writes: rows.flatMap(({ write }) => write ?? []),
    updates: rows.flatMap(({ update }) => update ?? []),
  };
}

/**
 * Lets the floor do each write once.
 * @throws Error where it leaves more or fewer rows than the product has left
 */
export async function verifyWrites(
  { owner, firm }: PlanSource,
  origin: string,
  rows: readonly PlannedRow[],
): Promise<void> {
  for (const { workload, captured } of rows) {
    if (captured === undefined) continue;
    const { call, status } = workload;
    await sendAll({ origin }, (index) => ({ call: call(index), status }), { from: 0, count: 1, connections: 1 });
    const left = countRows(await captureRows(owner, firm + firmDistance, captured.requestId));
    const expected = countRows(captured.rows);
    if (left !== expected) throw new Error(`${workload.name}: the floor leaves ${left}; the product ${expected}`);
  }
}

async function planAnswers(
  { caller, firm }: PlanSource,
  row: Row,
  slug: string,
  asked: readonly Asked[],
): Promise<PlannedRow> {
  const answers: PlannedAnswer[] = [];
  for (const { what, statement: build } of asked) {
    const { body } = await caller.send(caller.get(what), 200);
    const { text, values } = build(firm);
    const { entry, total }: FoundBundle = JSON.parse(body);
    // A count is one row, whatever it is.
    const rows = entry?.length ?? (what.includes('_summary=count') && total !== undefined ? 1 : 0);
    answers.push({ path: `/answers/${slug}/${answers.length}`, statement: { name: slug, text }, values, rows, body });
  }
  const calls = answers.map(({ path }): Call => ({ method: 'GET', path, headers: {} }));
  const workload = { ...row.workload, call: (index: number) => takeInTurn(calls, index) };
  return { row, workload, answers };
}

async function planCreate(source: PlanSource, row: Row, slug: string): Promise<PlannedRow> {
  const call = row.workload.call(0);
  const captured = await capture(source, call, row.workload.status);
  const path = `/writes/${slug}`;
  const ids = listIds(captured.rows);
  const statement = toStatement(slug, buildCreate(source.firm + firmDistance, captured.rows), ids);
  return {
    row,
    workload: { ...row.workload, call: (index) => ({ ...row.workload.call(index), path }) },
    write: { path, status: captured.status, statement, ids: ids.length, body: captured.body },
    captured,
  };
}

async function planUpdate(source: PlanSource, row: Row, slug: string, sample: UpdateSample): Promise<PlannedRow> {
  const { write } = source.caller;
  const firm = source.firm + firmDistance;
  const created = await capture(source, write('POST', 'Patient', sample.created), 201);
  const ids = listIds(created.rows);
  const [id = ''] = ids;
  const captured = await capture(source, write('PUT', `Patient/${id}`, sample.updated(id)), row.workload.status);
  const [before, after] = [created.rows, captured.rows];
  const path = `/updates/${slug}`;
  const own = Array.from({ length: updatedResources }, makeUuid);
  const forth = buildUpdate(firm, after, before, after);
  const back = buildUpdate(firm, after, after, before);
  return {
    row,
    workload: {
      ...row.workload,
      call: (index) => ({ ...row.workload.call(index), path: `${path}/${takeInTurn(own, index)}` }),
    },
    update: {
      path,
      ids: own,
      create: toStatement(`${slug}-create`, buildCreate(firm, before), ids),
      turns: [toStatement(`${slug}-forth`, forth, ids), toStatement(`${slug}-back`, back, ids)],
      body: captured.body,
    },
    captured,
  };
}

/** Asks the product, and looks for what that has left. */
async function capture({ caller, owner, firm }: PlanSource, call: Call, status: number): Promise<Captured> {
  const requestId = makeUuid();
  const headers = { ...call.headers, 'x-request-id': requestId };
  const { body } = await caller.send({ ...call, headers }, status);
  await delay(ledgerMs);
  return { requestId, rows: await captureRows(owner, firm, requestId), body, status };
}

/** Of the resources, in the order in which they were written. */
function listIds({ resource }: CapturedRows): readonly string[] {
  return resource.map(({ id }) => String(id));
}

function toStatement(name: string, statement: Sql, ids: readonly string[]): WriteStatement {
  return { name, text: statement.text, values: toTemplates(statement, ids) };
}
