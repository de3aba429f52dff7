/**
 * The only constructor of long-lived objects. `openPlatform` is what every command needs; `startService` adds the HTTP
 * server on top.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { verifyEntries } from './access/verify-entries.ts';
import type { Clock } from './base/clock.ts';
import { type Config, ConfigError } from './base/config.ts';
import { newSecret } from './base/ids.ts';
import type { Log } from './base/log.ts';
import { openMetrics } from './base/metrics.ts';
import { openSecrets, type Secrets } from './base/secrets.ts';
import { type Database, type DatabaseConnection, openDatabase } from './database/database.ts';
import { startEmbeddedPostgres } from './database/embedded/launcher.ts';
import { migrate } from './database/migrate.ts';
import { openCompressor } from './http/compression.ts';
import { openOpenPages } from './http/open-pages.ts';
import { openOrigins } from './http/origins.ts';
import type { ServerParts } from './http/parts.ts';
import { openRateLimit } from './http/rate-limit.ts';
import { openServer } from './http/server.ts';
import { openSessions } from './oauth/sessions.ts';
import { openSigningKeys } from './oauth/signing-keys.ts';
import { openTokenEndpoints } from './oauth/token-endpoint.ts';
import { openStore, type ResourceStore } from './storage/store.ts';
import { ensureDefaultEnvironments, openEnvironmentDirectory } from './tenancy/environments.ts';
import { openValidator } from './validation/validation.ts';
import { releaseDate, version } from './version.ts';

/** Database, secrets and store: open until `close`. */
export interface Platform {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly database: Database;
  readonly store: ResourceStore;
  /** Runs `work` as the owner role, which row-level security does not bind: for operators' maintenance alone. */
  asOwner<T>(work: (owner: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface PlatformOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** A database that is there already; otherwise the settings say which. */
  readonly connections?: Connections;
}

/**
 * Opens the database (starting the embedded one where no DATABASE_URL is set), brings its schema up to date and makes the
 * default environments. Safe when several processes start together.
 */
export async function openPlatform(options: PlatformOptions): Promise<Platform> {
  const { config, log } = options;
  verifyEntries();
  const secrets = openSecrets(secretKeyOf(config));
  const connections = options.connections ?? (await openConnections(config, log));
  try {
    await migrate({ connection: connections.owner, log });
    const database = await openDatabase({
      connection: connections.runtime,
      poolMax: config.databasePoolMax,
      statementTimeoutMs: config.statementTimeoutMs,
      log,
    });
    await ensureDefaultEnvironments(database);
    return {
      config,
      clock: options.clock,
      log,
      secrets,
      database,
      store: openStore(database),
      asOwner: (work) => withOwner(connections.owner, log, work),
      async close() {
        await database.close();
        await connections.stop();
      },
    };
  } catch (error) {
    await connections.stop();
    throw error;
  }
}

/** Connections of an owner's maintenance: one that works and one that waits. */
const ownerPoolMax = 2;

async function withOwner<T>(
  connection: DatabaseConnection,
  log: Log,
  work: (owner: Database) => Promise<T>,
): Promise<T> {
  const owner = await openDatabase({
    connection,
    rowSecurity: 'bypassed',
    poolMax: ownerPoolMax,
    statementTimeoutMs: 0,
    log,
    applicationName: 'praxis owner',
  });
  try {
    return await work(owner);
  } finally {
    await owner.close();
  }
}

/** Sessions remembered by one process: one per token, key and firm. */
const sessionsMax = 50_000;

/** A running service. */
export interface Service {
  /** Where it listens, `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly parts: ServerParts;
  /** Stops taking requests, waits for running ones at most `drainMs`. */
  drain(): Promise<void>;
}

/** Serves HTTP on `config.host` and `config.port` from `platform`. */
export async function startService(platform: Platform): Promise<Service> {
  const { config, clock, log, secrets, database, store } = platform;
  let listening = '';
  const keys = openSigningKeys(database, secrets);
  const origins = openOrigins(config, () => listening);
  const compressor = openCompressor(config.compressBytesMin);
  const parts: ServerParts = {
    config,
    clock,
    log,
    metrics: openMetrics({ processMetrics: true }),
    secrets,
    origins,
    environments: openEnvironmentDirectory(database),
    signingKeys: keys,
    sessions: openSessions({ database, secrets, clock, keys, sessionsMax }),
    tokens: openTokenEndpoints({ database, secrets, clock, keys, originOfRealm: origins.ofRealm, settings: config }),
    store,
    rateLimit: openRateLimit(config.rateLimit, clock),
    jsonLimits: {
      depthMax: config.jsonDepthMax,
      arrayLengthMax: config.arrayLengthMax,
      stringLengthMax: config.bodyBytesMax,
    },
    compressor,
    validator: openValidator(),
    openPages: openOpenPages({
      compressor,
      origins,
      cors: config.corsOrigins.length > 0,
      softwareVersion: version,
      releaseDate,
      ready: () => database.isReachable(),
    }),
  };
  const server = await openServer(parts);
  const address = await server.listen({ host: config.host, port: config.port });
  listening = address;
  return {
    origin: address,
    parts,
    async drain() {
      await drain(server, config.drainMs);
      await parts.validator.close();
    },
  };
}

/** Connections that are still open after `drainMs` are cut, so that a silent client does not keep the process alive. */
async function drain(
  server: { readonly server: { closeAllConnections(): void }; close(): Promise<void> },
  drainMs: number,
): Promise<void> {
  const limit = setTimeout(() => server.server.closeAllConnections(), drainMs);
  await server.close();
  clearTimeout(limit);
}

/** Both roles of a database; `stop` ends what was started for them. */
export interface Connections {
  readonly owner: DatabaseConnection;
  readonly runtime: DatabaseConnection;
  stop(): Promise<void>;
}

async function openConnections(config: Config, log: Log): Promise<Connections> {
  if (config.databaseUrl === '') return startEmbeddedPostgres({ dataDir: path.resolve(config.dataDir), log });
  return {
    owner: { url: config.databaseUrl },
    runtime:
      config.runtimeDatabaseUrl === ''
        ? { url: config.databaseUrl, role: 'praxis_runtime' }
        : { url: config.runtimeDatabaseUrl },
    stop: async () => undefined,
  };
}

/** The configured key; for the embedded database one is made at the first start, readable by its owner only. */
function secretKeyOf(config: Config): string {
  if (config.secretKey !== '') return config.secretKey;
  if (config.databaseUrl !== '') {
    throw new ConfigError(
      'PRAXIS_SECRET_KEY must be set with DATABASE_URL: 32 random bytes in base64url, the same on every node',
    );
  }
  const file = path.join(path.resolve(config.dataDir), 'secret.key');
  mkdirSync(path.dirname(file), { recursive: true });
  try {
    // wx: of several first starts together, one writes and the others read what it wrote.
    writeFileSync(file, newSecret(), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
