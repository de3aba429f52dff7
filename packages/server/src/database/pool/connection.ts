/**
 * One pipelined connection: several statements may be under way on it, answered in order.
 *
 * The firm of a connection is the session setting `praxis.firm`, which row-level security compares with each row. A
 * statement leaves its setting out only when an earlier segment has *confirmed* the same value (the server has reported its
 * success) and no other value was sent since. Anything else, an error in particular, and the next statement brings its own
 * again. So a statement can never run under the setting of another firm.
 */
import pg from 'pg';
import type { Log } from '../../base/log.ts';
import { type Sql, sql } from '../sql.ts';
import { classifyFailure, isFatal } from '../sqlstate.ts';
import type { KnownColumns } from './known-columns.ts';
import { type BatchOutcome, executionsMax, MultiTenantBatch, rolledBack } from './multi-tenant-batch.ts';
import { areTexts, toParameterTexts } from './parameter-texts.ts';
import {
  type FirmPlan,
  firmSetting,
  type PipelinedPlan,
  PipelinedQuery,
  type Row,
  type Settle,
  timeoutSetting,
  type Wire,
} from './pipelined-query.ts';
import { openNames, type PreparedNames } from './prepared-names.ts';
import type { SharedTime } from './shared-time.ts';
import type { Asker } from './shares.ts';
import { type FirmValue, groupByFirm, type Queued } from './statement-queue.ts';

export type { FirmValue } from './statement-queue.ts';

export interface ConnectionHooks {
  readonly names: PreparedNames;
  readonly log: Log;
  /** After it the database ends the session of an open transaction, where it can (PostgreSQL 17), in ms; 0 = never. */
  readonly sessionTransactionMaxMs?: number;
  /** After every answer. */
  onProgress(connection: Connection): void;
  /** Once, when it can no longer be used; statements under way have failed or will. */
  onEnd(connection: Connection): void;
}

/** Prepared statements that one connection keeps; the least recently used are given up. */
const preparedPerConnectionMax = 256;

const noSettings = { firm: undefined, timeoutMs: undefined };

export class Connection {
  /** Statements sent and not yet answered. */
  inFlight = 0;
  /** Held by a transaction: takes no other statements. */
  reserved = false;
  /** Instead of the lane's limit, while a transaction with a statement timeout of its own holds the connection. */
  answerMaxMs: number | undefined;
  /** Whom its lane has given it to, where it serves one caller at a time. */
  holder: Asker | undefined;
  /** By which the time of its statements is taken, where that is told. */
  time: SharedTime | undefined;
  /** False from the moment that no further statement may be sent. */
  usable = true;
  readonly #client: pg.Client;
  readonly #hooks: ConnectionHooks;
  readonly #prepared = openNames(preparedPerConnectionMax);
  readonly #columns: KnownColumns = new Map();
  /** Settings hold for one segment only: there is a pooler between, and the next segment may run in another session. */
  readonly #settingOnce: boolean;
  #setting: { readonly value: FirmValue; confirmed: boolean } | undefined;
  #headSinceMs = 0;
  #headLooks = 0;
  #beganAt = 0;
  #workedMs = 0;
  #lastMs = 0;
  #queue: Queued[] = [];

  private constructor(client: pg.Client, hooks: ConnectionHooks, settingOnce: boolean) {
    this.#client = client;
    this.#hooks = hooks;
    this.#settingOnce = settingOnce;
  }

  /** Connects and prepares the firm's setting. Rejects with pg's error. */
  static async open(config: pg.ClientConfig, hooks: ConnectionHooks): Promise<Connection> {
    const client = new pg.Client(config);
    const broken = { error: undefined as unknown, told: undefined as Connection | undefined };
    // Without a listener a lost idle connection would end the process.
    client.on('error', (error) => {
      broken.error = error;
      broken.told?.abandon(error);
    });
    client.on('end', () => broken.told?.abandon(broken.error));
    try {
      await client.connect();
      const connection = new Connection(client, hooks, await isPooled(client));
      await connection.#limitTransactions(hooks.sessionTransactionMaxMs ?? 0);
      if (broken.error !== undefined) throw broken.error;
      broken.told = connection;
      return connection;
    } catch (error) {
      // Not end(): a connection that failed while logging in would wait for the server, and take one of its places.
      streamOf(client).destroy();
      throw error;
    }
  }

  /** The firm whose setting was sent last; confirmed or not. For choosing a connection only. */
  get firm(): FirmValue | undefined {
    return this.#setting?.value;
  }

  /** How long the statement at the head has been running, in ms; 0 when idle. */
  headAgeMs(nowMs: number): number {
    return this.inFlight === 0 ? 0 : nowMs - this.#headSinceMs;
  }

  /** To be called at intervals. @returns how often, this time too, since the statement at the head is there */
  countLook(): number {
    this.#headLooks += 1;
    return this.#headLooks;
  }

  /** How long the database has worked for the holder, in ms, without what is under way. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** How long it has worked for the statement that is under way, in ms; 0 where that is not told. */
  get workingMs(): number {
    return this.time === undefined || this.inFlight === 0 ? 0 : this.time.since(this.#beganAt);
  }

  /** How long it has worked for the statement that was sent last, in ms; 0 where that is not told. */
  get lastMs(): number {
    return this.inFlight === 0 ? this.#lastMs : this.workingMs;
  }

  /** As `workedMs`, which then begins anew. */
  takeWorkedMs(): number {
    const ms = this.#workedMs;
    this.#workedMs = 0;
    return ms;
  }

  /** Whether a statement of `firm` would probably find its firm set, or share its setting. */
  serves(firm: FirmValue): boolean {
    return this.#setting?.value === firm || this.#queue.some((queued) => queued.firm === firm);
  }

  /**
   * Sends `statement` to run with `firm` set, together with what else is sent before the event loop turns. It is a
   * transaction of its own, or with `mayShare` part of a run: then its error may be `rolledBack`.
   */
  execute(firm: FirmValue, statement: Sql, settle: Settle, mayShare = false, timeoutMs?: number): void {
    this.#started();
    this.#queue.push({ firm, statement, settle, mayShare, timeoutMs });
    if (this.#queue.length === 1) process.nextTick(() => this.#sendQueue());
  }

  /** Sends `statement` inside the transaction that holds the connection, which has its firm set. */
  executeReserved(statement: Sql): Promise<Row[]> {
    this.#started();
    return new Promise((resolve, reject) => {
      this.#send(statement, noSettings, (error, rows) => {
        if (error === undefined) resolve(rows);
        else reject(error);
        this.#answered();
      });
    });
  }

  /** Runs text of several statements, for beginning and ending transactions. Resolves with the last command's tag. */
  async control(text: string): Promise<string> {
    this.#started();
    try {
      const results: pg.QueryResult | pg.QueryResult[] = await this.#client.query(text);
      return (Array.isArray(results) ? results.at(-1) : results)?.command ?? '';
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      this.#answered();
    }
  }

  /** Takes no new statements and ends when those under way are answered. */
  retire(): void {
    if (!this.usable) return;
    this.usable = false;
    this.#hooks.onEnd(this);
    if (this.inFlight === 0) this.#end();
  }

  /** Ends at once; statements under way fail as `lost`. */
  abandon(reason: unknown): void {
    this.#setting = undefined;
    if (this.usable) {
      this.usable = false;
      this.#hooks.log.warn(
        { reason: reason instanceof Error ? reason.message : 'connection closed' },
        'database connection lost',
      );
      this.#hooks.onEnd(this);
    }
    streamOf(this.#client).destroy();
  }

  /** Behind a pooler the session is not ours alone. */
  async #limitTransactions(maxMs: number): Promise<void> {
    if (maxMs === 0 || this.#settingOnce) return;
    await this.#client.query(
      `SELECT set_config(name, '${Math.trunc(maxMs)}', false) FROM pg_settings WHERE name = 'transaction_timeout'`,
    );
  }

  /** In one write to the socket, which halves the CPU time per statement; by firm, the one that is set first. */
  #sendQueue(): void {
    const queue = this.#queue;
    this.#queue = [];
    const stream = streamOf(this.#client);
    stream.cork();
    if (queue.length === 1) for (const one of queue) this.#sendAlone(one);
    else this.#sendTogether(groupByFirm(queue, this.firm));
    stream.uncork();
  }

  /** What finds its firm set, or may not share a transaction, alone; the rest in runs. */
  #sendTogether(queue: readonly Queued[]): void {
    const runs = new Map<string, Queued[]>();
    for (const queued of queue) {
      const name = this.#isConfirmed(queued.firm) ? undefined : this.#sharedName(queued);
      if (name === undefined) this.#sendAlone(queued);
      else {
        const run = runs.get(name);
        if (run === undefined) runs.set(name, [queued]);
        else run.push(queued);
      }
    }
    for (const [name, run] of runs) {
      for (let from = 0; from < run.length; from += executionsMax)
        this.#sendRun(name, run.slice(from, from + executionsMax));
    }
  }

  #isConfirmed(firm: FirmValue): boolean {
    return this.#setting?.value === firm && this.#setting.confirmed;
  }

  /** The name that the statement is prepared under, if it may be part of a run. */
  #sharedName({ mayShare, timeoutMs, statement }: Queued): string | undefined {
    if (!mayShare || timeoutMs !== undefined || !areTexts(statement.values)) return undefined;
    const name = this.#hooks.names.nameOf(statement.text);
    return name !== undefined && wireOf(this.#client).parsedStatements[name] !== undefined ? name : undefined;
  }

  #sendAlone({ firm, statement, settle, timeoutMs }: Queued): void {
    const { plan, confirm } = this.#settingFor(firm);
    const settings = { firm: plan, timeoutMs };
    this.#send(statement, settings, (error, rows) => {
      confirm(error === undefined);
      settle(error, rows);
      this.#answered();
    });
  }

  #sendRun(name: string, run: readonly Queued[]): void {
    const last = run.at(-1);
    if (last === undefined) return;
    if (run.length === 1) return this.#sendAlone(last);
    const { confirm } = this.#settingFor(last.firm);
    const settle = (outcomes: readonly BatchOutcome[]): void => {
      const errors = outcomes.map(({ error }) => error).filter((error) => error !== undefined);
      for (const error of errors) if (error !== rolledBack) this.#failed(error);
      confirm(errors.length === 0);
      for (const [at, { error, rows }] of outcomes.entries()) run[at]?.settle(error, rows);
      for (const _ of outcomes) this.#answered();
    };
    this.#prepared.use(name);
    const executions = run.map(({ firm, statement }) => ({
      firm: { value: firm, once: this.#settingOnce },
      values: toParameterTexts(statement.values),
    }));
    this.#query(new MultiTenantBatch({ name, text: last.statement.text, executions, settle }));
  }

  /** What to send so that `firm` is set, and whom to tell whether that was confirmed. */
  #settingFor(firm: FirmValue): { readonly plan: FirmPlan | undefined; confirm(succeeded: boolean): void } {
    const known = this.#setting;
    const setting = known?.value === firm ? known : { value: firm, confirmed: false };
    this.#setting = setting;
    return {
      plan: setting.confirmed ? undefined : { value: firm, once: this.#settingOnce },
      confirm: (succeeded) => {
        if (!succeeded) this.#setting = undefined;
        else if (!this.#settingOnce) setting.confirmed = true;
      },
    };
  }

  #send(statement: Sql, settings: Pick<PipelinedPlan, 'firm' | 'timeoutMs'>, settle: Settle): void {
    const name = this.#hooks.names.nameOf(statement.text);
    const evict = name === undefined ? undefined : this.#prepared.use(name);
    this.#query(
      new PipelinedQuery({
        statement,
        name,
        evict,
        columns: this.#columns,
        ...settings,
        settle: (error, rows) => {
          if (error !== undefined) this.#failed(error);
          settle(error, rows);
        },
      }),
    );
  }

  /** The types know pg's own query classes only; ours are some at run time. */
  #query(query: PipelinedQuery | MultiTenantBatch): void {
    this.#client.query(query as unknown as pg.Submittable);
  }

  #started(): void {
    if (this.inFlight++ > 0) return;
    this.#beginHead();
    if (this.time !== undefined) this.#beganAt = this.time.begin();
  }

  #answered(): void {
    this.inFlight--;
    this.#beginHead();
    if (this.time !== undefined && this.inFlight === 0) {
      this.#lastMs = this.time.end(this.#beganAt);
      this.#workedMs += this.#lastMs;
    }
    if (!this.usable && this.inFlight === 0) this.#end();
    this.#hooks.onProgress(this);
  }

  #beginHead(): void {
    this.#headSinceMs = performance.now();
    this.#headLooks = 0;
  }

  #failed(error: unknown): void {
    this.#setting = undefined;
    if (isFatal(error) || classifyFailure(error) === 'stale-plan') this.retire();
  }

  #end(): void {
    // Nothing waits for it: the session is over either way.
    this.#client.end().catch(() => undefined);
  }
}

/** pg's types do not declare `connection`. */
function wireOf(client: pg.Client): Wire {
  return (client as unknown as { readonly connection: Wire }).connection;
}

/** Read each time: TLS replaces the stream while connecting. */
function streamOf(client: pg.Client): Wire['stream'] {
  return wireOf(client).stream;
}

/** Prepares the settings, and tells whether another session than ours answers: then a pooler stands between. */
async function isPooled(client: pg.Client): Promise<boolean> {
  const announced = (client as unknown as { readonly processID: number | null }).processID;
  const [, , answer] = await Promise.all([
    client.query({ ...firmSetting, values: ['', 't'] }),
    client.query({ ...timeoutSetting, values: ['0'] }),
    client.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`.text),
  ]);
  return answer.rows[0]?.pid !== announced;
}
