/**
 * Every statement that the running service sends while it answers requests, recorded over a sweep of all interactions,
 * search parameters of every kind, token requests and refusals, and those of an import: each that touches a tenant table runs
 * as the firm of the path and binds that firm as a value, and in its plan every scan of a tenant table is bounded by it: the
 * statement alone is judged. A distributed engine could send each to the node of the firm (docs/decisions/0290). Then row-level security alone:
 * the firm is taken out of each statement in turn, and it is run as another firm. Last, what each reads when the ledger and
 * other records of the practice have grown.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Sql, sql } from '../../src/database/sql.ts';
import { getTypeNumber } from '../../src/search/numbers.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { openReceiver } from '../practice/subscriptions/world.ts';
import { untilTold } from '../support/follower.ts';
import { blocksOf, prepared } from '../support/prepared-plans.ts';
import { openRecordedService } from '../support/recorded-service.ts';
import {
  callerOf,
  clientForm,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  passwordForm,
  postForm,
} from '../support/service.ts';
import { tenantRows, tenantTables } from '../support/tenant-rows.ts';
import { firmlessStatements } from './firmless-statements.ts';
import {
  sweepCalendars,
  sweepDocuments,
  sweepIntake,
  sweepResources,
  sweepSubscriptions,
  sweepWaitingList,
} from './sweep.ts';
import { sweepImport } from './sweep-import.ts';

interface Recorded {
  /** The firm that the statement ran as; undefined: none. */
  readonly firm: number | undefined;
  readonly statement: Sql;
  /** The request that was being answered. */
  readonly during: string;
}

const recorded: Recorded[] = [];
let during = '';
/** In place of a request: they work for every firm. */
const jobs = 'jobs';
function noteRequest(what: string): void {
  during = what;
}

const files = openScratchDirectory({ after });
const service = await openRecordedService({ after }, (firm, statement) => recorded.push({ firm, statement, during }), {
  PRAXIS_DATA_DIR: files.path,
  PRAXIS_OUTBOUND_LOOPBACK: 'sandbox',
});
const receiver = await openReceiver({ after });
const tables = await tenantTables(service.database.owner);
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
/** Has no rows at all. */
const birch = await makeFirm(service, 'birch');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, cedar]);
const narrow = await makeApplication(
  service,
  'Narrow',
  [
    'acl/org_pay_r',
    'acl/org_pay_s',
    'acl/tsk_pmrecall_r',
    'acl/tsk_pmrecall_s',
    'acl/pat_s_name_dob_gen',
    'acl/pat_u',
    'acl/serv_req_s',
    'acl/lab_type_path',
  ],
  [maple],
);

const started = recorded.length;
const swept = new Map<string, { readonly firm: number; readonly statements: readonly Recorded[] }>();
for (const [name, firm, caller] of [
  ['operator at maple', maple, await openCaller(service, operator, maple)],
  [
    'operator at cedar, by the legacy flow',
    cedar,
    callerOf(cedar, await legacyToken(operator, cedar), operator.legacyKey),
  ],
  ['row criteria at maple', maple, await openCaller(service, narrow, maple)],
] as const) {
  // What a job still does for the firm before would look like this one's.
  await service.service.jobs.settle();
  await service.service.parts.ledger.flush();
  const from = recorded.length;
  const sweeper = { caller, firm, platform: service.recorded, during: noteRequest };
  await sweepResources(sweeper);
  if (name.startsWith('operator')) {
    await sweepDocuments(sweeper);
    await sweepCalendars(sweeper);
    await sweepWaitingList(sweeper, async () => {
      during = jobs;
      await service.service.jobs.settle();
    });
    await sweepIntake(sweeper);
    await sweepImport(sweeper, files);
    await sweepSubscriptions(sweeper, receiver.url, async () => {
      during = jobs;
      await untilTold(service.database.owner);
      await service.service.jobs.settle();
    });
  }
  await service.service.parts.ledger.flush();
  swept.set(name, { firm: firm.id, statements: recorded.slice(from) });
}
// As where an endpoint cannot be reached: nothing is sent, and what asks for subscriptions would find those of all firms.
await service.database.owner.query(sql`UPDATE subscription SET status = 'error', admits = true`);
during = 'token requests';
for (const [url, body, key] of [
  [`${service.origin}/auth/realms/sandbox/protocol/openid-connect/token`, clientForm(operator), operator.clientKey],
  [
    `${service.origin}/auth/realms/sandbox/protocol/openid-connect/token`,
    { ...clientForm(operator), client_secret: 'x' },
    undefined,
  ],
  [maple.legacyTokenUrl, passwordForm(operator, maple), operator.legacyKey],
  [maple.legacyTokenUrl, { grant_type: 'password', username: 'x', password: 'x' }, operator.legacyKey],
  [maple.legacyTokenUrl, { grant_type: 'refresh_token', refresh_token: 'x' }, operator.legacyKey],
] as const) {
  await postForm(url, body, key);
}
for (const path of ['/health/ready', '/auth/realms/sandbox/protocol/openid-connect/certs'])
  await fetch(service.origin + path);
await service.service.parts.legacyUse.flush();

/** Tables named in the statement after FROM, JOIN, INTO or UPDATE, each occurrence. */
function tablesOf({ text }: Sql): string[] {
  const named = new RegExp(`\\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING|ONLY)\\s+"?(${tables.join('|')})"?\\b`, 'gi');
  return [...text.matchAll(named)].map(([, table]) => table ?? '');
}

const writing =
  /\bpraxis_(?:(?:write|create)_resources|note_import|note_appointments|occupy|admit_events|note_delivered)\b/;
const writes = ({ statement }: Recorded): boolean => writing.test(statement.text);
const touching = recorded.slice(started).filter((each) => tablesOf(each.statement).length > 0 || writes(each));

test('the sweep is worth its name: it reads, searches and writes through many different statements', () => {
  const texts = new Set(touching.map(({ statement }) => statement.text));
  assert.ok(texts.size > 35, `${texts.size} statements`);
  const named = new Set(touching.flatMap(({ statement }) => tablesOf(statement)));
  for (const table of tables.filter((name) => !name.startsWith('audit_'))) assert.ok(named.has(table), table);
  assert.ok(touching.some(writes));
});

test('a statement without a firm touches no tenant table', () => {
  const careless = recorded
    .filter(({ firm }) => firm === undefined)
    .filter((each) => tablesOf(each.statement).length > 0 || writes(each));
  assert.deepEqual(
    careless.map(({ during, statement }) => `${during}: ${statement.text}`),
    [],
  );
  // Nor by another name: no other word of the statement is a tenant table.
  for (const { firm, statement } of recorded) {
    if (firm === undefined)
      assert.ok(!new RegExp(`\\b(?:${tables.join('|')})\\b`).test(statement.text), statement.text);
  }
});

/** The firm as a condition or an argument, or as the first of the values to insert, in each row of them. */
const boundFirm =
  /\b(?:\w+\.)?(?:in_)?firm =>? \$(\d+)|(?:INSERT INTO \w+ \(firm\b[^)]*\)\s+VALUES|(?<=\(\$\d+(?:, \$?\w+)+\)),) \(\$(\d+)/g;

test('each statement that touches a tenant table runs as the firm of the path and binds it', () => {
  for (const [name, { firm, statements }] of swept) {
    const some = statements.filter((each) => touching.includes(each));
    assert.ok(some.length > 30, name);
    for (const each of some) {
      const { text, values } = each.statement;
      if (each.during !== jobs) assert.equal(each.firm, firm, `${name}: ${each.during}`);
      const bound = [...text.matchAll(boundFirm)].map(([, inCondition, inValues]) => {
        return values[Number(inCondition ?? inValues) - 1];
      });
      assert.ok(
        bound.length >= Math.max(1, tablesOf(each.statement).length),
        `${each.during}: a table without a firm: ${text}`,
      );
      assert.deepEqual(new Set(bound), new Set([each.firm]), `${each.during}: ${text}`);
    }
  }
});

/** What changes rows, but for FOR UPDATE and ON CONFLICT DO UPDATE. */
const change = /\b(?:INSERT INTO|MERGE INTO|DELETE FROM|(?<!\b(?:FOR|KEY|DO) )UPDATE)\b/g;

/** Rule → whether a statement breaks it. */
const rules: Readonly<Record<string, (text: string) => boolean>> = {
  'what changes rows is the statement itself, and no CTE': (text) =>
    [...text.matchAll(change)].some(({ index }) => index > 0),
  'an INSERT has VALUES, and reads nothing': (text) =>
    text.startsWith('INSERT') && (!/^INSERT INTO \w+ \([^)]*\) VALUES \(/.test(text) || /\bSELECT\b/.test(text)),
};

function brokenRules(text: string): readonly string[] {
  return Object.keys(rules).filter((name) => rules[name]?.(text));
}

/** Statements of which one of their kind is asked about: text in one line → the request. */
function textsOf(those: (each: Recorded) => boolean): ReadonlyMap<string, string> {
  return new Map(
    recorded.filter(those).map(({ statement, during }) => [statement.text.trim().replaceAll(/\s+/g, ' '), during]),
  );
}

test('a distributed engine could send each statement of a firm to the node of the firm', () => {
  const texts = [...textsOf(({ firm }) => firm !== undefined)];
  const changing = texts.filter(([text]) => text.search(change) === 0);
  assert.ok(changing.length > 30, `${changing.length} statements that change rows`);
  assert.deepEqual(
    texts.flatMap(([text, asked]) => brokenRules(text).map((rule) => `${asked}: ${rule}: ${text}`)),
    [],
  );
});

test('the rules refuse what such an engine would do elsewhere', () => {
  for (const text of [
    'WITH made AS (INSERT INTO t (firm) VALUES ($1)) SELECT 1',
    'WITH gone AS (DELETE FROM t WHERE firm = $1 RETURNING id) SELECT id FROM gone',
    'WITH made AS (UPDATE t SET a = 1 WHERE firm = $1) SELECT f($1)',
    'WITH allowed AS (SELECT 1 FROM e WHERE firm = $1) INSERT INTO t (firm) SELECT $1 FROM allowed',
    'INSERT INTO t (firm, id) SELECT $1, n.id FROM unnest($2::text[]) AS n(id)',
    'INSERT INTO t (firm, id) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM t WHERE firm = $1 AND id = $2)',
    'INSERT INTO t (firm, id) VALUES ($1, (SELECT max(id) FROM t WHERE firm = $1))',
  ])
    assert.equal(brokenRules(text).length, 1, text);
});

test('statements without a firm are few, and each has its reason', () => {
  const names = Object.keys(firmlessStatements);
  const texts = [...textsOf(({ firm }) => firm === undefined)];
  const unnamed = texts.filter(([text]) => !names.some((name) => text.startsWith(name)));
  assert.deepEqual(
    unnamed.map(([text, asked]) => `${asked}: ${text}`),
    [],
  );
  assert.deepEqual(
    names.filter((name) => !texts.some(([text]) => text.startsWith(name))),
    [],
    'named, but not sent any more',
  );
  assert.ok(names.length < 40, `${names.length} names`);
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
  readonly [property: string]: unknown;
}

/** The conditions under which a node reads rows of its relation. */
function conditionsOf(node: PlanNode): string {
  const own = ['Index Cond', 'Filter', 'Recheck Cond', 'TID Cond'].map((name) => String(node[name] ?? '')).join(' ');
  const below = node['Node Type'] === 'Bitmap Heap Scan' ? (node.Plans ?? []) : [];
  return [own, ...below.map(conditionsOf)].join(' ');
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

test('in the plan of each statement every scan of a tenant table is bounded by the bound firm', async () => {
  const byText = new Map(touching.filter((each) => !writes(each)).map((each) => [each.statement.text, each]));
  let scans = 0;
  for (const { firm, statement, during: asked } of byText.values()) {
    // A statement that the template would not make: the recorded one, to be explained and not run.
    const explained = { ...statement, text: `EXPLAIN (FORMAT JSON) ${statement.text}`, values: statement.values };
    const [row] = await service.database.owner.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
      explained,
    );
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    assert.ok(plan, asked);
    for (const node of nodesOf(plan)) {
      const table = node['Relation Name'];
      // What changes rows gets them from a scan below it.
      if (table === undefined || !tables.includes(table) || node['Node Type'] === 'ModifyTable') continue;
      scans += 1;
      assert.match(
        conditionsOf(node),
        new RegExp(`\\bfirm = ${firm}\\b`),
        `${asked}: ${node['Node Type']} of ${table}: ${statement.text}`,
      );
    }
  }
  assert.ok(scans > 100, String(scans));
});

/** The statement without its firm, but in the conditions on the epoch of access, which is the control plane's. */
function withoutFirm(statement: Sql): Sql {
  const text = statement.text.replaceAll(
    /(?<![\w.])(?<!access_epoch WHERE )(?!e\.)(?:\w+\.)?firm = (\$\d+)/g,
    '$1::int IS NOT NULL',
  );
  // A statement that the template would not make, which is the point.
  return { ...statement, text, values: statement.values };
}

/** What the statement finds, in a transaction that is rolled back. @param firm undefined: as the owner, who sees every row */
async function foundBy(statement: Sql, firm: number | undefined): Promise<readonly unknown[]> {
  let rows: readonly unknown[] = [];
  const undone = new Error('undone');
  const of = firm === undefined ? service.database.owner : service.platform.database;
  const work = of.transaction(firm, async (tx) => {
    const found = await tx.query<Readonly<Record<string, unknown>>>(statement);
    // Both are transactions of the whole server, on which other test files work meanwhile.
    rows = found.map(({ horizon: _, xid: __, ...row }) => row);
    throw undone;
  });
  await work.catch((error: unknown) => {
    if (error !== undone) throw error;
  });
  return rows;
}

const changes = ({ statement }: Recorded): boolean =>
  writes({ statement, firm: undefined, during: '' }) || /\b(?:INSERT INTO|UPDATE|DELETE FROM)\b/.test(statement.text);

/** What was sent for maple, by text: a few times of each. */
function ofMaple(
  isWanted: (each: Recorded) => boolean,
): readonly (readonly [text: string, sent: readonly Recorded[]])[] {
  const byText = Map.groupBy(
    touching.filter((each) => each.firm === maple.id && isWanted(each)),
    ({ statement }) => statement.text,
  );
  return [...byText].map(([text, sent]) => [text, sent.slice(-timesMax)]);
}
const timesMax = 3;

test('without its firm no statement that reads finds a row of another firm', async () => {
  const texts = ofMaple((each) => !changes(each));
  const silent: string[] = [];
  for (const [text, sent] of texts) {
    let isTelling = false;
    for (const { statement, during: asked } of sent) {
      const careless = withoutFirm(statement);
      assert.notEqual(careless.text, text, asked);
      // Birch has no rows, and the statement asks for those of maple: this is what it answers when it finds nothing.
      const nothing = await foundBy(statement, birch.id);
      assert.deepEqual(await foundBy(careless, birch.id), nothing, `${asked}: ${careless.text}`);
      // The rows of all firms may even be too many for the statement.
      const everything = await foundBy(careless, undefined).catch((error: unknown) => String(error));
      isTelling ||= JSON.stringify(everything) !== JSON.stringify(nothing);
    }
    if (!isTelling) silent.push(`${sent[0]?.during}: ${text}`);
  }
  assert.ok(texts.length > 80, `${texts.length} statements`);
  // What finds nothing where nothing holds it back shows nothing here: few may.
  assert.ok(silent.length <= texts.length / 6, `${silent.length} of ${texts.length}: ${silent.join('\n')}`);
});

/** Row-level security; the function that notes imports finds none of maple. */
const refusing = /row-level security|violates|another process goes on with the import/;

test('without its firm no statement that writes changes a row of another firm', async () => {
  await service.service.jobs.settle();
  const before = await tenantRows(service.database.owner);
  let run = 0;
  for (const { statement } of ofMaple(changes).flatMap(([, sent]) => sent)) {
    run += 1;
    // Row-level security refuses rows of maple, or there is none to change.
    await service.platform.database
      .forFirm(birch.id)
      .query(withoutFirm(statement))
      .catch((error: unknown) => assert.match(String(error), refusing));
  }
  assert.ok(run > 15, `${run} statements`);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

/** Rows that the practice has gained since: of its ledger, and resources and versions of a type that the sweep leaves alone. */
const gained = 100_000;

async function grow(): Promise<void> {
  const { owner } = service.database;
  const numbers = sql`generate_series(1, ${gained}::int) AS n`;
  await owner.query(sql`
    INSERT INTO audit_event (at, xid, seq, firm, epoch, caller, action, shown, id, patients, patient_key)
    SELECT 1500000000000 + n, '3', 9000000000 + n, ${maple.id}, 1, c.key, w.key, 1, 'g' || n, 'g' || n % 100, hashtext('g' || n % 100)
    FROM ${numbers}, (SELECT key FROM audit_caller WHERE firm = ${maple.id} LIMIT 1) c,
      (SELECT key FROM audit_action WHERE firm = ${maple.id} AND interaction = 'read' LIMIT 1) w`);
  await owner.query(sql`
    INSERT INTO audit_patient_key (at, seq, firm, patient_key)
    SELECT 1500000000000 + n, 9000000000 + n, ${maple.id}, hashtext('h' || n % 100) FROM ${numbers}`);
  const resource = sql`9000000000 + n, 1500000000000 + n, ${maple.id}, 1, ${getTypeNumber('Media')}, 'g' || n, '{"resourceType":"Media"}'`;
  await owner.query(
    sql`INSERT INTO resource (rid, lu, firm, vid, rtype, id, content) SELECT ${resource} FROM ${numbers}`,
  );
  await owner.query(sql`
    INSERT INTO resource_version (seq, lu, firm, vid, rtype, id, content, xid, epoch, application, method)
    SELECT ${resource}, '3', 1, ${operator.application.id}, 'c' FROM ${numbers}`);
  await owner.query(sql`ANALYZE`);
}

/** A larger table has an index of one more level, and may be read another way. */
const fewTimes = 3;
const fewBlocks = 60;

/** Blocks that each statement reads by the plan that a session keeps; the statement with its values is the one last sent. */
async function blocksByText(statements: ReadonlyMap<string, Recorded>): Promise<ReadonlyMap<string, number>> {
  const blocks = new Map<string, number>();
  const undone = new Error('undone');
  const work = service.platform.database.transaction(maple.id, async (tx) => {
    for (const [index, [text, { statement }]] of [...statements].entries()) {
      for (let run = 0; run < 2; run += 1) blocks.set(text, blocksOf(await prepared(tx, `s${index}`, statement)));
    }
    throw undone;
  });
  await assert.rejects(work, undone);
  return blocks;
}

test('no statement reads more as the ledger and other records of the practice grow', async () => {
  const statements = new Map(
    ofMaple((each) => !changes(each)).flatMap(([text, sent]) => sent.slice(-1).map((each) => [text, each])),
  );
  await service.database.owner.query(sql`ANALYZE`);
  const before = await blocksByText(statements);
  await grow();
  const now = await blocksByText(statements);
  const grown = [...now].filter(([text, blocks]) => blocks > fewTimes * (before.get(text) ?? 0) + fewBlocks);
  assert.ok(now.size > 80, `${now.size} statements`);
  assert.deepEqual(
    grown.map(
      ([text, blocks]) => `${statements.get(text)?.during}: ${before.get(text)} blocks, then ${blocks}: ${text}`,
    ),
    [],
  );
});
