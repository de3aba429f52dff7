// Which trace a request belongs to: https://www.w3.org/TR/trace-context/#traceparent-header
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  formatTraceparent,
  makeSpanId,
  makeTraceId,
  parseTraceparent,
} from '../../../src/base/tracing/trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test('trace, span and the flag of sampling are those of the header', () => {
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-01`), { traceId, spanId, isSampled: true });
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-00`), { traceId, spanId, isSampled: false });
  assert.deepEqual(parseTraceparent(`00-${traceId}-${spanId}-03`), { traceId, spanId, isSampled: true });
  // Of a later version as much as is known.
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${spanId}-01-what-comes`), { traceId, spanId, isSampled: true });
  assert.deepEqual(parseTraceparent(`cc-${traceId}-${spanId}-01`), { traceId, spanId, isSampled: true });
});

test('what may not be used is as if it were absent', () => {
  for (const header of [
    undefined,
    '',
    'trace',
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-0`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
    ` 00-${traceId}-${spanId}-01`,
    `00-${traceId}x-${spanId}-01`,
  ])
    assert.equal(parseTraceparent(header), undefined, header);
});

test('a span that is recorded is handed on as one, and ids are of their lengths', () => {
  assert.equal(formatTraceparent({ traceId, spanId }), `00-${traceId}-${spanId}-01`);
  const made = { traceId: makeTraceId(), spanId: makeSpanId() };
  assert.deepEqual(parseTraceparent(formatTraceparent(made)), { ...made, isSampled: true });
  assert.notEqual(makeTraceId(), makeTraceId());
});
