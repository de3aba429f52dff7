/**
 * The supervisor of a node: starts its workers, hands them connections, and replaces those that die, hang, grow too large or are
 * to run other code. It reads no request and loads nothing of FHIR.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../base/config.ts';
import type { Log } from '../../base/log.ts';
import type { ReplacementReason } from '../../base/worker-metrics.ts';
import { forkWorker } from './fork-worker.ts';
import { type FrontDoor, openFrontDoor } from './front-door.ts';
import { type GatheredMetrics, gatherMetrics } from './gathered-metrics.ts';
import { aliveEveryMs, type SandboxLines, type ToWorker } from './messages.ts';
import { openIdleMeter, Placement } from './placement.ts';
import { countCollectorThreads, readMachine } from './worker-count.ts';
import { toTicks, type WorkerEnd, WorkerProcess } from './worker-process.ts';

export interface SupervisorOptions {
  readonly config: Pick<Config, 'host' | 'port' | 'drainMs' | 'workerMemoryMb'>;
  readonly log: Log;
  readonly workers: number;
  /** The process of the first worker, which loads its modules already. */
  readonly firstChild: ChildProcess;
  /** What workers start with, once there is a database. */
  readonly starts: Promise<WorkerStarts>;
}

export interface WorkerStarts {
  /** Said to the first worker, which prepares the database. */
  readonly first: ToWorker;
  /** Said to all others. */
  readonly later: ToWorker;
}

/** Silence of a worker's event loop beyond which it is replaced; one that starts has longer. */
const hungTicks = toTicks(5_000);
const startingTicks = toTicks(60_000);
/** How long connections without a request are kept when their worker is replaced. */
const lingerMs = 1_000;
/** What a worker may need beside `PRAXIS_DRAIN_MS`: the last rows of the ledger, and its connections to the database. */
const endGraceMs = 15_000;
/** A worker that was over its memory limit so many times in a row is replaced; a peak is not. */
const overTicks = toTicks(5_000);
/** A worker that dies sooner after its start is not started again at once. */
const soonMs = 10_000;
const pausesMs = [0, 200, 1_000, 5_000];
const megabyte = 1024 * 1024;

interface Slot {
  readonly number: number;
  current: WorkerProcess | undefined;
  startedAtMs: number;
  /** Starts in a row that did not last. */
  failures: number;
  /** A replacement is under way. */
  isChanging: boolean;
  overTicks: number;
}

/** Starts the node; resolves when all workers serve. @throws WorkerStartFailure, or the error of listening */
export async function startSupervisor(options: SupervisorOptions): Promise<Supervisor> {
  const supervisor = new Supervisor(options);
  try {
    await supervisor.start();
    return supervisor;
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

export class Supervisor {
  readonly metrics: GatheredMetrics;
  sandbox: SandboxLines | undefined;
  readonly #options: SupervisorOptions;
  readonly #slots: readonly Slot[];
  /** All processes that have not ended, also those that start or leave. */
  readonly #workers = new Set<WorkerProcess>();
  /** Of these, who has answered requests. */
  readonly #served = new Set<WorkerProcess>();
  readonly #reasons = new Map<WorkerProcess, ReplacementReason>();
  readonly #watch: NodeJS.Timeout;
  readonly #placement: Placement;
  readonly #readIdleCores = openIdleMeter();
  readonly #cores = readMachine().cores;
  /** How many of the workers get connections. */
  #activeCount: number;
  #later: ToWorker | undefined;
  #door: FrontDoor | undefined;
  #runner: WorkerProcess | undefined;
  #isStarted = false;
  #isStopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.metrics = gatherMetrics(
      () => [...this.#served],
      () => this.#current(),
      () => this.#runner,
    );
    this.#slots = Array.from({ length: options.workers }, (_, index) => ({
      number: index + 1,
      current: undefined,
      startedAtMs: 0,
      failures: 0,
      isChanging: false,
      overTicks: 0,
    }));
    this.#placement = new Placement(options.workers);
    this.#activeCount = options.workers;
    this.#watch = setInterval(() => {
      this.#lookForHung();
      this.#place();
    }, aliveEveryMs);
  }

  /** Where the node listens. */
  get origin(): string {
    return this.#door?.origin ?? '';
  }

  async start(): Promise<void> {
    const [firstSlot] = this.#slots;
    if (firstSlot === undefined) return;
    const { host, port } = this.#options.config;
    const first = this.#watchOver(firstSlot, this.#options.firstChild);
    const starts = await this.#options.starts.catch((error) => {
      first.kill();
      throw error;
    });
    this.#later = starts.later;
    first.say(starts.first);
    await first.prepared;
    this.#door = await openFrontDoor(host, port);
    const bringUp = async (slot: Slot): Promise<void> => {
      const worker = slot === firstSlot ? first : this.#spawn(slot);
      const sandbox = await this.#admit(slot, worker);
      if (slot === firstSlot) this.sandbox = sandbox;
    };
    const started = await Promise.allSettled(this.#slots.map(bringUp));
    for (const each of started) if (each.status === 'rejected') throw each.reason;
    this.#isStarted = true;
    // One may have died while others were starting.
    for (const slot of this.#slots) if (slot.current === undefined) void this.#refill(slot);
  }

  /** Replaces the workers one after another by ones from the code on disk. Those stay whose replacement does not start. */
  async restart(): Promise<void> {
    for (const slot of this.#slots) {
      if (this.#isStopping) return;
      if (await this.#replace(slot, 'restart')) continue;
      this.#options.log.error({ worker: slot.number }, 'restart given up: the workers that are left stay as they are');
      return;
    }
    this.#options.log.info('all workers were restarted');
  }

  /** Takes no more connections, lets all workers finish, and waits for them. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#door?.close();
    const workers = [...this.#workers];
    for (const worker of workers) worker.say({ kind: 'leave', lingerMs: 0 });
    await Promise.all(workers.map((worker) => this.#untilEnded(worker, 0)));
    clearInterval(this.#watch);
  }

  /** Ends all workers at once. */
  kill(): void {
    for (const worker of this.#workers) worker.kill();
  }

  #spawn(slot: Slot): WorkerProcess {
    const { workers } = this.#options;
    const child = forkWorker(slot.number, countCollectorThreads(workers, readMachine()));
    const worker = this.#watchOver(slot, child);
    if (this.#later !== undefined) worker.say(this.#later);
    return worker;
  }

  /** The process waits until it is told to start. */
  #watchOver(slot: Slot, child: ChildProcess): WorkerProcess {
    const { log } = this.#options;
    const worker = new WorkerProcess(slot.number, child, {
      onTaken: (each, id) => this.#door?.taken(each, id),
      onVitals: (each) => this.#lookAtMemory(slot, each),
      onEnd: (each, end) => this.#ended(slot, each, end),
    });
    this.#workers.add(worker);
    slot.startedAtMs = performance.now();
    log.debug({ worker: slot.number, pid: worker.pid }, 'worker starts');
    return worker;
  }

  /** Lets the worker serve once it is prepared. */
  async #admit(slot: Slot, worker: WorkerProcess): Promise<SandboxLines | undefined> {
    await worker.prepared;
    worker.say({ kind: 'serve', origin: this.origin });
    const sandbox = await worker.serving;
    slot.current = worker;
    this.#served.add(worker);
    slot.overTicks = 0;
    this.#door?.admit(worker);
    this.#assignJobs();
    this.#options.log.info({ worker: slot.number, pid: worker.pid }, 'worker serves');
    return sandbox;
  }

  /** Whether the worker of the slot is another one now. The old one leaves when the new one serves. */
  async #replace(slot: Slot, reason: ReplacementReason): Promise<boolean> {
    if (slot.isChanging) return true;
    slot.isChanging = true;
    const old = slot.current;
    try {
      await this.#admit(slot, this.#spawn(slot));
    } catch (error) {
      this.#options.log.error({ err: error, worker: slot.number }, 'a worker cannot be replaced');
      return false;
    } finally {
      slot.isChanging = false;
      if (slot.current === undefined) void this.#refill(slot);
    }
    this.metrics.replaced(reason);
    if (old !== undefined && this.#workers.has(old)) {
      this.#door?.dismiss(old);
      old.say({ kind: 'leave', lingerMs });
      await this.#untilEnded(old, lingerMs);
    }
    return true;
  }

  /** Starts workers for a slot until one serves. */
  async #refill(slot: Slot): Promise<void> {
    if (slot.isChanging) return;
    slot.isChanging = true;
    while (!this.#isStopping && slot.current === undefined) {
      slot.failures = performance.now() - slot.startedAtMs < soonMs ? slot.failures + 1 : 0;
      await delay(pausesMs[Math.min(slot.failures, pausesMs.length - 1)]);
      if (this.#isStopping) break;
      try {
        await this.#admit(slot, this.#spawn(slot));
      } catch (error) {
        const fields = { err: error, worker: slot.number };
        this.#options.log.error(fields, 'a worker cannot be started and will be tried again');
      }
    }
    slot.isChanging = false;
  }

  #ended(slot: Slot, worker: WorkerProcess, end: WorkerEnd): void {
    this.#workers.delete(worker);
    this.#served.delete(worker);
    this.metrics.ended(worker);
    this.#door?.bury(worker);
    const reason = this.#reasons.get(worker) ?? 'died';
    this.#reasons.delete(worker);
    if (slot.current !== worker) return;
    slot.current = undefined;
    this.#assignJobs();
    if (this.#isStopping || !this.#isStarted) return;
    this.#options.log.error({ worker: slot.number, pid: worker.pid, ...end, reason }, 'a worker ended and is replaced');
    this.metrics.replaced(reason);
    void this.#refill(slot);
  }

  /** One worker does the work that one alone has to do. */
  #assignJobs(): void {
    const serving = this.#current();
    if (this.#runner !== undefined && serving.includes(this.#runner)) return;
    this.#runner?.say({ kind: 'jobs', run: false });
    this.#runner = serving[0];
    this.#runner?.say({ kind: 'jobs', run: true });
  }

  #current(): WorkerProcess[] {
    return this.#slots.flatMap(({ current }) => (current === undefined ? [] : [current]));
  }

  /** Ticks are counted, not time: a supervisor that slept itself takes nobody for hung. */
  #lookForHung(): void {
    const serving = new Set(this.#current());
    for (const worker of this.#workers) {
      const silent = worker.tick();
      if (silent <= (serving.has(worker) ? hungTicks : startingTicks)) continue;
      this.#options.log.error({ worker: worker.number, pid: worker.pid }, 'a worker hangs and is ended');
      this.#reasons.set(worker, 'hung');
      worker.kill();
    }
  }

  /** Lets as many workers have connections as serve best; those that have too many release them. */
  #place(): void {
    if (this.#slots.length === 1) return;
    const idleCores = this.#readIdleCores();
    if (!this.#isStarted || this.#isStopping) return;
    const serving = this.#current();
    const active = serving.slice(0, this.#activeCount);
    const count = this.#placement.decide({
      nowMs: performance.now(),
      cores: this.#cores,
      idleCores,
      loopUses: active.map(({ vitals }) => vitals?.loopUse ?? 0),
      hasLargeWork: serving.some(({ vitals }) => vitals?.hasLargeWork === true),
      hasWaiting: active.some(({ vitals }) => vitals?.hasWaiting === true),
      usedCores: serving.reduce((sum, { usedCores }) => sum + usedCores, 0),
    });
    const chosen = serving.slice(0, count);
    this.#door?.prefer(chosen);
    if (count === this.#activeCount) return;
    this.#activeCount = count;
    const connections = serving.reduce((sum, worker) => sum + worker.connections(), 0);
    for (const worker of serving) {
      const share = chosen.includes(worker) ? Math.ceil(connections / count) : 0;
      if (worker.connections() > share) worker.say({ kind: 'release', count: worker.connections() - share });
    }
    this.#options.log.info({ workers: count, idleCores, connections }, 'connections go to another number of workers');
  }

  #lookAtMemory(slot: Slot, worker: WorkerProcess): void {
    const { workerMemoryMb } = this.#options.config;
    if (workerMemoryMb === 0 || slot.current !== worker || this.#isStopping || !this.#isStarted) return;
    const usedBytes = worker.vitals?.residentBytes ?? 0;
    slot.overTicks = usedBytes > workerMemoryMb * megabyte ? slot.overTicks + 1 : 0;
    if (slot.overTicks < overTicks || slot.isChanging) return;
    slot.overTicks = 0;
    this.#options.log.warn({ worker: slot.number, usedBytes }, 'a worker is over its memory limit and is replaced');
    void this.#replace(slot, 'memory');
  }

  /** Waits until the worker has ended; ends it when it takes longer than it may. */
  async #untilEnded(worker: WorkerProcess, lingersMs: number): Promise<void> {
    const limit = setTimeout(() => worker.kill(), lingersMs + this.#options.config.drainMs + endGraceMs);
    await worker.ended;
    clearTimeout(limit);
  }
}
