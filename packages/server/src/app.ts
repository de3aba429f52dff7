/**
 * The only constructor of long-lived objects. `openPlatform` is what every command needs; `startService` adds the HTTP
 * server on top.
 */
import { verifyEntries } from './access/verify-entries.ts';
import type { Administration, AdministrationOptions } from './admin/administration.ts';
import { openAdministrationOnDemand } from './admin/on-demand.ts';
import { openPasswords } from './admin/passwords.ts';
import { openLedger } from './audit/ledger.ts';
import { openProver } from './audit/proof.ts';
import { openSealing } from './audit/sealing.ts';
import type { Clock } from './base/clock.ts';
import type { Config } from './base/config.ts';
import type { Log } from './base/log.ts';
import { openMetrics } from './base/metrics.ts';
import { openSecrets, type Secrets } from './base/secrets.ts';
import { makeTrustedClock, openServiceClock, type ServiceClock } from './base/service-clock.ts';
import type { Tracer } from './base/tracing/tracer.ts';
import { openResponseBudgets } from './bundle/response-budget.ts';
import { type Content, openContent } from './content/content.ts';
import { openClockJob, readClock } from './database/clock-reading.ts';
import { type Connections, openConnections } from './database/connections.ts';
import { type Database, type DatabaseConnection, openDatabase } from './database/database.ts';
import { migrate } from './database/migrate.ts';
import { runWithLock, type sessionLocks } from './database/session-lock.ts';
import { openTracing } from './database/tracing.ts';
import { openWriteProbe } from './database/write-probe.ts';
import { openCompressor } from './http/answer/compression.ts';
import { drainServer } from './http/connections/drain-server.ts';
import { openRequestPlaces } from './http/connections/request-places.ts';
import { type TakenConnections, takeConnections } from './http/connections/taken-connections.ts';
import { buildFirmBaseUrl, type Origins, openOrigins } from './http/origins.ts';
import { openDocumentation } from './http/pages/documentation.ts';
import { createPublicRoutes, type PublicRoutesOptions } from './http/pages/public-routes.ts';
import { checkReadiness } from './http/pages/readiness.ts';
import { readStates } from './http/pages/state-metrics.ts';
import { openRequestLog } from './http/request-log.ts';
import { openServer } from './http/server.ts';
import type { ServerServices } from './http/services.ts';
import { shareEventLoop } from './http/share-event-loop.ts';
import { openDeclaredJobs } from './jobs/declared-job.ts';
import { type Job, type Jobs, openJobs } from './jobs/jobs.ts';
import { type Keys, openKeys, requireOwningKey } from './keys/data-keys.ts';
import { type GivenKeys, readSecretKeys } from './keys/secret-keys.ts';
import { openBruteForceLimit } from './limits/brute-force-limit.ts';
import { openBudgets } from './limits/budgets.ts';
import { openRateLimit } from './limits/rate-limit.ts';
import { openSharedCounters, type SharedCounters } from './limits/shared-counters.ts';
import { openCredentialUses } from './oauth/client-auth/credential-uses.ts';
import { openRemoteKeys } from './oauth/client-auth/remote-keys.ts';
import { openLegacyUse } from './oauth/legacy/use.ts';
import { openApplicationSessions } from './oauth/session/application-session.ts';
import { openSessions } from './oauth/session/sessions.ts';
import { openSigningKeys } from './oauth/signing/signing-keys.ts';
import { openTokenScopes } from './oauth/signing/token-scopes.ts';
import { openTokenEndpoints, type TokenEndpoints } from './oauth/token-endpoint.ts';
import type { TokenService } from './oauth/token-service.ts';
import { jobs as declaredJobs, type JobServices } from './practice/features.ts';
import { registerPractice } from './practice/register.ts';
import { openDeliveryMeter } from './practice/subscriptions/delivering/delivery-meter.ts';
import { openBindings } from './practice/subscriptions/sockets/bindings.ts';
import { openStore, type ResourceStore } from './storage/store.ts';
import { ensureDefaultEnvironments, openEnvironmentDirectory } from './tenancy/environments.ts';
import { openValidator } from './validation/validation.ts';
import { releaseDate, version } from './version.ts';

/** Database, secrets and store: open until `close`. */
export interface Platform {
  readonly config: Config;
  /** The time of the service: all code takes it from here, that of a firm by tenancy/firm-time.ts. */
  readonly clock: ServiceClock;
  readonly log: Log;
  readonly keys: Keys;
  readonly secrets: Secrets;
  readonly connections: Pick<Connections, 'owner' | 'runtime'>;
  readonly database: Database;
  readonly store: ResourceStore;
  /** undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** Versions of the schema that it was brought up to when it was opened; none where it was up to date. */
  readonly migrations: readonly number[];
  /** Where the bytes of documents lie. */
  readonly content: Content;
  /** Runs `work` as the owner role, which row-level security does not bind: for operators' maintenance alone. */
  asOwner<T>(work: (owner: Database) => Promise<T>): Promise<T>;
  /** Runs `work` while this process alone holds the lock; `onWait` is called once when another one holds it. */
  holding<T>(lock: keyof typeof sessionLocks, onWait: () => void, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface PlatformOptions {
  readonly config: Config;
  /** The time as it is to be, for tests; absent: the database's. */
  readonly clock?: Clock;
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
  registerPractice();
  const given = readSecretKeys(config);
  const connections = options.connections ?? (await openConnections(config, log));
  try {
    const { owner } = connections;
    const migrations = await migrate({ connection: owner, log, verifyBefore: (each) => requireOwningKey(each, given) });
    const [keys, untraced] = await openKeysAndDatabase(connections, given, { config, log });
    const { database, tracer } = await openTracing(config, untraced, { log, version });
    const secrets = openSecrets(keys.dataKeys);
    const clock = options.clock === undefined ? openServiceClock() : makeTrustedClock(options.clock);
    const [reading] = await Promise.all([readClock(database), ensureDefaultEnvironments(database)]);
    clock.learn(reading);
    return {
      config,
      clock,
      log,
      keys,
      secrets,
      migrations,
      connections,
      database,
      store: openStore(database, openProver(secrets), clock),
      tracer,
      content: openContent(config),
      asOwner: (work) => withOwner(connections.owner, log, work),
      holding: (lock, onWait, work) => runWithLock({ connection: connections.owner, lock, log, onWait }, work),
      async close() {
        await database.close();
        await connections.stop();
        await tracer?.close();
      },
    };
  } catch (error) {
    await connections.stop();
    throw error;
  }
}

/** Both at once: to log in takes the server longer than what is asked then. */
async function openKeysAndDatabase(
  { owner, runtime }: Connections,
  given: GivenKeys,
  { config, log }: Pick<PlatformOptions, 'config' | 'log'>,
): Promise<readonly [Keys, Database]> {
  const opening = openDatabase({
    connection: runtime,
    poolMax: config.databasePoolMax || poolDefault,
    statementTimeoutMs: config.statementTimeoutMs,
    transactionTimeoutMs: config.transactionTimeoutMs,
    log,
  });
  const [keys, database] = await Promise.allSettled([withOwner(owner, log, (each) => openKeys(each, given)), opening]);
  if (keys.status === 'fulfilled' && database.status === 'fulfilled') return [keys.value, database.value];
  if (database.status === 'fulfilled') await database.value.close();
  throw keys.status === 'rejected' ? keys.reason : (database as PromiseRejectedResult).reason;
}

/** Database connections of a process that is alone. */
const poolDefault = 16;

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

/**
 * Time from a row of the audit ledger to its statement; with the statement itself, rows of reads are written within 200
 * ms.
 */
const auditFlushMs = 100;

/** Accounts that one address may guess at in a minute before it is refused at all of them. */
const guessingAccountsMax = 10;

/** A running service. */
export interface Service {
  /** Where it listens, `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly parts: ServerServices;
  /** Work that goes on beside the requests. */
  readonly jobs: Jobs;
  /** Connections that another process accepts; undefined: this one listens itself. */
  readonly connections: TakenConnections | undefined;
  /**
   * Stops taking requests, waits for running ones at most `drainMs`.
   * @param lingerMs how long connections without a request are kept, of those that another process has accepted
   */
  drain(lingerMs?: number): Promise<void>;
}

/** How a service shares a node with others; by default it has the node for itself. */
export interface ServiceOptions {
  /** Where another process accepts the connections of this one: `http://127.0.0.1:8080`. */
  readonly acceptedAt?: string;
  /** Its number among the processes of the node. */
  readonly worker?: number;
  /** Command lines that work at once at the sandbox, with its credentials. */
  readonly firstCalls?: readonly string[];
  /** Whether this process does now the work that one process has to do. */
  readonly runsJobs?: () => boolean;
  /** Where requests are logged; absent: with everything else. */
  readonly accessLog?: Log | undefined;
}

/** Serves HTTP from `platform`: on `config.host` and `config.port`, or what another process accepts. */
export async function startService(platform: Platform, options: ServiceOptions = {}): Promise<Service> {
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
  const places = openRequestPlaces();
  const { slices, bodies } = shareEventLoop(config, places);
  const openBudget = openBudgets(slices);
  const writeProbe = openWriteProbe(database, log);
  const problems = () => checkReadiness({ database, clock, writeProbe, clockOffMaxMs: config.clockOffMaxMs });
  const parts: ServerServices = {
    config,
    clock,
    log,
    metrics: openMetrics({ processMetrics: true }),
    requestLog: openRequestLog(config.accessLog ? (options.accessLog ?? log) : undefined, log),
    secrets,
    origins,
    environments: openEnvironmentDirectory(database),
    signingKeys: keys,
    // Remembered by one process: one per token, key and firm.
    sessions: openSessions({ database, secrets, clock, keys, uses, sessionsMax: 50_000, onLegacyUse }),
    tokens: tokenEndpointsOf(platform, { rateLimit, counters, keys, uses, remoteKeys, origins, onLegacyUse }),
    legacyUse,
    store,
    tracer: platform.tracer,
    content: platform.content,
    ledger,
    rateLimit,
    responseBudgets: openResponseBudgets(config),
    bodies,
    places,
    bindings: openBindings(platform),
    jsonLimits: limitJson(config),
    compressor,
    administration: administrationOf(platform, { counters, remoteKeys, ledger, origins, openBudget }),
    validator: openValidator(),
    openBudget,
    slices,
    stopping: stopping.signal,
    openPages: openPagesOf(platform, { ...options, compressor, origins, problems, rateLimit }),
  };
  const server = await openServer(parts);
  const connections = options.acceptedAt === undefined ? undefined : takeConnections(server.server);
  listening = options.acceptedAt ?? (await server.listen({ host: config.host, port: config.port }));
  const seals = openSealing(platform, ledger, parts.metrics);
  const ownJobs = [seals ?? [], counters.exchange, openClockJob(database, clock), writeProbe.job].flat();
  const jobs = openJobs([...jobsOf(platform, parts, options.runsJobs), ...ownJobs], log);
  readStates(parts, { clock, database, jobs, problems, sealLagMs: seals?.lagMs, runsJobs: options.runsJobs });
  return {
    origin: listening,
    parts,
    jobs,
    connections,
    async drain(lingerMs = 0) {
      stopping.abort();
      await connections?.leave(lingerMs, config.drainMs);
      await drainServer(server, config.drainMs);
      await jobs.stop();
      await parts.ledger.close();
      await seals?.finish();
      await legacyUse.close();
      await parts.validator.close();
      await uses.close();
    },
  };
}

function limitJson({ jsonDepthMax: depthMax, arrayLengthMax, bodyBytesMax: stringLengthMax }: Config) {
  return { depthMax, arrayLengthMax, stringLengthMax };
}

function tokenEndpointsOf(
  { config, clock, secrets, database }: Platform,
  {
    counters,
    origins,
    ...shared
  }: Pick<TokenService, 'rateLimit' | 'keys' | 'uses' | 'remoteKeys' | 'onLegacyUse'> & {
    readonly counters: SharedCounters;
    readonly origins: Origins;
  },
): TokenEndpoints {
  return openTokenEndpoints({
    ...shared,
    database,
    secrets,
    clock,
    guesses: openBruteForceLimit(counters, secrets, clock, {
      perAccount: config.guessLimit,
      perAddress: config.guessLimit * guessingAccountsMax,
    }),
    scopes: openTokenScopes(database, clock, config.tokenScopeCharactersMax),
    originOfRealm: origins.ofRealm,
    settings: config,
  });
}

/** Work beside the requests. */
function jobsOf(platform: Platform, parts: ServerServices, runsJobs: () => boolean = () => true): readonly Job[] {
  const { config, database, clock } = platform;
  const services: JobServices = {
    ...platform,
    floorTime: { now: () => clock.now(), isSteady: () => clock.state().isSteady },
    completeLagMs: config.completeLagMs,
    log: parts.log,
    metrics: parts.metrics,
    limits: config,
    validator: parts.validator,
    ledger: parts.ledger,
    applications: openApplicationSessions(database, clock),
    bindings: parts.bindings,
    deliveryMeter: openDeliveryMeter({ ...config, metrics: parts.metrics, clock }),
    deliveryPauseMs: config.deliveryPauseMs,
    openBudget: parts.openBudget,
    baseUrlOf: (firm) => buildFirmBaseUrl(parts.origins, firm),
  };
  return openDeclaredJobs(declaredJobs, services, runsJobs);
}

function openPagesOf(
  { config }: Platform,
  shared: Pick<PublicRoutesOptions, 'compressor' | 'origins' | 'problems' | 'rateLimit' | 'worker' | 'firstCalls'>,
) {
  return createPublicRoutes({
    ...shared,
    documentation: openDocumentation({ ...config, softwareVersion: version }, shared.compressor),
    cors: config.corsOrigins.length > 0,
    softwareVersion: version,
    releaseDate,
  });
}

function administrationOf(
  { database, secrets, clock, store, config }: Platform,
  {
    origins,
    ...shared
  }: Pick<AdministrationOptions, 'counters' | 'remoteKeys' | 'ledger' | 'openBudget'> & {
    readonly origins: Origins;
  },
): Administration {
  return openAdministrationOnDemand({
    ...shared,
    originOfRealm: origins.ofRealm,
    baseUrlOf: (firm) => buildFirmBaseUrl(origins, firm),
    database,
    secrets,
    clock,
    store,
    guessLimit: openBruteForceLimit(shared.counters, secrets, clock),
    passwords: openPasswords(secrets),
    prove: openProver(secrets),
    jwksLoopback: config.jwksLoopback,
  });
}
