/**
 * Two services that hold the same for a caller with restricted rights, and differ in everything hidden from it: what the
 * tests of leaks ask both.
 */
import assert from 'node:assert/strict';
import { sql } from '../../src/database/sql.ts';
import { makeSlotIds } from '../../src/practice/calendars/slots/slot-id.ts';
import { getTypeNumber } from '../../src/search/numbers.ts';
import { type StoredOperatorRows, setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { keepCalendar } from '../practice/calendars/world.ts';
import type { Lifetime } from '../support/database.ts';
import { untilTold } from '../support/follower.ts';
import {
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestFirm,
  type TestService,
} from '../support/service.ts';
import { hiddenFromNames, hiddenRows, type Sample, type Secret, secrets } from './hidden-records.ts';

export { type Secret, secrets };

export const callerNames = [
  'names',
  'writer',
  'recalls',
  'scoped',
  'described',
  'filtered',
  'clerk',
  'stranger',
  'outsider',
] as const;
/** Callers without the right to what differs, each at the firm where it asks. */
export type CallerName = (typeof callerNames)[number];

export interface World {
  readonly origin: string;
  readonly callers: Readonly<Record<CallerName, Caller>>;
  /** Those who may see everything: that the worlds differ shows in what they are told. */
  readonly entitled: readonly Caller[];
}

/** Opens a service that holds `secret`; everything else is the same, whatever the secret. */
export async function openWorld(lifetime: Lifetime, secret: Secret): Promise<World> {
  const service = await openTestService(lifetime);
  const maple = await makeFirm(service, 'maple');
  const birch = await makeFirm(service, 'birch');
  const rowan = await makeFirm(service, 'rowan');
  const cedar = await makeFirm(service, 'cedar');
  const opened = async (
    name: string,
    acl: readonly string[],
    firm: typeof maple,
    rows: StoredOperatorRows = {},
  ): Promise<Caller> => {
    const application = await makeApplication(service, name, acl, [firm]);
    await setOperatorRows(service.platform.database, firm, application.application, rows);
    return await openCaller(service, application, firm);
  };
  const entitled = [
    await opened('Maple', ['acl/*'], maple),
    await opened('Birch', ['acl/*'], birch),
    await opened('Rowan', ['acl/*'], rowan),
  ] as const;
  const stranger = await opened('Stranger', ['acl/*'], cedar);
  await fill(entitled[0], hiddenFromNames(secret));
  // Search parameters that the service is taking up raise the epochs of access.
  await service.service.jobs.settle();
  await keepSlots(service, maple, secret);
  const keyed = { resourceType: 'Basic', id: 'keyed', code: { text: 'keyed' } };
  await entitled[0].send('PUT', 'Basic/keyed', keyed, { 'idempotency-key': `"${secret}"` });
  for (const [caller, type] of [
    [entitled[1], 'ServiceRequest'],
    [entitled[2], 'Task'],
  ] as const) {
    await fill(caller, hiddenRows(type, secret));
    if (secret !== 'alpha') continue;
    await fill(caller, [{ ...(await caller.get(`${type}/only`)).json, id: 'gone' }]);
    assert.equal((await caller.send('DELETE', `${type}/gone`)).status, 204);
  }
  await fill(stranger, [{ resourceType: 'Patient', id: 'own', name: [{ family: 'Cedar' }] }]);
  await service.service.jobs.settle();
  await untilTold(service.database.owner);
  const { headers } = stranger;
  return {
    origin: service.origin,
    entitled,
    callers: {
      names: await opened('Names', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], maple),
      writer: await opened('Writer', writing, maple),
      recalls: await opened('Recalls', ['acl/tsk_pmrecall_s', 'acl/pat_s', 'acl/enc_s'], rowan),
      scoped: await opened('Scoped', ['system/Task.crus?code=PMRECALL', 'system/Patient.rs', 'acl/enc_s'], rowan),
      described: await opened('Described', ['acl/serv_req_r', 'acl/serv_req_s', 'acl/serv_req_u'], birch, {
        serv_req: { criteria: [{ parameter: 'category', values: ['PATHOLOGY'] }], elements: ['status', 'category'] },
      }),
      filtered: await opened('Filtered', ['acl/*', 'acl/lab_type_path'], birch),
      clerk: await opened('Clerk', ['acl/appmt_r', 'acl/appmt_s', 'acl/appmt_u', 'acl/pat_r_name_dob_gen'], maple, {
        appmt: { criteria: [{ parameter: 'status', values: ['waitlist'] }], elements: ['status', 'start'] },
      }),
      stranger,
      outsider: { ...outside(stranger, maple.base), headers },
    },
  };
}

/** The id of a hold that the entitled application has in one world. */
export const knownHold = '11111111-1111-4111-8111-111111111111';

/** The id of a proposal that the entitled application has made in one world. */
export const knownProposal = '22222222-2222-4222-8222-222222222222';

/** The id of a subscription that the entitled application has in one world. */
export const knownSubscription = '33333333-3333-4333-8333-333333333333';

/** A slot of Monday, 23 November 2026, that there is in one world: that of firm and calendar 1, as the worlds have them. */
export const knownSlot = makeSlotIds(1, 1, 'alpha')(Date.UTC(2026, 10, 23, 15));

/** A calendar whose slots are for the secret, and in one world a hold. */
async function keepSlots(service: TestService, firm: TestFirm, secret: Secret): Promise<void> {
  await keepCalendar(service.platform, firm, {
    practitioner: 'doctor',
    location: 'room',
    appointmentTypes: [{ code: secret, minutes: 30 }],
    weekly: [{ days: ['mon'], from: '00:00', to: '24:00', capacity: 2 }],
  });
  if (secret !== 'alpha') return;
  await service.database.owner.query(sql`
    INSERT INTO slot_hold (firm, id, application, slot, expires)
    SELECT ${firm.id}, ${knownHold}, id, ${knownSlot}, ${service.clock.now() + 86_400_000} FROM application WHERE name = 'Maple'`);
  await service.database.owner.query(sql`
    INSERT INTO intake_proposal (proposed_at, firm, application, base, rtype, task, proposed)
    SELECT ${service.clock.now()}, ${firm.id}, id, 0, ${getTypeNumber('Coverage')}, ${knownProposal}, '{"status":"active"}'
    FROM application WHERE name = 'Maple'`);
  const endpoint = { endpoint: 'https://subscriber.example.com', content: 'empty', headers: [] };
  const definition = { type: 'Patient', criteria: [], filters: [], maxCount: 1, timeoutSeconds: 1, ...endpoint };
  await service.database.owner.query(sql`
    INSERT INTO subscription (created, firm, application, id, status, definition)
    SELECT ${service.clock.now()}, ${firm.id}, id, ${knownSubscription}, 'requested', ${sql.json(definition)}::jsonb
    FROM application WHERE name = 'Maple'`);
  await service.database.owner.query(sql`
    INSERT INTO waitlist_offer (firm, appointment, slot, expires, added)
    SELECT ${firm.id}, appointment, ${knownSlot}, ${service.clock.now() + 86_400_000}, '{}'
    FROM unnest(ARRAY['accepting', 'declining']) AS appointment`);
}

/** May change patients and create them, and read of them no more than names, dates of birth and gender. */
const writing = [
  'acl/enc_s',
  'acl/pat_c',
  'acl/pat_u',
  'acl/pat_r_name_dob_gen',
  'acl/pat_s_name_dob_gen',
  'acl/trans_bndl_post',
];

/** The same token, at a firm that never authorised it. */
function outside(caller: Caller, base: string): Pick<Caller, 'get' | 'send'> {
  const at = (path: string): string => (path.startsWith('http') ? path : `${base}/${path}`);
  return {
    get: (path, headers) => caller.get(at(path), headers),
    send: (method, path, body, headers) => caller.send(method, at(path), body, headers),
  };
}

async function fill(caller: Caller, records: readonly Sample[]): Promise<void> {
  for (const record of records) {
    const answer = await caller.send('PUT', `${record.resourceType}/${record.id}`, record);
    assert.equal(answer.status, 201, answer.text);
  }
}
