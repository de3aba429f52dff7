// Spans as a collector gets them: whole messages, what is recorded, and what becomes of them when the collector is away.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openTracer, type Tracer } from '../../../src/base/tracing/tracer.ts';
import { captureLog } from '../../support/captured-log.ts';
import { attributesOf, openCollector } from './collector.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${spanId}-01`;
const unsampled = `00-${traceId}-${spanId}-00`;
const statement = { name: 'SELECT resource', kind: 'client', attributes: { 'db.operation.name': 'SELECT' } } as const;

async function open(t: { after(work: () => Promise<void>): void }, percent = 100) {
  const collector = await openCollector({ after });
  const { log, lines } = captureLog();
  const tracer = openTracer({ origin: collector.origin, percent, version: '1.2.3', log });
  t.after(() => tracer.close());
  return { collector, tracer, said: () => lines.map((line) => JSON.parse(line)) };
}

/** A request whose handler does `work`. */
async function follow(
  tracer: Tracer,
  header: string | undefined,
  work: () => Promise<unknown> = async () => undefined,
) {
  let working: Promise<unknown> | undefined;
  const span = tracer.followRequest(header, () => {
    working = work();
  });
  await working;
  span?.end({ name: 'GET /x', attributes: { 'http.response.status_code': 200 }, isError: false });
  return span !== undefined;
}

test('a message has the resource, the scope and the spans, in the JSON of the protocol', async (t) => {
  const { collector, tracer } = await open(t);
  assert.equal(await follow(tracer, sampled, () => tracer.measure(statement, async () => [])), true);
  await tracer.flush();
  assert.equal(collector.texts.length, 1);
  const message = JSON.parse(collector.texts[0] ?? '');
  const [{ resource, scopeSpans }] = message.resourceSpans;
  const [{ scope, spans }] = scopeSpans;
  const [child, parent] = spans;
  assert.deepEqual(message, { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [child, parent] }] }] });
  assert.deepEqual(resource.attributes.slice(0, 2), [
    { key: 'service.name', value: { stringValue: 'praxis' } },
    { key: 'service.version', value: { stringValue: '1.2.3' } },
  ]);
  assert.match(resource.attributes[2].value.stringValue, /^[0-9a-f]{32}$/);
  assert.deepEqual(scope, { name: 'praxis', version: '1.2.3' });
  assert.deepEqual(parent, {
    traceId,
    spanId: parent.spanId,
    parentSpanId: spanId,
    name: 'GET /x',
    kind: 2,
    startTimeUnixNano: parent.startTimeUnixNano,
    endTimeUnixNano: parent.endTimeUnixNano,
    attributes: [{ key: 'http.response.status_code', value: { intValue: '200' } }],
  });
  assert.deepEqual(child, {
    traceId,
    spanId: child.spanId,
    parentSpanId: parent.spanId,
    name: 'SELECT resource',
    kind: 3,
    startTimeUnixNano: child.startTimeUnixNano,
    endTimeUnixNano: child.endTimeUnixNano,
    attributes: [{ key: 'db.operation.name', value: { stringValue: 'SELECT' } }],
  });
  const times = [parent.startTimeUnixNano, child.startTimeUnixNano, child.endTimeUnixNano, parent.endTimeUnixNano];
  for (const time of times) assert.match(time, /^\d{19}$/);
  assert.deepEqual(times.toSorted(), times);
});

test('the caller decides whether its trace is recorded, and otherwise the share', async (t) => {
  const all = await open(t, 100);
  assert.equal(await follow(all.tracer, unsampled), false);
  assert.equal(await follow(all.tracer, undefined), true);
  assert.equal(await follow(all.tracer, 'nonsense'), true);
  const none = await open(t, 0);
  assert.equal(await follow(none.tracer, undefined), false);
  assert.equal(await follow(none.tracer, sampled), false);
  await all.tracer.flush();
  for (const span of all.collector.spans()) assert.equal(span.parentSpanId, undefined);
});

test('what is no part of a recorded request has no span, and is done all the same', async (t) => {
  const { collector, tracer } = await open(t, 0);
  assert.equal(await tracer.measure(statement, async () => 7), 7);
  assert.equal(await follow(tracer, unsampled, () => tracer.measure(statement, async () => 7)), false);
  await tracer.flush();
  assert.deepEqual(collector.texts, []);
});

test('requests at the same time have their own statements', async (t) => {
  const { collector, tracer } = await open(t);
  const ids = Array.from({ length: 20 }, (_, number) => String(number).padStart(32, 'a'));
  await Promise.all(
    ids.map((id) =>
      follow(tracer, `00-${id}-${spanId}-01`, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        await tracer.measure({ ...statement, name: id }, async () => new Promise((resolve) => setImmediate(resolve)));
      }),
    ),
  );
  await tracer.flush();
  for (const id of ids) {
    const own = collector.spans().filter((span) => span.traceId === id);
    const parent = own.find(({ kind }) => kind === 2);
    assert.deepEqual(
      own.filter(({ kind }) => kind === 3).map(({ name, parentSpanId }) => [name, parentSpanId]),
      [[id, parent?.spanId]],
    );
  }
});

test('an error has its code or class in the span, never its message', async (t) => {
  const { collector, tracer } = await open(t);
  const fail = (error: unknown) => () =>
    tracer.measure(statement, async () => {
      throw error;
    });
  const errors = [Object.assign(new Error('Ada Stone'), { code: '23505' }), new TypeError('Ada Stone'), 'Ada Stone'];
  for (const error of errors) await assert.rejects(follow(tracer, sampled, fail(error)), (thrown) => thrown === error);
  await tracer.flush();
  const spans = collector.spans();
  assert.deepEqual(
    spans.map((span) => [attributesOf(span)['error.type'], span.status]),
    [
      ['23505', { code: 2 }],
      ['TypeError', { code: 2 }],
      ['unknown', { code: 2 }],
    ],
  );
  assert.ok(!collector.texts.join('').includes('Stone'));
});

test('a trace has a bounded number of spans, and says how many it left out', async (t) => {
  const { collector, tracer } = await open(t);
  await follow(tracer, sampled, async () => {
    for (let count = 0; count < 205; count += 1) await tracer.measure(statement, async () => undefined);
  });
  await tracer.flush();
  const spans = collector.spans();
  assert.equal(spans.filter(({ kind }) => kind === 3).length, 200);
  const [request] = spans.filter(({ kind }) => kind === 2);
  assert.equal(request && attributesOf(request)['praxis.spans_left_out'], '5');
});

test('callers that have everything recorded are given a bounded number of traces a second', async (t) => {
  const { tracer } = await open(t);
  const second = () => Math.floor(performance.now() / 1000);
  const begun = second();
  let recorded = 0;
  for (let count = 0; count < 1_000; count += 1) if (await follow(tracer, sampled)) recorded += 1;
  assert.ok(recorded >= 50 && recorded <= 50 * (second() - begun + 1), `${recorded} traces`);
  assert.equal(await follow(tracer, undefined), true); // of what is its own nothing is used up
});

test('work of its own is a trace that its header hands on', async (t) => {
  const { collector, tracer } = await open(t);
  const description = {
    name: 'notify heartbeat',
    kind: 'client',
    attributes: { 'http.request.method': 'POST' },
  } as const;
  let handed: string | undefined;
  const result = await tracer.measureAlone(
    description,
    async (traceparent) => {
      handed = traceparent;
      return 503;
    },
    (status) => ({ attributes: { 'http.response.status_code': status }, isError: status >= 400 }),
  );
  assert.equal(result, 503);
  await tracer.flush();
  const [span] = collector.spans();
  assert.ok(span !== undefined);
  assert.equal(handed, `00-${span.traceId}-${span.spanId}-01`);
  assert.deepEqual(
    { ...attributesOf(span), name: span.name, kind: span.kind, status: span.status },
    {
      'http.request.method': 'POST',
      'http.response.status_code': '503',
      name: 'notify heartbeat',
      kind: 3,
      status: { code: 2 },
    },
  );
  const quiet = await open(t, 0);
  const header = await quiet.tracer.measureAlone(
    description,
    async (traceparent) => traceparent,
    () => assert.fail(),
  );
  assert.equal(header, undefined);
});

test('a collector that refuses loses what it was sent; it is said once, and again when it takes some', async (t) => {
  const { collector, tracer, said } = await open(t);
  collector.answers.push(503, 500);
  for (const _ of [1, 2, 3]) {
    await follow(tracer, sampled);
    await tracer.flush();
  }
  assert.equal(collector.spans().length, 1);
  assert.deepEqual(
    said().map(({ msg, lost }) => [msg, lost]),
    [
      ['traces cannot be sent, and are left out', undefined],
      ['traces are sent again', 2],
    ],
  );
});

test('a collector that is not there holds up nothing, and what waits for it is bounded', async (t) => {
  const { log } = captureLog();
  const tracer = openTracer({ origin: 'http://127.0.0.1:1', percent: 100, version: '1', log });
  t.after(() => tracer.close());
  assert.equal(await follow(tracer, sampled, () => tracer.measure(statement, async () => undefined)), true);
  await tracer.flush();
});
