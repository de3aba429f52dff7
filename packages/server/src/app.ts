/**
 * The only constructor of long-lived objects. `openPlatform` is what every command needs; `startService` adds the HTTP
 * server on top.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { verifyEntries } from './access/verify-entries.ts';
import { type Administration, type AdministrationOptions, openAdministration } from './admin/administration.ts';
import { openPasswords } from './admin/passwords.ts';
import { openHeadFiles } from './audit/head-files.ts';
import { type Ledger, openLedger } from './audit/ledger.ts';
import { openProver } from './audit/proof.ts';
import { openSealingKey } from './audit/seal.ts';
import { auditSealing } from './audit/sealing.ts';
import type { Clock } from './base/clock.ts';
import { type Config, ConfigError } from './base/config.ts';
import { newSecret } from './base/ids.ts';
import type { Log } from './base/log.ts';
import { openMetrics } from './base/metrics.ts';
import { openSecrets, type Secrets } from './base/secrets.ts';
import { openAnswerRooms } from './bundle/answer-room.ts';
import { type Content, openContent } from './content/content.ts';
import { type Database, type DatabaseConnection, openDatabase } from './database/database.ts';
import { startEmbeddedPostgres } from './database/embedded/launcher.ts';
import { migrate } from './database/migrate.ts';
import { type Compressor, openCompressor } from './http/compression.ts';
import { openDocumentation } from './http/documentation.ts';
import { type OpenPages, openOpenPages } from './http/open-pages.ts';
import { baseUrlOf, type Origins, openOrigins } from './http/origins.ts';
import type { ServerParts } from './http/parts.ts';
import { openServer } from './http/server.ts';
import { parameterIndexing } from './indexing/firm-parameters.ts';
import { waitlistJob } from './interactions/waitlist/offering.ts';
import { type Job, type Jobs, openJobs } from './jobs/jobs.ts';
import { openGuessLimit } from './limits/guess-limit.ts';
import { openRateLimit } from './limits/rate-limit.ts';
import { openSharedCounters } from './limits/shared-counters.ts';
import { openCredentialUses } from './oauth/credential-uses.ts';
import { openLegacyUse } from './oauth/legacy-use.ts';
import { openRemoteKeys } from './oauth/remote-keys.ts';
import { openSessions } from './oauth/sessions.ts';
import { openSigningKeys } from './oauth/signing-keys.ts';
import { openTokenEndpoints } from './oauth/token-endpoint.ts';
import { openTokenScopes } from './oauth/token-scopes.ts';
import { agreedAppointmentsJob } from './scheduling/agreed-appointments.ts';
import { completenessSteps } from './storage/completeness.ts';
import { contentUpkeep } from './storage/content-upkeep.ts';
import { holdExpiry } from './storage/holds.ts';
import { keyExpiry } from './storage/kept-answers.ts';
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
  /** Where the bytes of documents lie. */
  readonly content: Content;
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
      store: openStore(database, openProver(secrets), options.clock),
      content: openContent(config),
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

/** Time from a row of the audit ledger to its statement; with the statement itself, rows of reads are written within 200 ms. */
const auditFlushMs = 100;

/** Accounts that one address may guess at in a minute before it is refused at all of them. */
const guessingAccountsMax = 10;

/** A running service. */
export interface Service {
  /** Where it listens, `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly parts: ServerParts;
  /** Work that goes on beside the requests. */
  readonly jobs: Jobs;
  /** Stops taking requests, waits for running ones at most `drainMs`. */
  drain(): Promise<void>;
}

/** Serves HTTP on `config.host` and `config.port` from `platform`. */
export async function startService(platform: Platform): Promise<Service> {
  const { config, clock, log, secrets, database, store } = platform;
  let listening = '';
  const stopping = new AbortController();
  const keys = openSigningKeys(database, secrets, clock);
  const uses = openCredentialUses(database, clock, log);
  const origins = openOrigins(config, () => listening);
  const counters = openSharedCounters(database, clock);
  const compressor = openCompressor(config.compressBytesMin);
  const remoteKeys = openRemoteKeys(clock, { loopback: config.jwksLoopback });
  const legacyUse = openLegacyUse({ database, clock, log });
  const onLegacyUse = legacyUse.count;
  const ledger = openLedger({ database, log, prove: openProver(secrets), flushMs: auditFlushMs });
  const rateLimit = openRateLimit(config, counters, clock, secrets);
  const parts: ServerParts = {
    config,
    clock,
    log,
    metrics: openMetrics({ processMetrics: true }),
    secrets,
    origins,
    environments: openEnvironmentDirectory(database),
    signingKeys: keys,
    sessions: openSessions({ database, secrets, clock, keys, uses, sessionsMax, onLegacyUse }),
    tokens: openTokenEndpoints({
      rateLimit,
      database,
      secrets,
      clock,
      keys,
      uses,
      guesses: openGuessLimit(counters, secrets, clock, {
        perAccount: config.guessLimit,
        perAddress: config.guessLimit * guessingAccountsMax,
      }),
      remoteKeys,
      scopes: openTokenScopes(database, clock, config.tokenScopeCharactersMax),
      originOfRealm: origins.ofRealm,
      settings: config,
      onLegacyUse,
    }),
    legacyUse,
    store,
    content: platform.content,
    ledger,
    rateLimit,
    answerRooms: openAnswerRooms(config),
    jsonLimits: {
      depthMax: config.jsonDepthMax,
      arrayLengthMax: config.arrayLengthMax,
      stringLengthMax: config.bodyBytesMax,
    },
    compressor,
    administration: administrationOf(platform, { counters, remoteKeys, ledger, origins }),
    validator: openValidator(),
    stopping: stopping.signal,
    openPages: openPagesOf(platform, origins, compressor),
  };
  const server = await openServer(parts);
  listening = await server.listen({ host: config.host, port: config.port });
  const seals = config.auditSealMs === 0 ? undefined : sealing(platform, ledger);
  const jobs = openJobs([...jobsOf(platform, origins, seals), counters.exchange], log);
  return {
    origin: listening,
    parts,
    jobs,
    async drain() {
      stopping.abort();
      await drain(server, config.drainMs);
      await jobs.stop();
      await parts.ledger.close();
      await seals?.finish();
      await legacyUse.close();
      await parts.validator.close();
      await uses.close();
    },
  };
}

/** Work beside the requests, but for that of parts with a lifetime of their own. */
function jobsOf(platform: Platform, origins: Origins, seals: Job | undefined): readonly Job[] {
  const { config, database, clock } = platform;
  return [
    keyExpiry(database, () => clock.now()),
    holdExpiry(database, () => clock.now()),
    contentUpkeep(database, platform.content, () => clock.now()),
    waitlistJob({ database, store: platform.store, clock, baseUrlOf: (firm) => baseUrlOfFirm(origins, firm) }),
    agreedAppointmentsJob({ database, clock, baseUrlOf: (firm) => baseUrlOfFirm(origins, firm) }),
    ...(config.completeLagMs === 0 ? [] : [completenessSteps(database, () => clock.now(), config.completeLagMs)]),
    parameterIndexing({ database, baseUrlOf: (firm) => baseUrlOfFirm(origins, firm) }),
    ...(seals === undefined ? [] : [seals]),
  ];
}

function openPagesOf({ config, database }: Platform, origins: Origins, compressor: Compressor): OpenPages {
  return openOpenPages({
    compressor,
    documentation: openDocumentation({ ...config, softwareVersion: version }, compressor),
    origins,
    cors: config.corsOrigins.length > 0,
    softwareVersion: version,
    releaseDate,
    ready: () => database.isReachable(),
  });
}

function administrationOf(
  { database, secrets, clock, store, config }: Platform,
  {
    origins,
    ...shared
  }: Pick<AdministrationOptions, 'counters' | 'remoteKeys' | 'ledger'> & {
    readonly origins: Origins;
  },
): Administration {
  return openAdministration({
    ...shared,
    originOfRealm: origins.ofRealm,
    baseUrlOf: (firm) => baseUrlOfFirm(origins, firm),
    database,
    secrets,
    clock,
    store,
    guessLimit: openGuessLimit(shared.counters, secrets, clock),
    passwords: openPasswords(secrets),
    prove: openProver(secrets),
    jwksLoopback: config.jwksLoopback,
  });
}

/** Where this machine keeps the heads of the audit ledgers' seals. */
export function auditHeadsDirectory({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.join(path.resolve(dataDir), 'audit-heads');
}

function sealing({ config, clock, log, secrets, database }: Platform, ledger: Ledger) {
  const heads = openHeadFiles(auditHeadsDirectory(config));
  const key = openSealingKey(secrets);
  return auditSealing({ database, clock, log, key, heads, ledger, pauseMs: config.auditSealMs });
}

/** The firm's base under the product that every firm has, as imports write it. */
function baseUrlOfFirm(origins: Origins, firm: { readonly environment: string; readonly prefix: string }): string {
  return baseUrlOf(origins, { environment: firm.environment, firm: firm.prefix, product: 'pm' });
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
