/** What ids, paths, links and answers from elsewhere cannot bring the client to do. Without a service. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import test from 'node:test';
import { type Clock, connect, InvalidError } from '@praxis/client';
import { recordFetch } from './world.ts';

const origin = 'https://praxis.example';
const base = `${origin}/sandbox/firm/maple/pm/fhir/v2`;
const tokenUrl = `${origin}/token`;

/** A connection whose calls, those for tokens aside, are answered by `answer`. */
function connectTo(answer: (request: Request) => Response | Promise<Response>) {
  const waits: number[] = [];
  const clock: Clock = {
    now: () => 0,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      waits.push(ms);
    },
  };
  const recorded = recordFetch(async (input, init) => {
    if (String(input) === tokenUrl) return Response.json({ access_token: 't', expires_in: 900 });
    return await answer(new Request(input, init));
  });
  const credentials = { flow: 'client-credentials', apiKey: 'k', clientId: 'i', clientSecret: 's', tokenUrl } as const;
  const praxis = connect({ base, credentials, clock, fetch: recorded.fetch });
  return { praxis, waits, sent: () => recorded.requests.filter(({ url }) => url !== tokenUrl) };
}

const isRefused =
  (code: string) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof InvalidError, String(error));
    assert.equal(error.code, code);
    assert.doesNotMatch(error.message, /secret/);
    return true;
  };

const foreignIds = ['../../../../../B/pm/fhir/v2/Patient/5', '..', '.', '', '%2e%2e', 'a/b', 'a?b', 'a#b', 'a b', 'ä'];
const foreignPaths = [
  '../secret',
  'Patient/../Task/secret',
  'Patient/%2e%2e/secret',
  'Patient\\secret',
  'Patient/.\t./secret',
  'Patient/..%2fsecret',
  'Patient/..%5Csecret',
  'Patient#secret',
];

for (const id of [...foreignIds, 'x'.repeat(65)])
  test(`the id '${id.slice(0, 40)}' gets into no path`, async () => {
    const { praxis, sent } = connectTo(() => assert.fail('sent'));
    const { booking, documents } = praxis;
    const refused = isRefused('path-invalid');
    const meta = { versionId: '1', lastUpdated: '' };
    for (const call of [
      () => praxis.read('Patient', id),
      () => praxis.history('Patient', id).first(),
      () => praxis.update('Patient', id, (patient) => patient),
      () => praxis.replace({ resourceType: 'Patient', id, meta }),
      () => praxis.patch('Patient', id, []),
      () => praxis.delete('Patient', id),
      () => documents.download(id),
      () => booking.hold(id),
      () => booking.hold(`Slot/${id}`),
      () => booking.book(id, { patient: '1' }),
      () => booking.book('1', { patient: id }),
      () => booking.reschedule(id, '1'),
      () => booking.cancel(id, 'Has a cold'),
    ])
      await assert.rejects(call, refused);
    const batch = praxis.batch();
    assert.throws(() => batch.read('Patient', id), refused);
    assert.throws(() => batch.replace({ resourceType: 'Patient', id }), refused);
    assert.throws(() => batch.delete('Patient', id), refused);
    assert.deepEqual(sent(), []);
  });

test('a slot of another type is none, and the error says what an id is', async () => {
  const { praxis } = connectTo(() => assert.fail('sent'));
  await assert.rejects(praxis.booking.hold('Patient/1'), isRefused('path-invalid'));
  await assert.rejects(praxis.read('Patient', '..'), {
    message: 'path-invalid: The id of a Patient has 1 to 64 letters, digits, hyphens and dots: this is none',
  });
});

for (const path of foreignPaths)
  test(`the path ${JSON.stringify(path)} is not sent`, async () => {
    const { praxis, sent } = connectTo(() => assert.fail('sent'));
    await assert.rejects(praxis.get(path), isRefused('path-invalid'));
    await assert.rejects(praxis.invoke(path), isRefused('path-invalid'));
    assert.deepEqual(sent(), []);
  });

test('paths of operations and queries are sent as they stand', async () => {
  const { praxis, sent } = connectTo(() => Response.json({}));
  for (const path of ['metadata', 'Patient/1/$everything?_since=2026-01-01T00:00:00Z&x=../y#', 'Patient/a.b-C'])
    await praxis.get(path);
  assert.deepEqual(
    sent().map(({ url }) => url.slice(base.length + 1)),
    ['metadata', 'Patient/1/$everything?_since=2026-01-01T00:00:00Z&x=../y#', 'Patient/a.b-C'],
  );
});

for (const link of [
  `${base}/../../../../B/pm/fhir/v2/Patient?page=secret`,
  `${base}/%2e%2e/v2-secret`,
  `${base}-secret/Patient`,
  'https://praxis.example@other.example/secret',
  'no URL',
])
  test(`the link ${link} is not followed`, async () => {
    const { praxis, sent } = connectTo(() =>
      Response.json({ resourceType: 'Bundle', type: 'history', link: [{ relation: 'next', url: link }] }),
    );
    const history = Array.fromAsync(praxis.history('Patient', '1'));
    await assert.rejects(history, (error) => error instanceof InvalidError && error.code === 'foreign-link');
    assert.equal(sent().length, 1);
  });

const offer = (url: string): Response =>
  Response.json({ resourceType: 'Parameters', parameter: [{ name: 'url', valueUrl: url }] }, { status: 201 });

for (const url of [
  'https://other.example/content/secret',
  'http://praxis.example/content/secret',
  'https://praxis.example.other.example/secret',
  'https://praxis.example@other.example/secret',
  'secret',
])
  test(`no file goes to or comes from ${url}, and the error does not repeat it`, async () => {
    const { praxis, sent } = connectTo(() => offer(url));
    await assert.rejects(praxis.documents.open({ url }), isRefused('foreign-link'));
    await assert.rejects(praxis.documents.upload('x', { contentType: 'text/plain' }), isRefused('foreign-link'));
    assert.deepEqual(
      sent().map(({ method }) => method),
      ['POST'],
    );
  });

for (const [status, urls, tries] of [
  [500, 2, 2],
  [502, 2, 2],
  [504, 2, 2],
  [503, 1, 6],
  [429, 1, 6],
] as const)
  test(`a PUT that is answered ${status} is tried ${tries} times, at ${urls} URLs`, async () => {
    let offered = 0;
    const { praxis, sent } = connectTo(({ method }) => {
      if (method === 'PUT') return new Response(null, { status });
      offered += 1;
      return offer(`${origin}/content/${offered}`);
    });
    await assert.rejects(praxis.documents.upload('x', { contentType: 'text/plain' }), { status });
    const puts = sent().filter(({ method }) => method === 'PUT');
    assert.deepEqual([puts.length, new Set(puts.map(({ url }) => url)).size], [tries, urls]);
  });

test('a file that was read, left, or failed lets go of the signal; until then the signal ends it', async () => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let content: ReadableStreamDefaultController | undefined;
  const start = (made: ReadableStreamDefaultController): void => {
    content = made;
  };
  const { praxis } = connectTo(() => new Response(new ReadableStream({ start })));
  const open = () => praxis.documents.open({ url: `${origin}/content/1` }, { signal });
  const listeners = () => getEventListeners(signal, 'abort').length;

  const whole = await open();
  assert.equal(listeners(), 1);
  content?.enqueue(new TextEncoder().encode('All is well.'));
  content?.close();
  assert.equal(await whole.text(), 'All is well.');
  assert.equal(listeners(), 0);

  const left = await open();
  await left.body?.cancel();
  assert.equal(listeners(), 0);

  const failed = await open();
  content?.error(new TypeError('cut'));
  await assert.rejects(failed.text(), { message: 'cut' });
  assert.equal(listeners(), 0);
});

test('an answer without an end is not read to the end', async () => {
  const chunk = new Uint8Array(16 * 1024 * 1024).fill(32);
  let chunks = 0;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        chunks += 1;
        if (chunks > 20) controller.close();
        else controller.enqueue(chunk);
      },
    });
  const { praxis } = connectTo(() => new Response(endless()));
  await assert.rejects(
    praxis.read('Patient', '1'),
    (error) => error instanceof InvalidError && error.code === 'answer-too-large',
  );
  assert.ok(chunks < 20);
});

test('empty pages that come at once are asked for once a second, until the signal', async () => {
  const stopping = new AbortController();
  let pages = 0;
  const { praxis, waits } = connectTo(() => {
    pages += 1;
    if (pages === 4) stopping.abort(new Error('enough'));
    const url = `${base}/$changes?since=${pages}`;
    return Response.json({ resourceType: 'Bundle', type: 'history', link: [{ relation: 'next', url }] });
  });
  await assert.rejects(praxis.follow({ signal: stopping.signal }).next(), { message: 'enough' });
  assert.deepEqual(waits, [1_000, 1_000, 1_000]);
});
