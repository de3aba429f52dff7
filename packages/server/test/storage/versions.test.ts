/**
 * Versions: https://hl7.org/fhir/R4/http.html#versioning and #history. Of several writers of one version exactly one wins;
 * version ids count on through deletion and revival.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { boxStored } from '../../src/access/disclosure.ts';
import { sql } from '../../src/database/sql.ts';
import { raiseOrderEpoch } from '../../src/storage/order-epoch.ts';
import { openStore, type ResourceWrite, type WriteOutcome } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import {
  contentText,
  everything,
  indexRows,
  makeFirms,
  nowMs,
  opened,
  resourceDelete,
  resourceWrite,
} from './fixture.ts';

const writers = 16;

const { owner, runtime } = await openTestDatabase({ after }, { poolMax: writers + 4 });
const { maple, mapleOther } = await makeFirms(owner);
const store = openStore(runtime);

const conflict = (currentVersion: number | undefined): WriteOutcome => ({ outcome: 'conflict', currentVersion });
const written = (versionId: number): WriteOutcome => ({ outcome: 'written', versionId });

test('a write that expects another version than the current one changes nothing and tells the current one', async () => {
  await store.write(maple, resourceWrite('expecting'));
  await store.write(maple, resourceWrite('expecting', 1));
  const before = await everything(owner);
  for (const expected of [0, 1, 3, 2 ** 31 - 2]) {
    assert.deepEqual(
      await store.write(maple, resourceWrite('expecting', expected, { index: indexRows('no') })),
      conflict(2),
      `${expected}`,
    );
  }
  assert.deepEqual(await store.write(maple, resourceDelete('expecting', 1)), conflict(2));
  assert.deepEqual(await store.write(maple, resourceWrite('never-was', 1)), conflict(undefined));
  assert.deepEqual(await store.write(maple, resourceDelete('never-was', 1)), conflict(undefined));
  assert.deepEqual(await everything(owner), before);
});

test('an id is unique per type only', async () => {
  assert.deepEqual(await store.write(maple, resourceWrite('twice')), written(1));
  assert.deepEqual(await store.write(maple, resourceWrite('twice', 0, { type: 'Observation' })), written(1));
  assert.equal((await store.read(maple, 'Observation', 'twice'))?.type, 'Observation');
  assert.equal(await store.read(maple, 'Encounter', 'twice'), undefined);
  assert.equal(await store.read(maple, 'Patient', 'TWICE'), undefined);
});

/** Sixteen writers at once, half of them of the other application; the one that won. */
async function race(make: (writer: number) => ResourceWrite, current: number): Promise<number> {
  const outcomes = await Promise.all(
    Array.from({ length: writers }, (_, writer) => store.write(writer % 2 === 0 ? maple : mapleOther, make(writer))),
  );
  assert.deepEqual(
    outcomes.filter(({ outcome }) => outcome === 'conflict'),
    Array.from({ length: writers - 1 }, () => conflict(current)),
  );
  const winner = outcomes.findIndex(({ outcome }) => outcome === 'written');
  assert.deepEqual(outcomes[winner], written(current));
  return winner;
}

test('of 16 concurrent writers of each version exactly one wins, and everything stored is the winner’s', async () => {
  const versions = 25;
  const winners: number[] = [];
  for (let expected = 0; expected < versions; expected++) {
    const make = (writer: number) =>
      resourceWrite('raced', expected, { note: `by ${writer}`, index: indexRows(`${expected}-${writer}`) });
    winners.push(await race(make, expected + 1));
  }
  const { versions: history } = await store.history(maple, 'Patient', 'raced', { limit: 100 });
  assert.deepEqual(
    history.map((version) => opened(version)?.['content']),
    winners.map((winner, expected) => contentText('Patient', 'raced', expected + 1, `by ${winner}`)).reverse(),
  );
  const codes = await owner.query<{ code: string }>(sql`
    SELECT t.code FROM index_token t JOIN resource r ON r.firm = t.firm AND r.rid = t.rid WHERE r.id = 'raced' AND t.param = 11`);
  assert.deepEqual(codes, [{ code: `code-${versions - 1}-${winners.at(-1)}` }]);
});

test('of 16 concurrent writers that create, delete or revive exactly one wins', async () => {
  await race((writer) => resourceWrite('cycle', 0, { note: `by ${writer}` }), 1);
  await race(
    (writer) =>
      writer % 2 === 0 ? resourceDelete('cycle', 1) : { ...resourceDelete('cycle', 1), lastUpdatedMs: nowMs + writer },
    2,
  );
  await race((writer) => resourceWrite('cycle', 2, { note: `by ${writer}` }), 3);
});

test('delete, then revive: the version counts on, and what was is still readable', async () => {
  const rows = indexRows('phoenix');
  await store.write(maple, resourceWrite('phoenix', 0, { note: 'first', index: rows }));
  assert.deepEqual(await store.write(maple, resourceDelete('phoenix', 1)), written(2));
  assert.deepEqual(opened(await store.read(maple, 'Patient', 'phoenix')), {
    type: 'Patient',
    id: 'phoenix',
    versionId: 2,
    lastUpdatedMs: nowMs + 1,
    deleted: true,
    content: '',
  });
  assert.equal(await store.exists(maple, 'Patient', 'phoenix'), false);
  assert.deepEqual(
    await store.write(maple, resourceWrite('phoenix')),
    conflict(2),
    'a create does not take a deleted id',
  );
  assert.deepEqual(await store.write(maple, resourceWrite('phoenix', 2, { note: 'again', index: rows })), written(3));
  assert.equal(await store.exists(maple, 'Patient', 'phoenix'), true);
  assert.deepEqual(opened(await store.readVersion(maple, 'Patient', 'phoenix', 1)), {
    type: 'Patient',
    id: 'phoenix',
    versionId: 1,
    lastUpdatedMs: nowMs,
    deleted: false,
    method: 'create',
    content: contentText('Patient', 'phoenix', 1, 'first'),
  });
  assert.deepEqual(opened(await store.readVersion(maple, 'Patient', 'phoenix', 2)), {
    type: 'Patient',
    id: 'phoenix',
    versionId: 2,
    lastUpdatedMs: nowMs + 1,
    deleted: true,
    method: 'delete',
    content: '',
  });
});

test('versions that cannot exist are not found', async () => {
  for (const versionId of [0, -1, 4, 1.5, Number.NaN, 2 ** 31, 2 ** 53, Number.POSITIVE_INFINITY]) {
    assert.equal(await store.readVersion(maple, 'Patient', 'phoenix', versionId), undefined, `${versionId}`);
  }
});

test('history goes from the newest version to the oldest, in pages', async () => {
  for (let expected = 0; expected < 7; expected++) await store.write(maple, resourceWrite('storied', expected));
  await store.write(maple, resourceDelete('storied', 7));
  const pages: number[][] = [];
  for (let beforeVersion: number | undefined; ; beforeVersion = pages.at(-1)?.at(-1)) {
    const { versions: page } = await store.history(maple, 'Patient', 'storied', {
      limit: 3,
      ...(beforeVersion === undefined ? {} : { beforeVersion }),
    });
    if (page.length === 0) break;
    pages.push(page.map(({ versionId }) => versionId));
  }
  assert.deepEqual(pages, [
    [8, 7, 6],
    [5, 4, 3],
    [2, 1],
  ]);
  const { versions, hasMore } = await store.history(maple, 'Patient', 'storied', { limit: 2 });
  const [newest, next] = versions;
  assert.equal(hasMore, true);
  assert.deepEqual([newest?.method, newest?.deleted, next?.method, next?.deleted], ['delete', true, 'update', false]);
  assert.equal((await store.history(maple, 'Patient', 'storied', { limit: 8 })).hasMore, false);
  const none = { versions: [], hasMore: false };
  assert.deepEqual(await store.history(maple, 'Patient', 'no-such', { limit: 3 }), none);
});

test('the current versions of many resources at once', async () => {
  const keys = ['storied', 'phoenix', 'no-such', 'quo"te\\', 'storied'].map((id) => ({ type: 'Patient', id }));
  const found = await store.currentVersions(maple, [...keys, { type: 'Encounter', id: 'storied' }]);
  assert.deepEqual(
    found.toSorted((a, b) => a.versionId - b.versionId),
    [
      { type: 'Patient', id: 'phoenix', versionId: 3, deleted: false },
      { type: 'Patient', id: 'storied', versionId: 8, deleted: true },
      { type: 'Patient', id: 'storied', versionId: 8, deleted: true },
    ],
  );
  assert.deepEqual(await store.currentVersions(maple, []), []);
});

test('content comes back as it was stored', async () => {
  const contents = [
    '{}',
    '{"a":"\\u0000 \\" \\\\ \\n"}',
    '{"ä":"𝄞 NULL {} null, \'"}',
    ' \t\n{ "decimal" : 1.00 }',
    `{"long":"${'x'.repeat(3_000_000)}"}`,
    'NULL',
    '',
  ];
  for (const [index, text] of contents.entries()) {
    const write = resourceWrite(`verbatim-${index}`);
    if (text !== '') await store.write(maple, { ...write, content: boxStored(text) });
    else await store.write(maple, { ...write, content: null });
    const read = opened(await store.read(maple, 'Patient', `verbatim-${index}`));
    assert.deepEqual([read?.['content'], read?.['deleted']], [text, text === '']);
  }
});

test('each version and its audit row tell order, application and request', async () => {
  await owner.query(sql`TRUNCATE audit_event`);
  await store.write(maple, resourceWrite('audited'));
  await store.write(mapleOther, resourceWrite('audited', 1));
  const raised = await raiseOrderEpoch(owner);
  await store.write(maple, resourceDelete('audited', 2));
  const events = await owner.query(sql`
    SELECT a.firm, a.at, a.application, a.vid, a.rtype, a.outcome, a.interaction, a.id, a.subject, a.token_id, a.request_id, a.epoch
    FROM audit_ledger a JOIN resource_version v ON (v.firm, v.rtype, v.id, v.vid, v.xid, v.seq, v.epoch, v.application)
      = (a.firm, a.rtype, a.id, a.vid, a.xid, a.seq, a.epoch, a.application)
    ORDER BY a.epoch, a.xid, a.seq`);
  const [patient] = await owner.query<{ rtype: number }>(sql`SELECT DISTINCT rtype FROM resource WHERE id = 'audited'`);
  const event = (index: number, application: number, interaction: string, epoch: number) => ({
    firm: maple.firm,
    at: nowMs + index,
    application,
    vid: index + 1,
    rtype: patient?.rtype,
    outcome: 0,
    interaction,
    id: 'audited',
    subject: 'subject-1',
    token_id: 'token-1',
    request_id: `request-audited-${index}`,
    epoch,
  });
  assert.deepEqual(events, [
    event(0, maple.application, 'create', raised - 1),
    event(1, mapleOther.application, 'update', raised - 1),
    event(2, maple.application, 'delete', raised),
  ]);
});
