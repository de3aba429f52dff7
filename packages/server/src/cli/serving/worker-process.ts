/** A worker as the supervisor sees it: a child process, what it says, and whether it still says anything. */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { MetricValues } from '../../base/worker-metrics.ts';
import type { Taker } from './front-door.ts';
import {
  aliveEveryMs,
  type FromWorker,
  readMessage,
  type SandboxLines,
  type ToWorker,
  type Vitals,
} from './messages.ts';

/** How a worker ended: its exit status, or the signal that ended it. */
export interface WorkerEnd {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface WorkerEvents {
  onTaken(worker: WorkerProcess, id: number): void;
  onVitals(worker: WorkerProcess, vitals: Vitals): void;
  onEnd(worker: WorkerProcess, end: WorkerEnd): void;
}

/** How long the page of metrics waits for a worker. */
const measureMaxMs = 1000;

/** A worker ended before it served. */
export class WorkerStartFailure extends Error {
  override readonly name = 'WorkerStartFailure';
  readonly end: WorkerEnd;

  constructor(number: number, end: WorkerEnd) {
    super(`worker ${number} ended while it started, with ${end.signal ?? `status ${end.status}`}`);
    this.end = end;
  }
}

export class WorkerProcess implements Taker {
  /** From 1; its replacement has the same number. */
  readonly number: number;
  readonly pid: number;
  /** Its database is ready to be served from. Rejects when it ends before. */
  readonly prepared: Promise<void>;
  /** It answers requests. Rejects when it ends before. */
  readonly serving: Promise<SandboxLines | undefined>;
  readonly ended: Promise<WorkerEnd>;
  readonly #child: ChildProcess;
  readonly #events: WorkerEvents;
  readonly #prepared = Promise.withResolvers<void>();
  readonly #serving = Promise.withResolvers<SandboxLines | undefined>();
  readonly #measured = new Map<number, () => void>();
  #vitals: Vitals | undefined;
  #metrics: readonly MetricValues[] = [];
  #nextMeasure = 1;
  #silentTicks = 0;
  #usedCores = 0;
  #vitalsAtMs = 0;
  #connections = 0;

  constructor(number: number, child: ChildProcess, events: WorkerEvents) {
    this.number = number;
    this.pid = child.pid ?? 0;
    this.prepared = this.#prepared.promise;
    this.serving = this.#serving.promise;
    this.#child = child;
    this.#events = events;
    // Who waits for one of them hears of it; who does not must not end the supervisor.
    this.prepared.catch(() => undefined);
    this.serving.catch(() => undefined);
    child.on('message', (message) => this.#hear(readMessage<FromWorker>(message)));
    const ended = Promise.withResolvers<WorkerEnd>();
    this.ended = ended.promise;
    let isOver = false;
    const end = (how: WorkerEnd): void => {
      if (isOver) return;
      isOver = true;
      const failure = new WorkerStartFailure(number, how);
      this.#prepared.reject(failure);
      this.#serving.reject(failure);
      for (const answer of this.#measured.values()) answer();
      events.onEnd(this, how);
      ended.resolve(how);
    };
    child.once('exit', (status, signal) => end({ status, signal }));
    child.on('error', () => {
      // A process that could not be made has no other end; otherwise a message came too late.
      if (child.pid === undefined) queueMicrotask(() => end({ status: null, signal: null }));
    });
    const { exitCode: status, signalCode: signal } = child;
    const isEnded = child.pid === undefined || status !== null || signal !== null;
    if (isEnded) queueMicrotask(() => end({ status, signal })); // before anybody listened
  }

  get vitals(): Vitals | undefined {
    return this.#vitals;
  }

  /** Processor time between the last two times that it said it is alive, in cores. */
  get usedCores(): number {
    return this.#usedCores;
  }

  /** What it had counted when it was asked last. */
  get metrics(): readonly MetricValues[] {
    return this.#metrics;
  }

  connections(): number {
    return this.#connections;
  }

  give(id: number, socket: Socket): void {
    this.#send({ kind: 'connection', id }, socket);
  }

  say(message: ToWorker): void {
    this.#send(message);
  }

  /** What it has counted; what it had counted before when it does not answer in time. */
  async measure(): Promise<readonly MetricValues[]> {
    const id = this.#nextMeasure++;
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, measureMaxMs);
      this.#measured.set(id, () => {
        clearTimeout(limit);
        resolve();
      });
      this.#send({ kind: 'measure', id });
    });
    this.#measured.delete(id);
    return this.#metrics;
  }

  /** Called every `aliveEveryMs`; how many times it has been called since the worker said that it is alive. */
  tick(): number {
    return ++this.#silentTicks;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #send(message: ToWorker, socket?: Socket): void {
    if (!this.#child.connected) return;
    // The socket stays open here until the worker has taken it. A failure means that the worker ends.
    if (socket === undefined) this.#child.send(message, () => undefined);
    else this.#child.send(message, socket, { keepOpen: true }, () => undefined);
  }

  #measureUse({ cpuMicros }: Vitals): void {
    const nowMs = performance.now();
    const elapsedMicros = (nowMs - this.#vitalsAtMs) * 1000;
    this.#usedCores = this.#vitals === undefined ? 0 : (cpuMicros - this.#vitals.cpuMicros) / elapsedMicros;
    this.#vitalsAtMs = nowMs;
  }

  #hear(message: FromWorker | undefined): void {
    this.#silentTicks = 0;
    switch (message?.kind) {
      case 'prepared':
        return this.#prepared.resolve();
      case 'serving':
        return this.#serving.resolve(message.sandbox);
      case 'taken':
        // Also before the first vitals: a worker that has just begun to serve would be given everything.
        this.#connections = message.connections;
        if (this.#vitals !== undefined) this.#vitals = { ...this.#vitals, connections: message.connections };
        return this.#events.onTaken(this, message.id);
      case 'alive':
        this.#measureUse(message);
        this.#vitals = message;
        this.#connections = message.connections;
        return this.#events.onVitals(this, message);
      case 'measured':
        this.#metrics = message.metrics;
        return this.#measured.get(message.id)?.();
      case 'left':
        this.#metrics = message.metrics;
        return;
      case undefined:
        return;
    }
  }
}

/** Times of silence that make `ms`. */
export function toTicks(ms: number): number {
  return Math.ceil(ms / aliveEveryMs);
}
