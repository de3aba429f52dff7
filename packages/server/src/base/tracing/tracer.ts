/**
 * Traces of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/trace/api/): a span for a request, one for each of its statements,
 * and one for each notification. Spans hold names of ours alone: templates, codes, tables. Nothing of this is loaded, and nothing is
 * remembered of a request, where PRAXIS_TRACES_ORIGIN is not set (docs/decisions/0336).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '../log.ts';
import { type Attributes, openSpanExport, type SpanKind } from './span-export.ts';
import { formatTraceparent, makeSpanId, makeTraceId, parseTraceparent, type SpanContext } from './trace-context.ts';

/** What a span is called, and what it says. */
export interface SpanDescription {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

/** How a span ends. */
export interface SpanOutcome {
  readonly attributes: Attributes;
  readonly isError: boolean;
}

/** The span of a request under way. */
export interface RequestSpan {
  end(described: Pick<SpanDescription, 'name'> & SpanOutcome): void;
}

export interface Tracer {
  /**
   * Calls `go`, and takes what it begins for a part of the request. The trace is that of the header, as far as it names one.
   * Undefined: the request is not recorded.
   */
  followRequest(traceparent: string | undefined, go: () => void): RequestSpan | undefined;
  /** A span for `work`, where it is a part of a request that is recorded. */
  measure<T>(description: SpanDescription, work: () => Promise<T>): Promise<T>;
  /**
   * A trace of its own for `work`, which hands it on by the header that it is given; undefined: it is not recorded.
   * @param tell how what came of it ends the span
   */
  measureAlone<T>(
    description: SpanDescription,
    work: (traceparent: string | undefined) => Promise<T>,
    tell: (result: T) => SpanOutcome,
  ): Promise<T>;
  /** Sends what has ended. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface TracerOptions {
  /** Of the collector. */
  readonly origin: string;
  /** How many of a hundred requests are recorded whose callers do not say. 0: none, whatever callers say. */
  readonly percent: number;
  readonly version: string;
  readonly log: Log;
}

/** Spans of one trace; further ones are counted. A Bundle has thousands of statements. */
const spansOfTraceMax = 200;

/** Traces that a process records in a second: those that callers ask for cannot use up what its own are given. */
const tracesPerSecondMax = { asked: 50, own: 100 };

/** A recorded trace, as far as it is of this process. */
interface Trace extends SpanContext {
  spans: number;
  left: number;
}

export function openTracer({ origin, percent, version, log }: TracerOptions): Tracer {
  const current = new AsyncLocalStorage<Trace>();
  const resource = { 'service.name': 'praxis', 'service.version': version, 'service.instance.id': makeTraceId() };
  const exported = openSpanExport({ origin, resource, version, log });
  const mayBegin = { asked: openBound(tracesPerSecondMax.asked), own: openBound(tracesPerSecondMax.own) };

  /** A trace whose first span is this process's; undefined: it is not recorded. */
  const begin = (parent: ReturnType<typeof parseTraceparent>): Trace | undefined => {
    const traceId = parent?.traceId ?? makeTraceId();
    const isWanted = percent > 0 && (parent?.isSampled ?? isDrawn(makeTraceId(), percent));
    return isWanted && (parent === undefined ? mayBegin.own() : mayBegin.asked())
      ? { traceId, spanId: makeSpanId(), spans: 0, left: 0 }
      : undefined;
  };

  return {
    followRequest(traceparent, go) {
      const parent = parseTraceparent(traceparent);
      const trace = begin(parent);
      if (trace === undefined) {
        go();
        return undefined;
      }
      const startMs = readMs();
      current.run(trace, go);
      return {
        end({ name, attributes, isError }) {
          const left = trace.left === 0 ? {} : { 'praxis.spans_left_out': trace.left };
          const { traceId, spanId } = trace;
          const ended = { traceId, spanId, parentSpanId: parent?.spanId, startMs, endMs: readMs() };
          exported.add({ ...ended, name, kind: 'server', attributes: { ...attributes, ...left }, isError });
        },
      };
    },
    async measure({ name, kind, attributes }, work) {
      const trace = current.getStore();
      if (trace === undefined) return await work();
      if (trace.spans >= spansOfTraceMax) {
        trace.left += 1;
        return await work();
      }
      trace.spans += 1;
      const begun = { traceId: trace.traceId, spanId: makeSpanId(), parentSpanId: trace.spanId, name, kind };
      const startMs = readMs();
      const end = (more: Attributes, isError: boolean): void =>
        exported.add({ ...begun, startMs, endMs: readMs(), attributes: { ...attributes, ...more }, isError });
      try {
        const result = await work();
        end({}, false);
        return result;
      } catch (error) {
        end({ 'error.type': describeError(error) }, true);
        throw error;
      }
    },
    async measureAlone({ name, kind, attributes }, work, tell) {
      const trace = begin(undefined);
      if (trace === undefined) return await work(undefined);
      const startMs = readMs();
      const result = await work(formatTraceparent(trace));
      const outcome = tell(result);
      const { traceId, spanId } = trace;
      const told = { ...attributes, ...outcome.attributes };
      exported.add({
        traceId,
        spanId,
        startMs,
        endMs: readMs(),
        name,
        kind,
        attributes: told,
        isError: outcome.isError,
      });
      return result;
    },
    flush: () => exported.flush(),
    close: () => exported.close(),
  };
}

/** Of the clock of this machine, which cannot go back while the process lives. */
function readMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Whether it is one of so many of a hundred; by the digits of a random number. */
function isDrawn(digits: string, percent: number): boolean {
  return Number.parseInt(digits.slice(0, 8), 16) / 2 ** 32 < percent / 100;
}

/** Admits so many in a second. */
function openBound(max: number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      second = now;
      count = 0;
    }
    count += 1;
    return count <= max;
  };
}

/** A code, or the name of the class: messages may hold values. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
