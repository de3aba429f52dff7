/**
 * The embedded database: a real PostgreSQL on `<data dir>/postgres`, made at the first start, started when no server runs on
 * it, shared by all processes of the application that use that data directory, stopped by the last of them. A server that was left behind by a
 * killed process is used again; one that dies is started again.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chooseAccount } from './account.ts';
import type { Application } from './application.ts';
import { findBinaries } from './binaries.ts';
import { type Credentials, createCluster, readCredentials } from './create.ts';
import { EnvironmentError, ServerError } from './errors.ts';
import { type Layout, removeSocketDirectory, resolveLayout } from './layout.ts';
import { findPostmaster, type Postmaster } from './lock-file.ts';
import {
  becomePresent,
  buildServerConnection,
  isStartingUp,
  type Presence,
  type ServerConnection,
} from './presence.ts';
import { keepGroupsLowered } from './priority.ts';
import { ensureReachableBinaries } from './reachable-binaries.ts';
import { readServerVersion } from './server-version.ts';
import { computeSettingsMark, type Durability } from './settings.ts';
import { readyMaxMs, StartFailure, type StartOptions, startPostmaster } from './start-postmaster.ts';
import { stopPostmaster } from './stop-postmaster.ts';

/** Where it tells what it does; pino's loggers are some. */
export type ServerLog = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (fields: Readonly<Record<string, unknown>>, message: string) => void>
>;

export interface EmbeddedPostgres {
  /** The application's database as its owner. */
  readonly owner: ServerConnection;
  /** The application's database as a role that owns nothing. */
  readonly runtime: ServerConnection;
  /** The server's process. */
  readonly pid: number;
  /** Whether this call started the server, rather than finding one running. */
  readonly started: boolean;
  /** Stops the server if no other process uses it. Close connections before. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly application: Application;
  /** Absolute path of a directory that exists; the server's files are in `postgres` below it. */
  readonly dataDir: string;
  readonly log: ServerLog;
  /** Default `full`. `none` gives up crash safety for speed: for tests of other things only. */
  readonly durability?: Durability;
  /** How long a server may not answer before it is given up and stopped; default 20,000 ms. */
  readonly unreachableMaxMs?: number;
  /**
   * Added to the niceness of the server (nice(1)), where this process starts it, so that processes which answer requests are not
   * kept waiting by statements; default 0.
   */
  readonly niceness?: number;
}

const unreachableDefaultMs = 20_000;
const pauseMs = 20;
/** Processes of a killed server end at the latest with their statement's timeout. */
const retryStartPauseMs = 100;
const restartPauseMs = 1000;

/** What does not change while this process uses the cluster. */
interface Ground extends StartOptions {
  readonly credentials: Credentials;
  readonly unreachableMaxMs: number;
  readonly log: ServerLog;
}

interface Use {
  readonly postmaster: Postmaster;
  readonly presence: Presence;
  readonly started: boolean;
}

/**
 * Starts or finds the server on the data directory, making the cluster if there is none. Safe when several processes do so at
 * once, and after any of them was killed at any moment.
 * @throws EnvironmentError when this machine or this user cannot run it, with what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const ground = await prepare(options);
  const use = await useServer(ground);
  return {
    owner: buildServerConnection(use.postmaster, ground.credentials, options.application, 'owner'),
    runtime: buildServerConnection(use.postmaster, ground.credentials, options.application, 'runtime'),
    pid: use.postmaster.pid,
    started: use.started,
    ...keepUsing(ground, use),
  };
}

async function prepare(options: EmbeddedOptions): Promise<Ground> {
  const { application, log, durability = 'full' } = options;
  const layout = resolveLayout(path.join(options.dataDir, 'postgres'));
  const account = chooseAccount(layout.root, [layout.root], application);
  const binaries = ensureReachableBinaries(findBinaries(application), account, application);
  const serverVersion = await readServerVersion(account, binaries, application);
  if (await createCluster(options.dataDir, { binaries, account, application, durability }))
    log.info({ dataDir: options.dataDir }, 'embedded database created');
  requireSameMajor(layout, serverVersion, application);
  return {
    layout,
    binaries,
    account,
    application,
    durability,
    unreachableMaxMs: options.unreachableMaxMs ?? unreachableDefaultMs,
    niceness: options.niceness ?? 0,
    log,
    mark: computeSettingsMark(durability, serverVersion),
    credentials: readCredentials(layout, application),
  };
}

function requireSameMajor(layout: Layout, serverVersion: string, { name }: Application): void {
  const ofData = readFileSync(path.join(layout.cluster, 'PG_VERSION'), 'utf8').trim();
  const [ofServer] = serverVersion.split('.');
  if (ofData === ofServer) return;
  throw new EnvironmentError(
    `Embedded database in ${layout.root} was made by PostgreSQL ${ofData}, this ${name} brings ${ofServer}: ` +
      `make a backup with the ${name} version that made it, move the directory away and restore the backup`,
  );
}

/** Finds a running server or starts one, and becomes present. Repeats while servers come and go. */
async function useServer(ground: Ground): Promise<Use> {
  let goneSinceMs = performance.now();
  let unreachableSinceMs: number | undefined;
  for (;;) {
    const found = findPostmaster(ground.layout);
    const use = found === undefined ? await startServer(ground) : await joinServer(ground, found);
    if (typeof use === 'object') return use;
    const nowMs = performance.now();
    // Shot in the middle of a recovery it would begin it anew.
    if (use === 'starting') [goneSinceMs, unreachableSinceMs] = [nowMs, undefined];
    if (nowMs - goneSinceMs > readyMaxMs)
      throw new ServerError(
        `Embedded PostgreSQL in ${ground.layout.root} cannot be started or reached: see its log in ${ground.layout.log}`,
      );
    unreachableSinceMs = use === 'unreachable' ? (unreachableSinceMs ?? nowMs) : undefined;
    if (found !== undefined && nowMs - (unreachableSinceMs ?? nowMs) > ground.unreachableMaxMs) {
      ground.log.warn({ pid: found.pid }, 'embedded database does not answer and is stopped');
      await stopPostmaster(ground.layout, ground.binaries, found, false);
    }
    await delay(pauseMs);
  }
}

/** Undefined when another process was faster, or processes of a killed server still end. */
async function startServer(ground: Ground): Promise<Use | undefined> {
  try {
    const postmaster = await startPostmaster(ground);
    const presence = await becomePresent(postmaster, ground.credentials, ground.application);
    return { postmaster, presence, started: true };
  } catch (error) {
    if (error instanceof StartFailure && !error.passes) throw error;
    ground.log.debug({ err: error }, 'embedded database cannot be started yet');
    await delay(retryStartPauseMs);
    return undefined;
  }
}

/**
 * `starting`: the server starts or recovers from a crash, and says so. `unreachable`: it does not answer. Undefined: it stops,
 * or was stopped because its settings are other ones.
 */
async function joinServer(
  ground: Ground,
  postmaster: Postmaster,
): Promise<Use | 'starting' | 'unreachable' | undefined> {
  if (!postmaster.ready) return postmaster.starting ? 'starting' : undefined;
  let presence: Presence;
  try {
    presence = await becomePresent(postmaster, ground.credentials, ground.application);
  } catch (error) {
    ground.log.debug({ err: error }, 'embedded database cannot be reached yet');
    return isStartingUp(error) ? 'starting' : 'unreachable';
  }
  if (presence.mark === ground.mark) return { postmaster, presence, started: false };
  return await replaceServer(ground, postmaster, presence);
}

/** Stops a server of another version of the application, unless that one is in use. */
async function replaceServer(ground: Ground, postmaster: Postmaster, presence: Presence): Promise<undefined> {
  const last = await presence.becomeLast();
  if (last) await stopPostmaster(ground.layout, ground.binaries, postmaster);
  await presence.end();
  if (!last)
    throw new EnvironmentError(
      `Embedded database in ${ground.layout.root} is in use by another version of ${ground.application.name}: stop that one first`,
    );
  ground.log.info({}, 'embedded database restarts with new settings');
}

/** Starts the server again when it dies; `stop` ends the use. */
function keepUsing(ground: Ground, first: Use): { stop(): Promise<void> } {
  const state = { stopping: false, use: Promise.resolve(first), stopLowering: (): void => undefined };
  const watch = (use: Use): Use => {
    state.stopLowering = keepGroupsLowered(use.postmaster.pid, ground.niceness);
    use.presence.onLost(() => {
      state.stopLowering();
      if (state.stopping) return;
      ground.log.error({ pid: use.postmaster.pid }, 'embedded database was lost');
      state.use = restart(use);
    });
    return use;
  };
  const restart = async (lost: Use): Promise<Use> => {
    while (!state.stopping) {
      try {
        const use = watch(await useServer(ground));
        ground.log.info({ pid: use.postmaster.pid }, 'embedded database is back');
        return use;
      } catch (error) {
        ground.log.error({ err: error }, 'embedded database cannot be started again yet');
        await delay(restartPauseMs, undefined, { ref: false });
      }
    }
    return lost;
  };
  watch(first);
  return {
    async stop() {
      if (state.stopping) return;
      state.stopping = true;
      state.stopLowering();
      await leave(ground, await state.use);
    },
  };
}

async function leave(ground: Ground, { postmaster, presence }: Use): Promise<void> {
  try {
    if (!(await presence.becomeLast())) return;
    await stopPostmaster(ground.layout, ground.binaries, postmaster);
    removeSocketDirectory(ground.layout, postmaster.host);
  } catch (error) {
    ground.log.debug({ err: error }, 'embedded database had ended before');
  } finally {
    await presence.end();
  }
}
