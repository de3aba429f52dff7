/**
 * Access entries over types and interactions, by real HTTP: what a call may do is what its token carries, the application
 * holds and the firm authorised, all three (docs/integrate/contract.md#access-entries). The oracle is the table of
 * letters below.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { appointment, encounter, patient } from '../support/records.ts';
import { insufficientScope } from '../support/refusals.ts';
import {
  type Answer,
  callerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const birch = await makeFirm(service, 'birch');

const held = [
  'acl/appmt_c',
  'acl/appmt_s',
  'acl/appmt_u',
  'acl/enc_r',
  'acl/pat_c',
  'acl/pat_r',
  'acl/pat_s',
  'acl/pat_u',
];
const atBirch = ['acl/appmt_s', 'acl/enc_r', 'acl/pat_r'];
const scoped = ['acl/appmt_c', 'acl/pat_s'];
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, birch]);
const vendor = await makeApplication(service, 'Vendor', held, [maple, birch]);
await authorise(database, clock, birch, vendor.application, { purpose: 'Less', acl: atBirch }, entryProblem);
const opaque = await makeApplication(
  service,
  'Opaque',
  ['acl/mynwscp', 'acl/pat_ef_m', 'acl/obsv_ef_r', 'acl/obsv_ef_s'],
  [maple],
);

const scopedToken = (
  await postForm(clientTokenUrl(service), { ...clientForm(vendor), scope: scoped.join(' ') }, vendor.clientKey)
).json.access_token;

const holders = [
  {
    name: 'operator',
    caller: callerOf(maple, await clientToken(service, operator), operator.clientKey),
    entries: ['acl/*'],
  },
  {
    name: 'vendor by client credentials',
    caller: callerOf(maple, await clientToken(service, vendor), vendor.clientKey),
    entries: held,
  },
  {
    name: 'vendor by the legacy flow',
    caller: callerOf(maple, await legacyToken(vendor, maple), vendor.legacyKey),
    entries: held,
  },
  {
    name: 'vendor at a firm that allows less',
    caller: callerOf(birch, await clientToken(service, vendor), vendor.clientKey),
    entries: atBirch,
  },
  {
    name: 'vendor there by the legacy flow',
    caller: callerOf(birch, await legacyToken(vendor, birch), vendor.legacyKey),
    entries: atBirch,
  },
  { name: 'vendor with a token for less', caller: callerOf(maple, scopedToken, vendor.clientKey), entries: scoped },
  {
    name: 'vendor with a token for less at a firm that allows less',
    caller: callerOf(birch, scopedToken, vendor.clientKey),
    entries: [],
  },
  {
    name: 'opaque entries, which grant nothing',
    caller: callerOf(maple, await clientToken(service, opaque), opaque.clientKey),
    entries: [],
  },
];

/** Code of the published entries; undefined: none opens the type without a row criterion. */
const codes: Readonly<Record<string, string | undefined>> = {
  Patient: 'pat',
  Encounter: 'enc',
  Appointment: 'appmt',
  Observation: undefined,
  Device: undefined,
};
const bodies: Readonly<Record<string, (id: string) => Readonly<Record<string, unknown>>>> = {
  Patient: (id) => ({ ...patient('Secret'), id }),
  Encounter: (id) => ({ ...encounter('Patient/one'), id }),
  Appointment: (id) => ({ ...appointment('Patient/one', '2026-11-21T10:00:00Z'), id }),
  Observation: (id) => ({ resourceType: 'Observation', id, status: 'final', code: { text: 'Secret' } }),
  Device: (id) => ({ resourceType: 'Device', id }),
};
const types = Object.keys(codes);

interface Row {
  readonly name: string;
  readonly method: string;
  readonly path: (type: string) => string;
  /** A body other than a resource, and its media type. */
  readonly sent?: { readonly body: string; readonly type: string };
  /** Id of the resource in the body. */
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Letters that are all needed, `/` between those of which one will do; `*`: only the operator's entry will do. */
  readonly needs: readonly string[];
  readonly success: number;
}

const byId = { body: '_id=one', type: 'application/x-www-form-urlencoded' };
const language = {
  body: '[{"op":"add","path":"/language","value":"en"}]',
  type: 'application/json-patch+json',
};

const rows: readonly Row[] = [
  { name: 'read', method: 'GET', path: (type) => `${type}/one`, needs: ['r'], success: 200 },
  { name: 'vread', method: 'GET', path: (type) => `${type}/one/_history/1`, needs: ['r'], success: 200 },
  { name: 'history of an instance', method: 'GET', path: (type) => `${type}/one/_history`, needs: ['r'], success: 200 },
  { name: 'history of a type', method: 'GET', path: (type) => `${type}/_history`, needs: ['*'], success: 200 },
  { name: 'search', method: 'GET', path: (type) => type, needs: ['s'], success: 200 },
  { name: 'search by POST', method: 'POST', path: (type) => `${type}/_search`, sent: byId, needs: ['s'], success: 200 },
  { name: 'create', method: 'POST', path: (type) => type, id: 'new', needs: ['c'], success: 201 },
  {
    name: 'conditional create',
    method: 'POST',
    path: (type) => type,
    id: 'new',
    headers: { 'if-none-exist': '_id=one' },
    needs: ['c', 's'],
    success: 200,
  },
  // A PUT replaces the whole resource, so whoever may not see the whole of it may not either.
  { name: 'update', method: 'PUT', path: (type) => `${type}/one`, id: 'one', needs: ['u', 'r/s'], success: 200 },
  {
    name: 'conditional update',
    method: 'PUT',
    path: (type) => `${type}?_id=one`,
    id: 'one',
    needs: ['u', 'r/s', 's'],
    success: 200,
  },
  { name: 'patch', method: 'PATCH', path: (type) => `${type}/one`, sent: language, needs: ['u'], success: 200 },
  {
    name: 'conditional patch',
    method: 'PATCH',
    path: (type) => `${type}?_id=one`,
    sent: language,
    needs: ['u', 's'],
    success: 200,
  },
  { name: 'delete', method: 'DELETE', path: (type) => `${type}/gone`, needs: ['*'], success: 204 },
  { name: 'conditional delete', method: 'DELETE', path: (type) => `${type}?_id=gone`, needs: ['*'], success: 204 },
];

function isAllowed(entries: readonly string[], type: string, needs: readonly string[]): boolean {
  return entries.includes('acl/*') || needs.every((need) => isHeld(entries, type, need));
}

function isHeld(entries: readonly string[], type: string, need: string): boolean {
  return need.split('/').some((letter) => entries.includes(`acl/${codes[type]}_${letter}`));
}

type Holder = (typeof holders)[number];

function call({ caller }: Holder, { method, path, sent, id, headers = {} }: Row, type: string): Promise<Answer> {
  if (sent !== undefined) return caller.send(method, path(type), sent.body, { ...headers, 'content-type': sent.type });
  return caller.send(method, path(type), id === undefined ? undefined : bodies[type]?.(id), headers);
}

for (const firm of [maple, birch]) {
  const caller = callerOf(firm, await clientToken(service, operator), operator.clientKey);
  for (const type of types) assert.equal((await caller.send('PUT', `${type}/one`, bodies[type]?.('one'))).status, 201);
}

test('denials: without the entry, 403 that names it, and nothing is written', async () => {
  const before = await tenantRows(service.database.owner);
  let refusals = 0;
  for (const holder of holders) {
    for (const type of types) {
      for (const row of rows.filter(({ needs }) => !isAllowed(holder.entries, type, needs))) {
        const answer = await call(holder, row, type);
        const name = `${holder.name}: ${row.name} ${type}`;
        assert.equal(answer.status, 403, name);
        assert.equal(answer.headers.get('www-authenticate'), insufficientScope, name);
        const [issue, ...more] = answer.json.issue;
        assert.deepEqual(more, [], name);
        assert.equal(issue.code, 'forbidden', name);
        assert.equal(issue.details.coding[0].code, 'access-denied', name);
        const missing = missingEntry(holder.entries, type, row.needs);
        assert.ok(issue.diagnostics.includes(missing), `${name}: ${issue.diagnostics} does not name ${missing}`);
        assert.ok(!answer.text.includes('Secret'), name);
        refusals += 1;
      }
    }
  }
  assert.ok(refusals > 200, String(refusals));
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

/** The words that the refusal must hold: an entry that would help, or what to do instead. */
function missingEntry(entries: readonly string[], type: string, needs: readonly string[]): string {
  const need = needs.find((each) => !isHeld(entries, type, each)) ?? '*';
  if (need === 'r/s') return 'use PATCH';
  const code = codes[type];
  const isPublished = code !== undefined && !(code === 'enc' && 'cu'.includes(need));
  return need === '*' || !isPublished ? 'acl/*' : `acl/${code}_${need}`;
}

test('with the entry each interaction does its work', async () => {
  let successes = 0;
  for (const holder of holders) {
    for (const type of types) {
      for (const row of rows.filter(({ needs }) => isAllowed(holder.entries, type, needs))) {
        const answer = await call(holder, row, type);
        assert.equal(answer.status, row.success, `${holder.name}: ${row.name} ${type}: ${answer.text}`);
        successes += 1;
      }
    }
  }
  assert.ok(successes > 60, String(successes));
});

test('the ledger is written by nobody, and a type without an endpoint is no type, whatever the entries', async () => {
  const before = await tenantRows(service.database.owner);
  for (const holder of holders) {
    for (const [method, path] of [
      ['POST', 'AuditEvent'],
      ['PUT', 'AuditEvent/one'],
      ['DELETE', 'AuditEvent/one'],
    ] as const) {
      const answer = await holder.caller.send(method, path, { resourceType: 'AuditEvent', id: 'one' });
      assert.equal(answer.status, 405, `${holder.name}: ${method} ${path}`);
      assert.equal(answer.headers.get('allow'), 'GET, HEAD');
    }
    for (const path of ['Parameters', 'Parameters/one', 'Patience', 'DomainResource/one']) {
      const answer = await holder.caller.get(path);
      assert.equal(answer.status, 404, `${holder.name}: ${path}`);
      assert.equal(answer.json.issue[0].details.coding[0].code, 'type-unknown');
    }
  }
  assert.deepEqual(await tenantRows(service.database.owner), before);
});
