/** The database: whether it is reached, what it is, and whether the secret key, the schema, the roles and the clock fit. */
import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../base/config.ts';
import { requireConnections } from '../../database/connection-room.ts';
import type { DatabaseConnection } from '../../database/connection-settings.ts';
import { type Connections, describeGivenDatabase } from '../../database/connections.ts';
import { lookAtEmbeddedDatabase } from '../../database/embedded-postgres.ts';
import { type Inspection, openInspection } from '../../database/inspection.ts';
import { listPendingMigrations } from '../../database/migrate.ts';
import { requireRowSecurity } from '../../database/roles.ts';
import { listHarmfulSettings, readServerFacts, type ServerFacts } from '../../database/server-facts.ts';
import { sql } from '../../database/sql.ts';
import { requireOwningKey } from '../../keys/data-keys.ts';
import { type GivenKeys, lookAtSecretKeys } from '../../keys/secret-keys.ts';
import { computePoolSize, countNodeConnections, countWorkers, readMachine } from '../serving/worker-count.ts';
import { type Finding, reportOn } from './finding.ts';

const serverVersionMin = 150_000;
/** Checks that need a database, in the order of their findings. */
const dependent = ['migrations', 'keys', 'roles', 'connections', 'clock'] as const;

/** All that is asked of the database and of the keys that it belongs to. */
export async function checkDatabase(config: Config): Promise<readonly Finding[]> {
  const { ok, skipped, problem, thrown } = reportOn('database');
  const [keyFindings, keys] = readKeys(config);
  const leaveOut = (finding: Finding): readonly Finding[] => [
    finding,
    ...keyFindings,
    ...dependent
      .filter((check) => check !== 'keys' || keyFindings.length === 0)
      .map((check) => reportOn(check).skipped('needs the database')),
  ];
  let connections: Pick<Connections, 'owner' | 'runtime'>;
  try {
    const found = findConnections(config);
    if (found === 'absent') return leaveOut(ok('there is none yet: the first start makes an embedded one'));
    if (found === 'stopped')
      return leaveOut(skipped('the embedded database does not run: ask again while praxis does'));
    if (found === 'starting') return leaveOut(problem('the embedded database starts or recovers', 'ask again later'));
    connections = found;
  } catch (error) {
    return leaveOut(thrown(error));
  }
  const opened = await tryTo(() => openInspection(connections.owner));
  if ('error' in opened) return leaveOut(thrown(opened.error));
  try {
    return await checkAll({ config, connections, keys, owner: opened.value }, keyFindings);
  } finally {
    await opened.value.close().catch(() => undefined);
  }
}

function readKeys(config: Config): readonly [readonly Finding[], GivenKeys | undefined] {
  try {
    return [[], lookAtSecretKeys(config)];
  } catch (error) {
    return [[reportOn('keys').thrown(error)], undefined];
  }
}

/** Where the database is, without starting it. @throws StartError, ConfigError */
function findConnections(config: Config): Pick<Connections, 'owner' | 'runtime'> | 'absent' | 'stopped' | 'starting' {
  if (config.databaseUrl !== '') return describeGivenDatabase(config);
  const state = lookAtEmbeddedDatabase(path.resolve(config.dataDir));
  return state.kind === 'running' ? state : state.kind;
}

interface Ground {
  readonly config: Config;
  readonly connections: { readonly runtime: DatabaseConnection };
  readonly keys: GivenKeys | undefined;
  readonly owner: Inspection;
}

async function checkAll(ground: Ground, keyFindings: readonly Finding[]): Promise<readonly Finding[]> {
  const { owner, config } = ground;
  const { thrown } = reportOn('database');
  const read = await tryTo(() => readServerFacts(owner));
  if ('error' in read || read.value === undefined) return [thrown('error' in read ? read.error : 'it told nothing')];
  const facts = read.value;
  const [server, schema] = [await checkServer(owner, facts), await checkSchema(owner, facts)];
  const keys = keyFindings.length > 0 ? keyFindings : await checkKeys(ground);
  const roles = schema.isNew
    ? [reportOn('roles').skipped('the first start makes the runtime role')]
    : await checkRoles(ground, facts);
  return [...server, ...schema.findings, ...keys, ...roles, ...(await checkClock(owner, config))];
}

async function checkServer(owner: Inspection, facts: ServerFacts): Promise<readonly Finding[]> {
  const { ok, warning, problem, thrown } = reportOn('database');
  const findings: Finding[] = [];
  if (facts.versionNumber < serverVersionMin)
    findings.push(problem(`PostgreSQL ${facts.version} is too old`, 'upgrade it to PostgreSQL 15 or later'));
  if (facts.encoding !== 'UTF8')
    findings.push(
      problem(`its encoding is ${facts.encoding}`, "make a database with ENCODING 'UTF8', and restore a backup there"),
    );
  if (facts.isStandby)
    findings.push(problem('it is a standby, which takes no writes', 'let DATABASE_URL name the primary server'));
  if (facts.isOpenToListeners === true)
    findings.push(
      warning('the connection over the network is not encrypted', 'add ?sslmode=verify-full to DATABASE_URL'),
    );
  const settings = await tryTo(() => listHarmfulSettings(owner));
  if ('error' in settings) return [...findings, thrown(settings.error)];
  for (const { name, value, isGrave, consequence } of settings.value) {
    const text = `${name} of the server is ${value}: ${consequence}`;
    const mend = `ALTER SYSTEM SET ${name} = ${value === 'on' ? 'off' : 'on'}, and reload or restart the server`;
    findings.push(isGrave ? problem(text, mend) : warning(text, mend));
  }
  return findings.length > 0 ? findings : [ok(`PostgreSQL ${facts.version} is reached`)];
}

async function checkSchema(
  owner: Inspection,
  facts: ServerFacts,
): Promise<{ readonly findings: readonly Finding[]; readonly isNew: boolean }> {
  const { ok, problem, thrown } = reportOn('migrations');
  const listed = await tryTo(() => listPendingMigrations(owner));
  if ('error' in listed) return { findings: [thrown(listed.error)], isNew: false };
  const { pending, isNew } = listed.value;
  const findings: Finding[] = [];
  if (pending.length > 0 && (!facts.canCreate || facts.ownsTables === false))
    findings.push(
      problem(
        'the role of DATABASE_URL may not change the schema',
        'connect as the owner of the tables, with the right CREATE on the schema',
      ),
    );
  if (isNew && !facts.hasRuntimeRole && facts.canCreateRoles !== true)
    findings.push(
      problem(
        'the role praxis_runtime is missing, and the role of DATABASE_URL may not make it',
        'give that role CREATEROLE, or make praxis_runtime as docs/operate/install.md says',
      ),
    );
  if (pending.length > 0 && !isNew) {
    const names = pending.map(({ version }) => String(version).padStart(4, '0'));
    const shown = names.length > 3 ? `${names[0]} to ${names.at(-1)}` : names.join(', ');
    findings.push(
      problem(
        `${pending.length === 1 ? '1 migration is' : `${pending.length} migrations are`} pending (${shown})`,
        'run praxis migrate; praxis serve does it at its start, too',
      ),
    );
  }
  if (findings.length > 0) return { findings, isNew };
  return {
    findings: [ok(isNew ? 'the database is empty: the first start fills it' : 'the schema is up to date')],
    isNew,
  };
}

async function checkKeys({ owner, keys }: Ground): Promise<readonly Finding[]> {
  const { ok, skipped, thrown, warning } = reportOn('keys');
  if (keys === undefined) return [skipped('there is no secret key yet: the first start makes one')];
  const fits = await tryTo(() => requireOwningKey(owner, keys));
  if ('error' in fits) return [thrown(fits.error)];
  const found = [ok(`the secret key ${keys.current.fingerprint} in ${keys.place} fits the database`)];
  if (keys.others.length === 0) return found;
  return [
    ...found,
    warning(
      'another secret key is given beside it, as during a rotation',
      'finish the rotation (praxis secret rotate), and take PRAXIS_SECRET_KEY_PREVIOUS away',
    ),
  ];
}

async function checkRoles({ config, connections }: Ground, facts: ServerFacts): Promise<readonly Finding[]> {
  const { ok, thrown } = reportOn('roles');
  const room = reportOn('connections');
  const opened = await tryTo(() => openInspection(connections.runtime));
  if ('error' in opened) return [thrown(opened.error), room.skipped('needs the runtime role')];
  const runtime = opened.value;
  try {
    const bound = await tryTo(() => requireRowSecurity(runtime));
    const roles = 'error' in bound ? thrown(bound.error) : ok('row-level security binds the runtime role');
    return [roles, await checkConnections(config, runtime, facts)];
  } finally {
    await runtime.close().catch(() => undefined);
  }
}

async function checkConnections(config: Config, runtime: Inspection, facts: ServerFacts): Promise<Finding> {
  const { ok, warning, thrown } = reportOn('connections');
  const workers = countWorkers(config, readMachine());
  const counted = await tryTo(async () => {
    const needed = countNodeConnections(computePoolSize(config, workers), workers);
    await requireConnections(runtime, needed);
    return needed;
  });
  if ('error' in counted) return thrown(counted.error);
  const needed = counted.value;
  const free = facts.connectionsMax - facts.foreignConnections;
  if (free < needed)
    return warning(
      `other programs hold ${facts.foreignConnections} of ${facts.connectionsMax} connections, and a node with ${workers} workers may open ${needed}`,
      'raise max_connections of the server, or lower PRAXIS_DATABASE_POOL',
    );
  return ok(
    `a node with ${workers === 1 ? '1 worker' : `${workers} workers`} may open ${needed} of ${facts.connectionsMax} connections`,
  );
}

/** The clock of the database, which all nodes follow, beside that of this machine. */
async function checkClock(owner: Inspection, { clockOffMaxMs }: Config): Promise<readonly Finding[]> {
  const { ok, problem, thrown } = reportOn('clock');
  const askedMs = systemClock.now();
  const read = await tryTo(() =>
    owner.query<{ ms: number }>(sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`),
  );
  if ('error' in read) return [thrown(read.error)];
  const cameMs = systemClock.now();
  const databaseMs = read.value[0]?.ms ?? Number.NaN;
  // It was read at some moment between.
  const offMs = Math.max(0, askedMs - databaseMs, databaseMs - cameMs);
  const text = `the clocks of the database and of this machine differ by ${Math.round(offMs)} ms`;
  if (offMs <= clockOffMaxMs) return [ok(text)];
  return [
    problem(
      `${text}, more than PRAXIS_CLOCK_OFF_MAX_MS (${clockOffMaxMs})`,
      'let NTP keep the clocks of both machines',
    ),
  ];
}

type Tried<T> = { readonly value: T } | { readonly error: unknown };

/** What goes wrong is a finding. */
async function tryTo<T>(work: () => T | Promise<T>): Promise<Tried<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}
