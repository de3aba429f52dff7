/**
 * Who uses the server: every process of the application holds one connection with a shared advisory lock for as long as it does. The lock
 * ends with its process however that ends, so the last one out can tell that it is the last, and stop the server.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Application, buildRoleName, type Role } from './application.ts';
import type { Credentials } from './create.ts';
import type { Postmaster } from './lock-file.ts';
import { isAlive } from './processes.ts';
import { markSetting } from './settings.ts';

export interface Presence {
  /** The mark that the server was started with. */
  readonly mark: string;
  /** Calls `handler` once when the connection is lost, not when it is ended here. */
  onLost(handler: () => void): void;
  /** True when no other process is present; then none can come until this one has ended. */
  becomeLast(): Promise<boolean>;
  end(): Promise<void>;
}

/** Key of the advisory lock: the ASCII bytes of "pres". */
const lockKey = 0x70726573;
const connectTimeoutMs = 10_000;
const noticeMaxMs = 2000;
const noticePauseMs = 10;

/** Connects to the server. Rejects with pg's error while the server is starting or stopping. */
export async function becomePresent(
  postmaster: Postmaster,
  credentials: Credentials,
  application: Application,
): Promise<Presence> {
  const presenceName = `${application.name} presence`;
  const client = new pg.Client({
    host: postmaster.host,
    port: postmaster.port,
    // Not the service's own database, which can then be dropped and restored with processes present.
    database: 'postgres',
    user: buildRoleName(application, 'owner'),
    password: credentials.owner,
    application_name: `${presenceName} ${process.pid}`,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  const state = { ending: false, lost: false, handler: (): void => undefined };
  client.on('error', () => undefined); // 'end' follows
  client.on('end', () => {
    state.lost = !state.ending;
    if (state.lost) state.handler();
  });
  await client.connect();
  const { rows } = await client.query<{ mark: string | null }>(
    `SELECT current_setting('${markSetting(application)}', true) AS mark FROM pg_advisory_lock_shared(${lockKey})`,
  );
  // Being present is no reason for a process to go on living.
  keepsAlive(client, false);
  return {
    mark: rows[0]?.mark ?? '',
    onLost(handler) {
      state.handler = handler;
      if (state.lost) handler();
    },
    async becomeLast() {
      keepsAlive(client, true);
      await client.query(`SELECT pg_advisory_unlock_shared(${lockKey})`);
      return await lockAlone(client, presenceName);
    },
    async end() {
      state.ending = true;
      keepsAlive(client, true);
      await client.end();
    },
  };
}

/**
 * Takes the lock for this process alone; false when another living process holds it. The server may take a moment to notice
 * that a process has died, so for those it waits.
 * @param presenceName begins the names of their connections; the process number follows
 */
async function lockAlone(client: pg.Client, presenceName: string): Promise<boolean> {
  const deadlineMs = performance.now() + noticeMaxMs;
  for (;;) {
    const attempt = await client.query<{ last: boolean }>(`SELECT pg_try_advisory_lock(${lockKey}) AS last`);
    if (attempt.rows[0]?.last === true) return true;
    const others = await client.query<{ name: string }>(
      `SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE '${presenceName} %' AND pid <> pg_backend_pid()`,
    );
    const alive = others.rows.some(({ name }) => isAlive(Number(name.slice(presenceName.length))));
    if (alive || performance.now() > deadlineMs) return false;
    await delay(noticePauseMs);
  }
}

/** Whether the open connection keeps this process from ending. pg has the methods, its types lack them. */
function keepsAlive(client: pg.Client, alive: boolean): void {
  const socket = client as unknown as { ref(): void; unref(): void };
  if (alive) socket.ref();
  else socket.unref();
}

/** Whether the server starts or recovers from a crash: it takes connections by itself after that. One that stops has the same code. */
export function isStartingUp(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '57P03' && !error.message.includes('shutting down');
}

/** Where the application's own database is and as whom to connect; `host` may be a directory that holds a Unix socket. */
export interface ServerConnection {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}

/** Where and as whom the application's own database is reached. */
export function buildServerConnection(
  { host, port }: Postmaster,
  credentials: Credentials,
  application: Application,
  role: Role,
): ServerConnection {
  return {
    host,
    port,
    database: application.name,
    user: buildRoleName(application, role),
    password: credentials[role],
  };
}
