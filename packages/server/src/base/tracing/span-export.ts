/**
 * Spans on their way to a collector, by OTLP over HTTP in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). They are gathered
 * and sent some at a time. A collector that is away or slow loses spans, and holds up nobody.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { SpanContext } from './trace-context.ts';

export type Attributes = Readonly<Record<string, string | number>>;

/** https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto, SpanKind */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const;

export type SpanKind = keyof typeof spanKinds;

/** A span that has ended. */
export interface EndedSpan extends SpanContext {
  readonly parentSpanId?: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Since 1970, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

export interface SpanExportOptions {
  /** Of the collector. */
  readonly origin: string;
  /** Attributes of the resource: what runs. */
  readonly resource: Attributes;
  readonly version: string;
  readonly log: Log;
}

export interface SpanExport {
  add(span: EndedSpan): void;
  /** Sends what was added, and waits for its answer. */
  flush(): Promise<void>;
  /** The same for the last time, for `closeMaxMs` at most. */
  close(): Promise<void>;
}

/** Spans that wait; further ones are left out. */
const waitingMax = 4_096;

/** Spans of one message. */
const batchMax = 512;

const pauseMs = 2_000;

/** Longest time for one message. */
const answerMaxMs = 5_000;

/** What the end of the process waits for the last of them. */
const closeMaxMs = 2_000;

/** STATUS_CODE_ERROR of the protocol. */
const statusError = 2;

export function openSpanExport({ origin, resource, version, log }: SpanExportOptions): SpanExport {
  const waiting: EndedSpan[] = [];
  let lost = 0;
  let isFailing = false;
  /** While something is sent; what is added meanwhile is sent by it, too. */
  let sending: Promise<void> | undefined;

  const send = async (spans: readonly EndedSpan[]): Promise<void> => {
    try {
      const response = await fetch(`${origin}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(encodeSpans(spans, resource, version)),
        redirect: 'error',
        signal: AbortSignal.timeout(answerMaxMs),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
      if (isFailing) log.info({ lost }, 'traces are sent again');
      isFailing = false;
      lost = 0;
    } catch (error) {
      lost += spans.length;
      if (!isFailing) log.warn({ err: error }, 'traces cannot be sent, and are left out');
      isFailing = true;
    }
  };

  const sendWaiting = async (): Promise<void> => {
    while (waiting.length > 0) await send(waiting.splice(0, batchMax));
    sending = undefined;
  };

  const flush = async (): Promise<void> => {
    if (waiting.length > 0) sending ??= sendWaiting();
    await sending;
  };

  // Only while there are spans: an idle process does not wake up for none.
  let timer: NodeJS.Timeout | undefined;
  const flushLater = (): void => {
    timer = undefined;
    void flush();
  };

  return {
    add(span) {
      if (waiting.length < waitingMax) waiting.push(span);
      else lost += 1;
      timer ??= setTimeout(flushLater, pauseMs).unref();
    },
    flush,
    async close() {
      clearTimeout(timer);
      await Promise.race([flush(), delay(closeMaxMs, undefined, { ref: false })]);
    },
  };
}

/** The message, ExportTraceServiceRequest. */
function encodeSpans(spans: readonly EndedSpan[], resource: Attributes, version: string): object {
  const scope = { name: 'praxis', version };
  const scopeSpans = [{ scope, spans: spans.map(encodeSpan) }];
  return { resourceSpans: [{ resource: { attributes: encodeAttributes(resource) }, scopeSpans }] };
}

function encodeSpan(span: EndedSpan): object {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, isError } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: spanKinds[kind],
    startTimeUnixNano: toNanoseconds(startMs),
    endTimeUnixNano: toNanoseconds(endMs),
    attributes: encodeAttributes(attributes),
    ...(isError ? { status: { code: statusError } } : {}),
  };
}

/** Whole numbers of 64 bits are texts in JSON of protocol buffers. */
function encodeAttributes(attributes: Attributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}

function toNanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`;
}
