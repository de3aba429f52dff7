/**
 * Every published access entry, alone, over every interaction and every resource type, by HTTP: the entries are those of
 * the registry, what each allows is the published table (`../access/published-entries.ts`), written down apart from it.
 * All types come as entries of a batch, which pass where requests do; the types of the vocabulary as requests of their own.
 * Slow: asks every interaction of every type under every access entry.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { knownEntries, ownEntries } from '../../src/access/registry.ts';
import { examplesOf } from '../access/official-examples.ts';
import { grantedBy, publishedCodes, publishedEntries } from '../access/published-entries.ts';
import { insufficientScope } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after }, { PRAXIS_BODY_BYTES_MAX: '20000000' });
const maple = await makeFirm(service, 'maple');

interface Asked {
  readonly interaction: string;
  readonly method: string;
  readonly path: (type: string) => string;
  /** The body: a resource of the type, or a patch. */
  readonly sends?: 'resource' | 'patch';
  readonly ifNoneExist?: string;
  /** Letters that are all needed; `/` between those of which one will do; `*`: only the operator's entry will do. */
  readonly needs: readonly string[];
  /** Asked of the ledger, which nobody writes: 405. */
  readonly writes?: true;
}

const asked: readonly Asked[] = [
  { interaction: 'read', method: 'GET', path: (type) => `${type}/one`, needs: ['r'] },
  { interaction: 'vread', method: 'GET', path: (type) => `${type}/one/_history/1`, needs: ['r'] },
  { interaction: 'history-instance', method: 'GET', path: (type) => `${type}/one/_history`, needs: ['r'] },
  { interaction: 'history-type', method: 'GET', path: (type) => `${type}/_history`, needs: ['*'] },
  { interaction: 'search-type', method: 'GET', path: (type) => `${type}?_id=one`, needs: ['s'] },
  { interaction: 'create', method: 'POST', path: (type) => type, sends: 'resource', needs: ['c'], writes: true },
  {
    interaction: 'create, conditional',
    method: 'POST',
    path: (type) => type,
    sends: 'resource',
    ifNoneExist: '_id=one',
    needs: ['c', 's'],
    writes: true,
  },
  {
    interaction: 'update',
    method: 'PUT',
    path: (type) => `${type}/one`,
    sends: 'resource',
    needs: ['u', 'r/s'],
    writes: true,
  },
  {
    interaction: 'conditional-update',
    method: 'PUT',
    path: (type) => `${type}?_id=one`,
    sends: 'resource',
    needs: ['u', 's'],
    writes: true,
  },
  { interaction: 'patch', method: 'PATCH', path: (type) => `${type}/one`, sends: 'patch', needs: ['u'], writes: true },
  {
    interaction: 'conditional-patch',
    method: 'PATCH',
    path: (type) => `${type}?_id=one`,
    sends: 'patch',
    needs: ['u', 's'],
    writes: true,
  },
  { interaction: 'delete', method: 'DELETE', path: (type) => `${type}/one`, needs: ['*'], writes: true },
  {
    interaction: 'conditional-delete',
    method: 'DELETE',
    path: (type) => `${type}?_id=one`,
    needs: ['*'],
    writes: true,
  },
];

/** Entry → the `type.letter` that it grants; the other way round, all that grant it. */
const granted = new Map(publishedEntries.map((entry) => [entry, grantedBy(entry)]));
const granting = Map.groupBy([...publishedEntries, ...ownEntries], (entry) =>
  ownEntries.includes(entry) ? `Subscription.${entry.slice(-1)}` : granted.get(entry),
);

/** The letters of which one alone opens the interaction; none for those that need several, or the operator's entry. */
function opening({ needs: [need = '', ...more] }: Asked): readonly string[] {
  return more.length > 0 ? [] : need.split('/');
}

function isAllowed(entry: string, ask: Asked, type: string): boolean {
  const right = granted.get(entry);
  return right !== undefined && opening(ask).some((letter) => right === `${type}.${letter}`);
}

/** An entry that the refusal must name: one that has a meaning and grants a letter that is missing. */
function missingEntries(entry: string, { needs }: Asked, type: string): readonly string[] {
  const right = granted.get(entry);
  const lacking = needs.find((need) => !need.split('/').some((letter) => right === `${type}.${letter}`)) ?? '*';
  return granting.get(`${type}.${lacking.split('/')[0]}`) ?? ['acl/*'];
}

/** Sets an element whatever it was, so that it needs no letter but `u`. */
const patch = JSON.stringify([{ op: 'add', path: '/language', value: 'en' }]);
const patchType = 'application/json-patch+json';

/** The smallest official example of a type that has one; else what is no valid resource, and so is never stored. */
const bodies = new Map(
  resourceTypesWithEndpoint.map((type) => {
    const smallest = examplesOf(type)
      .map(({ text }) => text)
      .toSorted((a, b) => a.length - b.length)
      .find((text) => JSON.parse(text).resourceType === type);
    return [type, { resourceType: type, ...(smallest === undefined ? {} : JSON.parse(smallest)), id: 'one' }];
  }),
);

/** What is sent; bodies that could not be valid are left out of conditional creates, which look at them first. */
function resourceOf({ sends, interaction }: Asked, type: string): object | undefined {
  if (sends !== 'resource') return undefined;
  return interaction.includes('create') ? bodies.get(type) : { resourceType: type, id: 'one' };
}

const direct = [...new Set(publishedCodes.map(({ type }) => type).filter((type) => type !== '-')), 'Binary', 'Device'];

const callers = new Map<string, Caller>();
for (const [index, entry] of publishedEntries.entries()) {
  callers.set(
    entry,
    await openCaller(service, await makeApplication(service, `Holder ${index}`, [entry], [maple]), maple),
  );
}

function callerOf(entry: string): Caller {
  const caller = callers.get(entry);
  if (caller === undefined) throw new Error(`no caller with ${entry}`);
  return caller;
}

/** Runs the work of all entries, some at once. */
async function forEachEntry(work: (entry: string, caller: Caller) => Promise<void>): Promise<void> {
  const waiting = [...publishedEntries];
  const worker = async (): Promise<void> => {
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) await work(entry, callerOf(entry));
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

test('the registry holds the published entries', () => {
  assert.equal(publishedEntries.length, 104);
  assert.deepEqual(knownEntries.toSorted(), [...publishedEntries, ...ownEntries].toSorted());
});

test('denials: requests of the types of the vocabulary, each refusal in full', async () => {
  const before = await tenantRows(service.database.owner);
  let refusals = 0;
  await forEachEntry(async (entry, caller) => {
    // Its own type and three others, which are other ones for each entry.
    const own = granted.get(entry)?.split('.')[0] ?? 'Observation';
    const at = publishedEntries.indexOf(entry);
    const others = [0, 1, 2].map((step) => direct[(at * 3 + step) % direct.length] ?? 'Device');
    for (const type of new Set([own, ...others])) {
      for (const ask of asked.filter((each) => !isAllowed(entry, each, type) && !needsValidBody(entry, each, type))) {
        const answer = await send(caller, ask, type);
        assertDenied(answer, missingEntries(entry, ask, type), `${entry}: ${ask.interaction} ${type}`);
        refusals += 1;
      }
    }
  });
  assert.ok(refusals > 4_000, String(refusals));
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

/** Whose body is looked at before the missing letter is. */
function needsValidBody(entry: string, { interaction, needs }: Asked, type: string): boolean {
  return interaction === 'create, conditional' && granted.get(entry) === `${type}.${needs[0]}`;
}

function send(caller: Caller, ask: Asked, type: string): Promise<Answer> {
  if (ask.sends === 'patch') return caller.send(ask.method, ask.path(type), patch, { 'content-type': patchType });
  const headers: Record<string, string> = ask.ifNoneExist === undefined ? {} : { 'if-none-exist': ask.ifNoneExist };
  return caller.send(ask.method, ask.path(type), resourceOf(ask, type), headers);
}

function assertDenied(answer: Answer, missing: readonly string[], name: string): void {
  assert.equal(answer.status, 403, `${name}: ${answer.text}`);
  assert.equal(answer.headers.get('www-authenticate'), insufficientScope, name);
  assertOutcome(answer.json, missing, name);
}

/** The OperationOutcome of a refusal: one issue, which names an entry that helps and who grants it. */
// biome-ignore lint/suspicious/noExplicitAny: a body of the wire.
function assertOutcome(outcome: any, missing: readonly string[], name: string): void {
  const [issue, ...more] = outcome.issue;
  assert.deepEqual(more, [], name);
  assert.equal(issue.severity, 'error', name);
  assert.equal(issue.code, 'forbidden', name);
  assert.equal(issue.details.coding[0].code, 'access-denied', name);
  assert.equal(issue.details.text, issue.diagnostics, name);
  for (const entry of missing)
    assert.ok(issue.diagnostics.includes(entry), `${name}: ${issue.diagnostics} lacks ${entry}`);
  assert.match(issue.diagnostics, /the practice|the operator of the service/, name);
}

test('denials: all types and interactions, as entries of a batch', async () => {
  let refusals = 0;
  let openings = 0;
  await forEachEntry(async (entry, caller) => {
    const asks = resourceTypesWithEndpoint.flatMap((type) => asked.map((ask) => ({ ask, type })));
    const answer = await caller.send('POST', '', {
      resourceType: 'Bundle',
      type: 'batch',
      entry: asks.map(({ ask, type }) => batchEntry(ask, type)),
    });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    for (const [index, { ask, type }] of asks.entries()) {
      const { status, outcome } = answer.json.entry[index].response;
      const name = `${entry}: ${ask.interaction} ${type}`;
      const code = status.slice(0, 3);
      if (type === 'AuditEvent' && ask.writes) {
        assert.equal(code, '405', name);
      } else if (isAllowed(entry, ask, type)) {
        assert.notEqual(code, '403', name);
        openings += 1;
      } else {
        const { diagnostics } = outcome.issue[0];
        const isNamed = missingEntries(entry, ask, type).every((missing) => diagnostics.includes(missing));
        assert.ok(code === '403' && isNamed, isNamed ? `${name}: ${code}` : `${name}: ${diagnostics}`);
        refusals += 1;
      }
    }
  });
  const all = publishedEntries.length * resourceTypesWithEndpoint.length * asked.length;
  const ofLedger = publishedEntries.length * asked.filter(({ writes }) => writes).length;
  assert.equal(refusals + openings, all - ofLedger);
  const allowing = publishedEntries.flatMap((entry) =>
    asked.filter((ask) => opening(ask).some((letter) => granted.get(entry)?.endsWith(`.${letter}`))),
  );
  assert.equal(openings, allowing.length);
});

function batchEntry(ask: Asked, type: string): object {
  const { method, path, ifNoneExist } = ask;
  const ofPatch = { resourceType: 'Binary', contentType: patchType, data: btoa(patch) };
  const resource = ask.sends === 'patch' ? ofPatch : resourceOf(ask, type);
  return {
    ...(resource === undefined ? {} : { resource }),
    request: { method, url: path(type), ...(ifNoneExist === undefined ? {} : { ifNoneExist }) },
  };
}

test('denials: the whole system, and transactions without the entry of their kind', async () => {
  const payloads = ['DiagnosticReport', 'AllergyIntolerance', 'MedicationStatement', 'Appointment', 'Patient'];
  const before = await tenantRows(service.database.owner);
  await forEachEntry(async (entry, caller) => {
    const history = await caller.get('_history');
    assertDenied(history, ['acl/*'], `${entry}: history of the system`);
    const search = await caller.get('?_type=Patient,Encounter');
    const isOpen = granted.get(entry)?.endsWith('.s') ?? false;
    if (!isOpen) assertDenied(search, ['acl/appmt_s'], `${entry}: search of the system`);
    for (const type of payloads) {
      const answer = await caller.send('POST', '', {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [{ resource: bodies.get(type), request: { method: 'POST', url: type } }],
      });
      const name = `${entry}: transaction of ${type}`;
      const kinds = opensTransaction(entry, type) ? [`acl/${codeOf(type)}_c`] : ['acl/trans_bndl_post'];
      assertDenied(answer, kinds, name);
    }
  });
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

function codeOf(type: string): string {
  return publishedCodes.find((row) => row.type === type)?.code ?? '';
}

/** By its name: `trans_bndl_{code}_…`; medication statements are spelled differently there. */
function opensTransaction(entry: string, type: string): boolean {
  if (entry === 'acl/trans_bndl_post') return true;
  const code = codeOf(type) === 'med_state' ? 'med_stmt' : codeOf(type);
  return entry.startsWith(`acl/trans_bndl_${code}_`);
}

test('with its entry each interaction is carried out', async () => {
  const operator = await openCaller(service, await makeApplication(service, 'Operator', ['acl/*'], [maple]), maple);
  const meeting: Readonly<Record<string, object>> = {
    Organization: { type: [{ coding: [{ code: 'pay' }] }] },
    Task: { code: { coding: [{ code: 'PMRECALL' }] } },
  };
  for (const type of direct) {
    const resource = { ...bodies.get(type), ...meeting[type] };
    const answer = await operator.send('PUT', `${type}/one`, resource);
    assert.ok(answer.status < 300, `${type}: ${answer.text}`);
  }
  let successes = 0;
  await forEachEntry(async (entry, caller) => {
    const [type] = granted.get(entry)?.split('.') ?? [];
    if (type === undefined) return;
    for (const ask of asked.filter((each) => isAllowed(entry, each, type))) {
      const answer: Answer = await send(caller, ask, type);
      const name: string = `${entry}: ${ask.interaction} ${type}: ${answer.text.slice(0, 300)}`;
      assert.equal(answer.status, ask.interaction === 'create' ? 201 : 200, name);
      if (ask.interaction === 'search-type') assert.equal(answer.json.entry.length, 1, name);
      successes += 1;
    }
  });
  assert.ok(successes > 100, String(successes));
});
