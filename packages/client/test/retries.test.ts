/** What is repeated, how long is waited, and that a write has one effect whatever becomes of its answers. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  type Clock,
  ConflictError,
  connect,
  type Hooks,
  InvalidError,
  NoAnswerError,
  RateLimitError,
  type RetryEvent,
  ServiceError,
} from '@praxis/client';
import { clientTokenUrl, makeApplication } from '../../server/test/support/service.ts';
import { openUnreliableProxy } from '../../server/test/support/unreliable-proxy.ts';
import { clientCredentialsOf, openWorld, recordFetch } from './world.ts';

const limit = 10;
const settings = { PRAXIS_RATE_LIMIT: String(limit), PRAXIS_FIRM_RATE_LIMIT: '100000' };
const { service, maple } = await openWorld({ after }, { settings });

/** A connection of an application of its own, at the beginning of a minute. */
async function connectNew(name: string, more: Partial<Parameters<typeof connect>[0]> = {}) {
  const application = await makeApplication(service, name, ['acl/*'], [maple]);
  service.clock.advance(60_000 - (service.clock.now() % 60_000));
  const waits: number[] = [];
  const clock: Clock = {
    now: () => service.clock.now(),
    async sleep(ms) {
      waits.push(ms);
      service.clock.advance(ms);
    },
  };
  const recorded = recordFetch();
  const credentials = { ...clientCredentialsOf(application), tokenUrl: clientTokenUrl(service) };
  const praxis = connect({ base: maple.base, credentials, clock, fetch: recorded.fetch, ...more });
  return { ...recorded, credentials, clock, praxis, waits };
}

/** Answers in place of the service, one after the other. Tokens come from the service. */
function answerWith(answers: readonly (() => Response)[]): typeof fetch {
  const left = [...answers];
  return async (input, init) => {
    const isData = String(input).startsWith(`${maple.base}/Patient`);
    return (isData ? left.shift()?.() : undefined) ?? (await fetch(input, init));
  };
}

const outcome =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  () =>
    new Response('{"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"transient"}]}', {
      status,
      headers: { 'content-type': 'application/fhir+json', 'x-request-id': 'r-1', ...headers },
    });

test('a used-up rate is waited for as long as Retry-After says', async () => {
  const { praxis, waits } = await connectNew('Patient one');
  for (let call = 0; call < limit + 2; call += 1) await praxis.search('Patient').first();
  assert.deepEqual(waits, [60_000]);
});

test('a Retry-After beyond the total time ends the call at once', async () => {
  const { praxis, waits } = await connectNew('Hasty one', { retry: { totalMs: 59_999 } });
  const calls = async () => {
    for (let call = 0; call < limit + 2; call += 1) await praxis.search('Patient').first();
  };
  await assert.rejects(calls(), (error) => {
    assert.ok(error instanceof RateLimitError);
    assert.deepEqual([error.code, error.status, error.retryAfterMs], ['rate-exceeded', 429, 60_000]);
    return true;
  });
  assert.deepEqual(waits, []);
});

for (const { name, answers, waited } of [
  { name: '503 with seconds', answers: [outcome(503, { 'retry-after': '7' })], waited: [7_000] },
  { name: '500 and 502 without a time', answers: [outcome(500), outcome(502)], waited: ['short', 'short'] },
  { name: '409 with seconds', answers: [outcome(409, { 'retry-after': '1' })], waited: [1_000] },
] as const) {
  test(`${name} is repeated, with one Idempotency-Key`, async () => {
    const recorded = recordFetch(answerWith(answers));
    const { praxis, waits } = await connectNew(name, { fetch: recorded.fetch });
    const saved = await praxis.create({ resourceType: 'Patient', name: [{ family: 'Repeated' }] });
    assert.equal(saved.meta.versionId, '1');
    const told = waits.map((ms, index) => (waited[index] === 'short' && ms >= 125 && ms <= 500 ? 'short' : ms));
    assert.deepEqual(told, waited);
    const keys = recorded.requests.flatMap(({ headers }) => headers.get('idempotency-key') ?? []);
    assert.deepEqual([keys.length, new Set(keys).size], [answers.length + 1, 1]);
  });
}

test('a date in Retry-After is waited for by the clock of the client', async () => {
  const at = (): string => new Date(service.clock.now() + 30_000).toUTCString();
  const late = answerWith([() => outcome(503, { 'retry-after': at() })()]);
  const { praxis, waits } = await connectNew('Dated', { fetch: late });
  await praxis.search('Patient').first();
  assert.deepEqual(waits, [30_000]);
});

test('faults are repeated until the attempts are used up, with waits that grow; hooks are told of each', async () => {
  const events: RetryEvent[] = [];
  const hooks: Hooks = { retry: (event) => void events.push(event) };
  const fetch = answerWith(Array.from({ length: 4 }, () => outcome(500)));
  const { praxis, waits } = await connectNew('Faults', { fetch, hooks, retry: { attemptsMax: 4 } });
  await assert.rejects(praxis.read('Patient', '1'), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.deepEqual([error.status, error.requestId], [500, 'r-1']);
    return true;
  });
  assert.deepEqual(
    waits.map((ms, index) => ms >= 125 * 2 ** index && ms <= 250 * 2 ** index),
    [true, true, true],
  );
  assert.deepEqual(
    events.map(({ method, path, attempt, error }) => [method, path, attempt, error.status]),
    [1, 2, 3].map((attempt) => ['GET', 'Patient/1', attempt, 500]),
  );
});

for (const [name, answer, expected] of [
  ['409 without a time', outcome(409), ConflictError],
  ['422', outcome(422), InvalidError],
  ['an answer that is no OperationOutcome', () => new Response('<html>', { status: 404 }), undefined],
  ['200 that is not JSON', () => new Response('<html>'), undefined],
  ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }), InvalidError],
] as const) {
  test(`${name} is not repeated`, async () => {
    const { praxis, waits } = await connectNew(name, { fetch: answerWith([answer]) });
    await assert.rejects(praxis.read('Patient', '1'), (error: Error) => {
      if (expected !== undefined) assert.ok(error instanceof expected);
      else assert.match(error.message, /not-fhir/);
      return true;
    });
    assert.deepEqual(waits, []);
  });
}

test('a create whose answers are lost, that is sent twice and late, has one effect', async () => {
  const mishaps = ['answer-lost', 'request-lost', 'sent-twice', 'answer-lost', 'late', 'none'] as const;
  const proxy = await openUnreliableProxy(
    { after },
    service.origin,
    (number) => mishaps[number % mishaps.length] ?? 'none',
  );
  const base = maple.base.replace(service.origin, proxy.origin);
  const application = await makeApplication(service, 'Unlucky', ['acl/*'], [maple]);
  const credentials = { ...clientCredentialsOf(application), tokenUrl: clientTokenUrl(service) };
  const clock: Clock = { now: () => service.clock.now(), sleep: async () => service.clock.advance(60_000) };
  const praxis = connect({ base, credentials, clock, retry: { totalMs: 3_600_000, attemptsMax: 20 } });
  const families = Array.from({ length: 12 }, (_, index) => `Unlucky${index}`);
  const ids = new Set<string>();
  for (const family of families) ids.add((await praxis.create({ resourceType: 'Patient', name: [{ family }] })).id);
  assert.equal(ids.size, families.length);
  const found = connect({ base: maple.base, credentials, clock }).search('Patient', { family: 'Unlucky' });
  assert.equal(await found.count(), families.length);
  assert.ok(proxy.counts['answer-lost'] > 0 && proxy.counts['request-lost'] > 0 && proxy.counts['sent-twice'] > 0);
});

test('a write without an answer tells its key, by which its outcome can be asked for', async () => {
  const silent: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (init?.method === 'POST' && String(input) === `${maple.base}/Patient`) throw new TypeError('connection lost');
    return answer;
  };
  const { praxis } = await connectNew('Silent', { fetch: silent, retry: { attemptsMax: 1 } });
  const failed = praxis.create({ resourceType: 'Patient', name: [{ family: 'Silent' }] });
  const error = await failed.catch((reason: unknown) => reason);
  assert.ok(error instanceof NoAnswerError);
  assert.deepEqual([error.code, error.status, error.method, error.path], ['no-answer', undefined, 'POST', 'Patient']);
  const key = error.idempotencyKey ?? '';
  const { outcome: became, status, location, versionId } = await praxis.writeOutcome(key);
  assert.deepEqual([became, status, versionId], ['done', 201, '1']);
  assert.match(location ?? '', /\/Patient\/[^/]+\/_history\/1$/);
  assert.deepEqual((await praxis.writeOutcome('never-used')).outcome, 'none');
});

test('the time of an attempt and the signal of the caller end what does not answer', async () => {
  const deaf: typeof fetch = async (input, init) => {
    if (!String(input).startsWith(`${maple.base}/Patient`)) return await fetch(input, init);
    return await new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  };
  const { credentials, clock, praxis } = await connectNew('Deaf');
  await praxis.search('Patient').first(); // the token is there, and need not come within the time of an attempt
  const hasty = connect({
    base: maple.base,
    credentials,
    clock,
    fetch: deaf,
    timeoutMs: 50,
    retry: { attemptsMax: 2 },
  });
  await assert.rejects(hasty.read('Patient', '1'), (error) => {
    assert.ok(error instanceof NoAnswerError);
    assert.equal(error.issue.diagnostics, 'No answer within the time of an attempt');
    return true;
  });
  const reason = new Error('enough');
  await assert.rejects(hasty.read('Patient', '1', { signal: AbortSignal.abort(reason) }), reason);
  const patient = connect({ base: maple.base, credentials, clock, fetch: deaf });
  const stopping = new AbortController();
  const reading = patient.read('Patient', '1', { signal: stopping.signal });
  setTimeout(() => stopping.abort(reason), 20);
  await assert.rejects(reading, reason);
});

test('a wait ends with the signal', async () => {
  const { praxis } = await connectNew('Waiting', {
    fetch: answerWith([outcome(503, { 'retry-after': '100' })]),
    clock: {
      now: () => service.clock.now(),
      sleep: (_ms, signal) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    },
  });
  const stopping = new AbortController();
  const reading = praxis.read('Patient', '1', { signal: stopping.signal });
  setTimeout(() => stopping.abort(new Error('enough')), 20);
  await assert.rejects(reading, { message: 'enough' });
});
