/** Which trace a request belongs to, as its caller says (https://www.w3.org/TR/trace-context/#traceparent-header). */
import { drawRandomBytes } from '../ids.ts';

/** A span of some trace, here or elsewhere. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

export interface ReceivedContext extends SpanContext {
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
}

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** What the header says; undefined: it is absent, or no one that may be used (§3.2.4). */
export function parseTraceparent(header: string | undefined): ReceivedContext | undefined {
  const [known, version, traceId = '', spanId = '', flags = '', more] = traceparentPattern.exec(header ?? '') ?? [];
  if (known === undefined || version === 'ff' || zeros.test(traceId) || zeros.test(spanId)) return undefined;
  // Later versions may add fields; this one has none.
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The header that hands a recorded span on. */
export function formatTraceparent({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Random; the chance of nothing but zeros, which would be none, is that of a repetition. */
export function makeTraceId(): string {
  return drawRandomBytes(16).toString('hex');
}

export function makeSpanId(): string {
  return drawRandomBytes(8).toString('hex');
}
