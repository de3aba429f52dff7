/**
 * As whom PostgreSQL runs. It refuses to run as root, so root runs it as an unprivileged account that also owns its files.
 * That account must be able to enter the directories above them. Where it cannot (a data directory below a home of mode
 * 0700), Linux can give it one capability, to search and read directories, and nothing else (capabilities(7), setpriv(1)).
 * Programs are copied instead (`reachable-binaries.ts`): PostgreSQL asks by access(2), which looks at no capability.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { chownSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Application } from './application.ts';
import { EnvironmentError } from './errors.ts';

/** Runs programs and gives files to the account that PostgreSQL runs as. */
export interface Account {
  /** Name or number, for messages. */
  readonly name: string;
  /** Undefined where there are no such numbers (Windows). */
  readonly uid: number | undefined;
  spawn(program: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Makes the account the owner of `file`. */
  own(file: string): void;
  /** What keeps the account from running the program `file`: a directory that it may not enter, or the file; undefined: nothing does. */
  obstacleTo(file: string): string | undefined;
}

interface UnixAccount {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Accounts that exist for such a purpose, in order of preference. */
const accountNames = ['postgres', '_postgres', 'nobody'];

/** Bits of capability sets, include/uapi/linux/capability.h, and setpriv's names of them; the weaker one first. */
const searchCapabilities = [
  { bit: 2n, name: 'dac_read_search' },
  { bit: 1n, name: 'dac_override' }, // containers commonly grant root this one and not the other
] as const;

/**
 * The account for PostgreSQL: the caller's own unless that is root.
 * @param existing PostgreSQL's directory; when it exists its owner stays its owner
 * @param mustReach directories that the account has to reach
 * @throws EnvironmentError when root has no usable account, naming what to do
 */
export function chooseAccount(existing: string, mustReach: readonly string[], application: Application): Account {
  const uid = process.getuid?.();
  if (uid !== 0) return { name: 'this user', uid, spawn, own: () => undefined, obstacleTo: () => undefined };
  const account = ownerOf(existing) ?? findAccount(application);
  const closed = mustReach
    .map((target) => findObstacle(path.dirname(target), account))
    .find((directory) => directory !== undefined);
  const prefix = closed === undefined ? undefined : searchingPrefix(account, closed, application);
  return {
    name: account.name,
    uid: account.uid,
    own: (file) => chownSync(file, account.uid, account.gid),
    obstacleTo: (file) => findObstacle(file, account),
    spawn: (program, args, options) =>
      prefix === undefined
        ? spawn(program, args, { ...options, uid: account.uid, gid: account.gid })
        : spawn('setpriv', [...prefix, program, ...args], options),
  };
}

function ownerOf(directory: string): UnixAccount | undefined {
  const stat = statSync(directory, { throwIfNoEntry: false });
  return stat === undefined || stat.uid === 0 ? undefined : { name: `uid ${stat.uid}`, uid: stat.uid, gid: stat.gid };
}

function findAccount({ name: application, useOtherDatabase }: Application): UnixAccount {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const wanted of accountNames) {
    const [name, , uid, gid] = accounts.find((fields) => fields[0] === wanted) ?? [];
    // Some systems write nobody's number as -2.
    if (name !== undefined) return { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
  }
  throw new EnvironmentError(
    `PostgreSQL does not run as root and none of the accounts ${accountNames.join(', ')} exists: run ${application} as a normal user, or ${useOtherDatabase}`,
  );
}

/**
 * The first directory on the way to `file` that `account` may not enter, or `file` where it may not enter or run that;
 * undefined: nothing.
 */
function findObstacle(file: string, account: UnixAccount): string | undefined {
  const above = path.dirname(file);
  const obstacle = above === file ? undefined : findObstacle(above, account);
  return obstacle ?? (mayRun(file, account) ? undefined : file);
}

/** Whether the account may enter the directory, or run the program. */
function mayRun(file: string, account: UnixAccount): boolean {
  const { mode, uid, gid } = statSync(file);
  const needed = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  return (mode & needed) !== 0;
}

/** Arguments of setpriv that run a program as `account` with the capability to pass closed directories. */
function searchingPrefix(account: UnixAccount, closed: string, { name, dataDirSetting }: Application): string[] {
  const capability = searchCapabilities.find(({ bit }) => ((effectiveCapabilities() >> bit) & 1n) === 1n);
  if (capability === undefined || !hasSetpriv()) {
    throw new EnvironmentError(
      `PostgreSQL does not run as root, and the account ${account.name} cannot enter ${closed}: ` +
        `run ${name} as a normal user, or put ${name} and ${dataDirSetting} outside of ${closed}, or run chmod o+x ${closed}`,
    );
  }
  const caps = `+${capability.name}`;
  return [
    `--reuid=${account.uid}`,
    `--regid=${account.gid}`,
    '--clear-groups',
    `--inh-caps=${caps}`,
    `--ambient-caps=${caps}`,
    '--',
  ];
}

function effectiveCapabilities(): bigint {
  if (process.platform !== 'linux') return 0n;
  const [, hex] = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return BigInt(`0x${hex ?? '0'}`);
}

function hasSetpriv(): boolean {
  const directories = (process.env['PATH'] ?? '').split(path.delimiter);
  return directories.some(
    (directory) => statSync(path.join(directory, 'setpriv'), { throwIfNoEntry: false })?.isFile() === true,
  );
}
