/**
 * Every function of the store refuses a scope whose access epoch is no longer the stored one, and changes nothing
 * (docs/integrate/contract.md#credentials).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import * as holds from '../../src/practice/booking/holds.ts';
import * as occupancy from '../../src/practice/booking/occupancy.ts';
import * as calendars from '../../src/practice/calendars/store.ts';
import * as charges from '../../src/practice/charges/store.ts';
import * as contents from '../../src/practice/documents/store.ts';
import * as intake from '../../src/practice/intake/store.ts';
import * as waitlist from '../../src/practice/waiting-list/store.ts';
import type { StatementRunner } from '../../src/storage/statement-runner.ts';
import { firstPlace, openStore, type ResourceStore } from '../../src/storage/store.ts';
import type { TenantScope } from '../../src/tenancy/scope.ts';
import { openTestDatabase } from '../support/database.ts';
import { everything, indexRows, makeFirms, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple } = await makeFirms(owner);
const store = openStore(runtime);
await store.write(maple, resourceWrite('known', 0, { index: indexRows('known') }));

const pageOf = ({ firm, application }: TenantScope): Sql => sql`
  SELECT e.epoch, r.rtype, r.id, r.vid, r.lu, r.content, r.rid
  FROM access_epoch e LEFT JOIN resource r ON r.firm = ${firm} WHERE e.firm = ${firm} AND e.application = ${application}`;
const estimateOf = ({ firm, application }: TenantScope): Sql => sql`
  SELECT epoch, 1::bigint AS total, false AS sampled, false AS bounded
  FROM access_epoch WHERE firm = ${firm} AND application = ${application}`;

const countOf = ({ firm, application }: TenantScope): Sql => sql`
  SELECT e.epoch, (SELECT count(*) FROM resource WHERE firm = ${firm}) AS total
  FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;

const insertLock = ({ firm }: TenantScope): Sql => sql`INSERT INTO write_lock (firm, key) VALUES (${firm}, '')`;

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const calendar = {
  ...{ number: 1, version: 1, active: true, practitioner: '1', location: '1', content: '{}' },
  ...{ changedAtMs: 0, changedBy: 'praxis' },
};

const offered = { id: 'offered', createdMs: 0, expiresMs: 1, sizeMax: 1, announcedType: undefined };
const uploadedFile = {
  ...{ name: 'name', size: 1, mediaType: 'text/plain' },
  ...{ sha256: Buffer.alloc(32), sha1: Buffer.alloc(20) },
};
await contents.offerUpload(store, maple, offered, 2);
await contents.offerUpload(store, maple, { ...offered, id: 'uploaded' }, 2);
await contents.keepUpload(store, maple, 'uploaded', uploadedFile, 0);

const nothing = { replaces: [], nowMs: 0, expiresMs: 1, forced: false, choices: [] };
const heldSlot = (id: string) => ({ id, slot: '1', expiresMs: 1, renewals: 0 });
await occupancy.occupy(store, maple, { ...nothing, owner: 'Appointment/1', hold: heldSlot('1') });

type Call = (store: ResourceStore, scope: TenantScope) => Promise<unknown>;

/** What a module of a feature exports that takes a store. */
type FunctionOf<Module> = {
  [Name in keyof Module]: Module[Name] extends (store: StatementRunner, scope: TenantScope, ...rest: never) => unknown
    ? Name
    : never;
}[keyof Module];

/** One call of every function, of the store and of what features send through it; the compiler sees to it that none is missing. */
const calls: Record<
  | keyof ResourceStore
  | 'keepHold'
  | 'dropHold'
  | FunctionOf<
      typeof calendars &
        typeof charges &
        typeof contents &
        typeof holds &
        typeof intake &
        typeof occupancy &
        typeof waitlist
    >,
  Call
> = {
  run: (on, scope) => on.run(scope, countOf(scope)),
  change: (on, scope) => on.change(scope, [insertLock(scope)]),
  read: (on, scope) => on.read(scope, 'Patient', 'known'),
  exists: (on, scope) => on.exists(scope, 'Patient', 'known'),
  readVersion: (on, scope) => on.readVersion(scope, 'Patient', 'known', 1),
  history: (on, scope) => on.history(scope, 'Patient', 'known', { limit: 10 }),
  typeHistory: (on, scope) => on.typeHistory(scope, 'Patient', { limit: 10 }),
  systemHistory: (on, scope) => on.systemHistory(scope, { limit: 10 }),
  currentVersions: (on, scope) => on.currentVersions(scope, [{ type: 'Patient', id: 'known' }]),
  write: (on, scope) => on.write(scope, resourceWrite('new', 0, { index: indexRows('new') })),
  writeMany: (on, scope) => on.writeMany(scope, [resourceWrite('new'), resourceWrite('known', 1)]),
  createMany: (on, scope) => on.createMany(scope, [resourceWrite('new')]),
  transaction: (on, scope) => on.transaction(scope, (inside) => inside.write(scope, resourceWrite('new'))),
  exclusively: (on, scope) => on.exclusively(scope, 'name', (inside) => inside.write(scope, resourceWrite('new'))),
  changes: (on, scope) => on.changes(scope, { after: firstPlace, limit: 10, types: undefined, comparedTypes: [] }),
  once: (on, scope) =>
    on.once(scope, { key: Buffer.alloc(32), request: Buffer.alloc(32), policy: '', atMs: 0 }, async (inside) => ({
      answer: await inside.write(scope, resourceWrite('new')),
      keep: { status: 201, facts: {}, body: undefined },
    })),
  keptAnswer: (on, scope) => on.keptAnswer(scope, Buffer.alloc(32), 0),
  placeSince: (on, scope) => on.placeSince(scope, 0),
  completeUntil: (on, scope) => on.completeUntil(scope),
  readCalendars: (on, scope) => calendars.readCalendars(on, scope),
  findCalendarVersions: (on, scope) => calendars.findCalendarVersions(on, scope, 1),
  putCalendar: (on, scope) => calendars.putCalendar(on, scope, calendar, ['Practitioner/1']),
  readHolidays: (on, scope) => calendars.readHolidays(on, scope),
  findHolidayVersions: (on, scope) => calendars.findHolidayVersions(on, scope, ''),
  putHolidays: (on, scope) => calendars.putHolidays(on, scope, calendar, ['Practitioner/1']),
  findBusyIntervals: (on, scope) =>
    occupancy.findBusyIntervals(on, scope, ['Practitioner/1'], { startMs: 0, endMs: 1 }, 0),
  findParticipants: (on, scope) => occupancy.findParticipants(on, scope, 'hold/1'),
  findBookableActors: (on, scope) => occupancy.findBookableActors(on, scope, ['Practitioner/1']),
  findHold: (on, scope) => holds.findHold(on, scope, '1', 0),
  countHolds: (on, scope) => holds.countHolds(on, scope, 0),
  occupy: (on, scope) => occupancy.occupy(on, scope, { ...nothing, owner: 'Appointment/1' }),
  keepHold: (on, scope) => occupancy.occupy(on, scope, { ...nothing, owner: 'Appointment/1', hold: heldSlot('2') }),
  dropHold: (on, scope) => occupancy.occupy(on, scope, { ...nothing, owner: 'hold/1' }),
  releaseCharge: (on, scope) => charges.releaseCharge(on, scope, 'c'),
  noteCharge: (on, scope) =>
    charges.noteCharge(on, scope, { charge: 'c', transaction: 't', application: 1, receivedMs: 0 }),
  findInboundCharges: (on, scope) => charges.findInboundCharges(on, scope, { fromMs: 0, toMs: 1 }, 10),
  awaitsAcceptance: (on, scope) => intake.awaitsAcceptance(on, scope, 'Coverage'),
  findIntakeRules: (on, scope) => intake.findIntakeRules(on, scope),
  addIntakeRule: (on, scope) => intake.addIntakeRule(on, scope, { type: 'Coverage', application: undefined }),
  removeIntakeRule: (on, scope) => intake.removeIntakeRule(on, scope, { type: 'Coverage', application: undefined }),
  addProposal: (on, scope) =>
    intake.addProposal(on, scope, {
      ...{ task: 't', type: 'Coverage', target: undefined },
      ...{ base: 0, proposedAtMs: 0, proposed: '{}' },
    }),
  closeProposal: (on, scope) => intake.closeProposal(on, scope, 't'),
  findProposal: (on, scope) => intake.findProposal(on, scope, 't'),
  findWaitingProposals: (on, scope) => intake.findWaitingProposals(on, scope, 10),
  decideProposal: (on, scope) =>
    intake.decideProposal(on, scope, { task: 't', target: undefined, closed: true, decided: '{}' }),
  keepWaiting: (on, scope) => waitlist.keepWaiting(on, scope, { appointment: '1', priority: 1, sinceMs: 0 }),
  dropWaiting: (on, scope) => waitlist.dropWaiting(on, scope, '1'),
  findStandingOffer: (on, scope) => waitlist.findStandingOffer(on, scope, '1'),
  keepOffer: (on, scope) => waitlist.keepOffer(on, scope, '1', { slot: '1', expiresMs: 1, added: ['Practitioner/1'] }),
  endOffer: (on, scope) => waitlist.endOffer(on, scope, '1'),
  findEndedOffers: (on, scope) => waitlist.findEndedOffers(on, scope, 0, 1),
  noteFreed: (on, scope) => waitlist.noteFreed(on, scope, [{ actor: 'Practitioner/1', startMs: 0, endMs: 1 }], 0),
  takeFreed: (on, scope) => waitlist.takeFreed(on, scope),
  findWaiting: (on, scope) => waitlist.findWaiting(on, scope, undefined, 1),
  findUnlisted: (on, scope) => waitlist.findUnlisted(on, scope, 1),
  offerUpload: (on, scope) =>
    contents.offerUpload(on, scope, { id: '1', createdMs: 0, expiresMs: 1, sizeMax: 1, announcedType: undefined }, 3),
  findUploadOffer: (on, scope) => contents.findUploadOffer(on, scope, offered.id),
  announceObject: (on, scope) => contents.announceObject(on, scope, 'name', 0),
  keepUpload: (on, scope) => contents.keepUpload(on, scope, offered.id, uploadedFile, 0),
  findUploaded: (on, scope) => contents.findUploaded(on, scope, ['uploaded']),
  adoptContent: (on, scope) => contents.adoptContent(on, scope, 'adopted', { ...uploadedFile, name: 'adopted' }, 0),
  lockContents: (on, scope) => contents.lockContents(on, scope, [offered.id]),
  findContentHolders: (on, scope) => contents.findContentHolders(on, scope, [offered.id]),
  holdContents: (on, scope) => contents.holdContents(on, scope, ['uploaded'], 'Patient/known', undefined),
  findShownContent: (on, scope) => contents.findShownContent(on, scope, offered.id, 'Patient/known', 0),
  failParameters: (on, scope) => on.failParameters(scope, []),
  parameterStandings: (on, scope) => on.parameterStandings(scope),
  selectPage: (on, scope) => on.selectPage(scope, pageOf(scope)),
  selectLedger: (on, scope) => on.selectLedger(scope, pageOf(scope)),
  selectCount: (on, scope) => on.selectCount(scope, countOf(scope)),
  selectEstimate: (on, scope) => on.selectEstimate(scope, estimateOf(scope)),
  stream: (on, scope) => collect(on.stream(scope)),
  portion: (on, scope) => on.portion(scope, { type: undefined, after: undefined, limit: 10, bytesMax: 1_000 }),
};

const isStale = (error: unknown): boolean => error instanceof PraxisError && error.code === 'stale-access';

const wrongScopes: readonly (readonly [string, TenantScope])[] = [
  ['an older epoch', { ...maple, epoch: maple.epoch - 1 }],
  ['a later epoch', { ...maple, epoch: maple.epoch + 1 }],
  ['an application that the firm never authorised', { ...maple, application: 999_999 }],
  ['a firm that does not exist', { ...maple, firm: 999_999 }],
];

for (const [why, scope] of wrongScopes) {
  for (const [name, call] of Object.entries(calls)) {
    test(`${name} with ${why} fails with stale-access and changes nothing`, async () => {
      const before = await everything(owner);
      await assert.rejects(call(store, scope), isStale);
      assert.deepEqual(await everything(owner), before);
    });
  }
}

test('a revocation acts on the next statement, and a new scope works again', async () => {
  assert.equal(await store.exists(maple, 'Patient', 'known'), true);
  await owner.query(
    sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE firm = ${maple.firm} AND application = ${maple.application}`,
  );
  for (const call of Object.values(calls)) await assert.rejects(call(store, maple), isStale);
  assert.equal(await store.exists({ ...maple, epoch: maple.epoch + 1 }, 'Patient', 'known'), true);
  assert.equal(await store.exists({ ...maple, epoch: maple.epoch + 1 }, 'Patient', 'new'), false);
});

test('a revocation in the middle of a transaction undoes what it had written', async () => {
  const scope = { ...maple, epoch: maple.epoch + 1 };
  /** Every table but that of the epochs, which the test itself writes to. */
  const others = async (): Promise<object> =>
    Object.fromEntries(Object.entries(await everything(owner)).filter(([table]) => table !== 'access_epoch'));
  const before = await others();
  const work = store.transaction(scope, async (inside) => {
    assert.deepEqual(await inside.write(scope, resourceWrite('undone')), { outcome: 'written', versionId: 1 });
    await owner.query(
      sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE firm = ${maple.firm} AND application = ${maple.application}`,
    );
    await inside.write(scope, resourceWrite('undone', 1));
  });
  await assert.rejects(work, isStale);
  assert.deepEqual(await others(), before);
});

test('a change that waits while the rights are revoked is undone', async () => {
  const [row] = await owner.query<{ epoch: number }>(
    sql`SELECT epoch FROM access_epoch WHERE firm = ${maple.firm} AND application = ${maple.application}`,
  );
  const scope = { ...maple, epoch: row?.epoch ?? 0 };
  await store.change(scope, [insertLock(scope)]);
  const before = await everything(owner);
  let change: Promise<unknown> | undefined;
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`UPDATE write_lock SET key = key WHERE firm = ${maple.firm}`);
    change = store.change(scope, [sql`DELETE FROM write_lock WHERE firm = ${maple.firm}`]);
    change.catch(() => undefined);
    await tx.query(
      sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE firm = ${maple.firm} AND application = ${maple.application}`,
    );
  });
  await assert.rejects(change ?? Promise.resolve(), isStale);
  const { access_epoch: _before, ...others } = before;
  const { access_epoch: _after, ...now } = await everything(owner);
  assert.deepEqual(now, others);
});
