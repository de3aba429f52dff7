/**
 * Traces of a running service: a span for a request, those of its statements, and those of notifications, which hand their trace on.
 * Values are planted in requests, and looked for in everything that the collector is sent.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { attributesOf, type CollectedSpan, openCollector } from '../base/tracing/collector.ts';
import { openReceiver, settle, subscribe } from '../practice/subscriptions/world.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openWire } from '../support/wire.ts';

const collector = await openCollector({ after });
const service = await openTestService(
  { after },
  {
    PRAXIS_TRACES_ORIGIN: collector.origin,
    PRAXIS_TRACES_PERCENT: '1',
    PRAXIS_OUTBOUND_LOOPBACK: 'sandbox',
  },
);
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const caller = await openCaller(service, vendor, maple);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const template = '/{environment}/firm/{firm}/{product}/fhir/v2';
const spanId = '00f067aa0ba902b7';
let traces = 0;

/** Sends a request of a trace of its own, which is recorded; returns its spans, that of the request first. */
async function trace(method: string, path: string, more: { readonly body?: string; readonly headers?: object } = {}) {
  traces += 1;
  const traceId = String(traces).padStart(32, 'a');
  const headers = { ...caller.headers, ...more.headers, traceparent: `00-${traceId}-${spanId}-01` };
  const type = more.body === undefined ? {} : { 'content-type': 'application/fhir+json' };
  const answer = await wire.send({ method, path, ...more, headers: { ...type, ...headers } });
  const isOver = (): CollectedSpan | undefined =>
    collector.spans().find((span) => span.traceId === traceId && span.kind === 2);
  while (isOver() === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
    await service.platform.tracer?.flush();
  }
  const own = collector.spans().filter((span) => span.traceId === traceId);
  const [request, ...others] = own.toSorted((left, right) => (left.kind === 2 ? -1 : right.kind === 2 ? 1 : 0));
  assert.ok(request !== undefined);
  return { answer, request, statements: others };
}

test('a request is a span of the trace of its caller, by its template, with status and request id', async () => {
  const made = await trace('POST', `${base}/Patient`, {
    body: JSON.stringify(patient('Stone')),
    headers: { 'x-request-id': 'r-1' },
  });
  assert.equal(made.answer.status, 201);
  assert.deepEqual([made.request.name, made.request.parentSpanId], [`POST ${template}/Patient`, spanId]);
  assert.deepEqual(attributesOf(made.request), {
    'http.request.method': 'POST',
    'http.route': `${template}/Patient`,
    'http.response.status_code': '201',
    'praxis.request_id': 'r-1',
    'praxis.environment': 'sandbox',
  });
  assert.equal(made.request.status, undefined);
  const missing = await trace('GET', `${base}/Patient/none`);
  assert.equal(missing.answer.status, 404);
  assert.equal(attributesOf(missing.request)['error.type'], 'resource-not-found');
  assert.equal(missing.request.status, undefined);
});

test('statements are spans below the request, named by what they do and to which table', async () => {
  const { answer, request, statements } = await trace('GET', `${base}/Patient?family=Stone`);
  assert.equal(answer.status, 200);
  assert.ok(statements.length > 0);
  for (const span of statements) {
    assert.equal(span.parentSpanId, request.spanId);
    const attributes = attributesOf(span);
    assert.equal(attributes['db.system.name'], 'postgresql');
    if (span.name === 'transaction') continue;
    assert.match(span.name, /^(?:SELECT|INSERT|UPDATE|DELETE)(?: [a-z_]+)?$/);
    assert.equal(
      span.name,
      [attributes['db.operation.name'], attributes['db.collection.name']].filter(Boolean).join(' '),
    );
    assert.ok(span.startTimeUnixNano >= request.startTimeUnixNano && span.endTimeUnixNano <= request.endTimeUnixNano);
  }
  const write = await trace('POST', `${base}/Patient`, { body: JSON.stringify(patient('Reed')) });
  assert.ok(
    write.statements.some(({ name }) => name === 'SELECT praxis_write_resources'),
    String(write.statements.map(({ name }) => name)),
  );
});

test('a request whose caller does not record it has no spans, and a health check has none at all', async () => {
  const id = 'b'.repeat(32);
  const send = (path: string, flags: string) =>
    wire.send({ path, headers: { ...caller.headers, traceparent: `00-${id}-${spanId}-${flags}` } });
  await send(`${base}/Patient`, '00');
  await send('/health/live', '01');
  await send('/health/ready', '01');
  await service.platform.tracer?.flush();
  assert.ok(!collector.spans().some(({ traceId }) => traceId === id));
});

test('a method that is not served is told as other', async () => {
  const { answer, request } = await trace('PROPFIND', `${base}/Patient`);
  assert.equal(answer.status, 405);
  assert.equal(request.name, `other ${template}/Patient`);
  const text = await service.service.parts.metrics.registry.metrics();
  assert.match(text, /method="other"/);
  assert.doesNotMatch(text, /PROPFIND/);
});

test('no value that is planted in a request comes to the collector', async () => {
  const resource = { ...patient('ZqFamily'), id: 'ZqId', identifier: [{ system: 'urn:ZqSystem', value: 'ZqValue' }] };
  const headers = { 'user-agent': 'ZqAgent', 'if-none-match': 'W/"ZqTag"', tracestate: 'zq=ZqState' };
  await trace('PUT', `${base}/Patient/ZqId`, { body: JSON.stringify(resource), headers });
  await trace('GET', `${base}/Patient/ZqId`, { headers });
  await trace('GET', `${base}/Patient?family=ZqFamily&identifier=urn:ZqSystem%7CZqValue`, { headers });
  await trace('GET', `${base}/Patient?ZqName=ZqValue`, { headers });
  await trace('GET', `${base}/ZqType/ZqId`, { headers });
  await trace('GET', `${base}/Patient/ZqId/$ZqOperation`, { headers });
  await trace('GET', '/ZqPath', { headers });
  await trace('POST', `${base}/Patient`, { body: '{"ZqElement": ', headers });
  const told = collector.texts.join('');
  assert.doesNotMatch(told, /zq/i);
  for (const value of ['maple', vendor.clientKey, caller.headers['authorization'] ?? '-'])
    assert.ok(!told.includes(value));
});

test('a notification is a trace of its own, which its receiver is handed', async (t) => {
  const receiver = await openReceiver(t);
  const traced = await openTestService(t, {
    PRAXIS_TRACES_ORIGIN: collector.origin,
    PRAXIS_TRACES_PERCENT: '100',
    PRAXIS_OUTBOUND_LOOPBACK: 'sandbox',
  });
  const oak = await makeFirm(traced, 'oak');
  const by = await openCaller(traced, await makeApplication(traced, 'Other', ['acl/*'], [oak]), oak);
  await subscribe(traced, by, 'Patient?family=Reed', receiver.url);
  receiver.answers.push({ status: 503 });
  assert.equal((await by.send('POST', 'Patient', patient('Reed'))).status, 201);
  await settle(traced);
  await traced.platform.tracer?.flush();
  const sent = collector.spans().filter(({ name }) => name.startsWith('notify '));
  assert.deepEqual(
    sent.map((span) => [span.name, span.kind, span.status, span.parentSpanId, attributesOf(span)]),
    [
      [
        'notify handshake',
        3,
        undefined,
        undefined,
        { 'http.request.method': 'POST', 'http.response.status_code': '200' },
      ],
      [
        'notify event-notification',
        3,
        { code: 2 },
        undefined,
        { 'http.request.method': 'POST', 'http.response.status_code': '503', 'error.type': '503' },
      ],
    ],
  );
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['traceparent']),
    sent.map((span) => `00-${span.traceId}-${span.spanId}-01`),
  );
  assert.ok(!collector.texts.join('').includes(receiver.url));
});

test('without the setting nothing is traced, and receivers are handed nothing', async (t) => {
  const receiver = await openReceiver(t);
  const plain = await openTestService(t, { PRAXIS_OUTBOUND_LOOPBACK: 'sandbox' });
  assert.equal(plain.platform.tracer, undefined);
  const oak = await makeFirm(plain, 'oak');
  const by = await openCaller(plain, await makeApplication(plain, 'Other', ['acl/*'], [oak]), oak);
  await subscribe(plain, by, 'Patient?family=Reed', receiver.url);
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['traceparent']),
    [undefined],
  );
});
