/**
 * Making a database cluster (https://www.postgresql.org/docs/current/app-initdb.html). It is made in a directory of its own
 * and renamed when complete, so a process that is killed meanwhile leaves nothing half-made, and of several that start at
 * once one wins.
 *
 * Roles: a superuser that only makes the other two, `<name>_owner` (owns the database) and `<name>_runtime` (owns nothing). All log in with generated passwords (SCRAM), also through the private socket.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { Account } from './account.ts';
import { type Application, buildRoleName, type Role } from './application.ts';
import { ServerError } from './errors.ts';
import { type Layout, resolveLayout } from './layout.ts';
import { isAlive, runProgram } from './processes.ts';
import type { StartOptions } from './start-postmaster.ts';

/** Role → password; the file has the names of the roles. */
export type Credentials = Readonly<Record<Role, string>>;

const roles = ['superuser', 'owner', 'runtime'] as const satisfies readonly Role[];
const passwordBytes = 32;

type ClusterOptions = Pick<StartOptions, 'binaries' | 'account' | 'application' | 'durability'>;

/** Through the socket on Unix, through the loopback interface on Windows; with a password always. */
const authenticationRules =
  process.platform === 'win32' ? 'host all all 127.0.0.1/32 scram-sha-256\n' : 'local all all scram-sha-256\n';

/** Makes the cluster at `<data dir>/postgres` unless it exists. Returns whether it was made. */
export async function createCluster(dataDir: string, options: ClusterOptions): Promise<boolean> {
  const target = path.join(dataDir, 'postgres');
  removeAbandoned(dataDir);
  if (existsSync(target)) return false;
  const made = resolveLayout(path.join(dataDir, `${unfinishedPrefix}${process.pid}`));
  try {
    await fill(made, options);
    return moveInto(target, made.root);
  } finally {
    rmSync(made.root, { recursive: true, force: true });
  }
}

/** @throws ServerError when another user made the database, or the file is lost or broken */
export function readCredentials(layout: Layout, application: Application): Credentials {
  const file = layout.credentials;
  try {
    const stored: Readonly<Record<string, string>> = JSON.parse(readFileSync(file, 'utf8')); // as `fill` wrote it
    return forRoles((role) => stored[buildRoleName(application, role)] ?? '');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const lost = cause instanceof SyntaxError ? 'broken' : code === 'ENOENT' ? 'missing' : undefined;
    const fault =
      lost === undefined
        ? `${file} cannot be read by this user (${code}): run ${application.name} as the user who made it`
        : `${file} is ${lost}: put it back from a copy of the data directory`;
    throw new ServerError(`Embedded database in ${layout.root} cannot be used: ${fault}`, { cause });
  }
}

const unfinishedPrefix = 'postgres.new-';

/** What processes left that were killed while making a cluster. */
function removeAbandoned(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const pid = Number(name.slice(unfinishedPrefix.length));
    if (name.startsWith(unfinishedPrefix) && !isAlive(pid))
      rmSync(path.join(dataDir, name), { recursive: true, force: true });
  }
}

async function fill(layout: Layout, { binaries, account, application, durability }: ClusterOptions): Promise<void> {
  rmSync(layout.root, { recursive: true, force: true });
  for (const directory of [layout.root, layout.cluster, layout.log]) {
    mkdirSync(directory, { mode: 0o700 });
    account.own(directory);
  }
  const credentials = forRoles(() => randomBytes(passwordBytes).toString('base64url'));
  const passwordFile = path.join(layout.root, 'password');
  writeFileSync(passwordFile, credentials.superuser, { mode: 0o600 });
  account.own(passwordFile);
  await runToEnd(account, binaries.initdb, [
    ...initdbArguments,
    `--username=${buildRoleName(application, 'superuser')}`,
    ...(durability === 'full' ? [] : ['--no-sync']),
    `--pgdata=${layout.cluster}`,
    `--pwfile=${passwordFile}`,
  ]);
  rmSync(passwordFile);
  // Written in place, so the file keeps its owner.
  writeFileSync(path.join(layout.cluster, 'pg_hba.conf'), authenticationRules);
  const singleUser = [
    '--single',
    '-D',
    layout.cluster,
    '-c',
    'log_min_error_statement=panic',
    '-c',
    `fsync=${durability === 'full' ? 'on' : 'off'}`,
    'postgres',
  ];
  await runToEnd(account, binaries.postgres, singleUser, roleStatements(credentials, application));
  const stored = Object.fromEntries(roles.map((role) => [buildRoleName(application, role), credentials[role]]));
  writeFileSync(layout.credentials, JSON.stringify(stored, undefined, 2), { mode: 0o600, flag: 'wx', flush: true });
}

const initdbArguments = [
  '--encoding=UTF8',
  // Built in, so that an update of the machine's C library cannot change the order of existing indexes.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--auth=scram-sha-256',
  '--no-instructions',
];

/** One statement a line, as single-user mode wants them. The passwords are base64url, which needs no quoting. */
function roleStatements(credentials: Credentials, application: Application): string {
  const owner = buildRoleName(application, 'owner');
  const runtime = buildRoleName(application, 'runtime');
  return [
    `CREATE ROLE ${owner} LOGIN CREATEDB PASSWORD '${credentials.owner}'`,
    `CREATE ROLE ${runtime} LOGIN PASSWORD '${credentials.runtime}'`,
    // The owner may end sessions of the other, which dropping a database with connections needs.
    `GRANT ${runtime} TO ${owner}`,
    `CREATE DATABASE ${application.name} OWNER ${owner}`,
    '',
  ].join('\n');
}

function forRoles(password: (role: Role) => string): Credentials {
  return { superuser: password('superuser'), owner: password('owner'), runtime: password('runtime') };
}

/** Runs a program to its end. @throws Error with the end of what it wrote when it fails */
async function runToEnd(account: Account, program: string, args: readonly string[], input?: string): Promise<void> {
  const { status, output } = await runProgram(account, program, args, input);
  // Single-user mode reports a failed statement and goes on.
  if (status !== 0 || /\bERROR: /.test(output))
    throw new Error(`${path.basename(program)} failed (status ${status}): ${output.trim().slice(-1000)}`);
}

/** Renames `made` to `target`; false when another process has made that one meanwhile. */
function moveInto(target: string, made: string): boolean {
  try {
    renameSync(made, target);
  } catch (error) {
    if (existsSync(target)) return false;
    throw error;
  }
  syncDirectory(path.dirname(target));
  return true;
}

function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return; // directories cannot be opened there
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
