/**
 * A PostgreSQL of the machine, as its distribution packages it, with its own default settings: in a new directory, for one run
 * of the tests. The roles are those that the embedded database has.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Account, chooseAccount } from '../../../embedded-postgres/src/account.ts';
import { makeSecret } from '../../src/base/ids.ts';
import type { ConnectionParts } from '../../src/database/database.ts';
import { embeddedApplication } from '../../src/database/embedded-postgres.ts';

export interface StockCluster {
  /** As a role that may create databases and owns the database `praxis`. */
  readonly owner: ConnectionParts;
  /** As the role that row-level security binds. */
  readonly runtime: ConnectionParts;
  /** The process that was started. */
  readonly pid: number;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

const readyMaxMs = 60_000;

/**
 * Starts it. It listens on a socket of its own, so any number may run.
 * @param programs directory of initdb and postgres, such as /usr/lib/postgresql/15/bin
 */
export async function startStockCluster(programs: string): Promise<StockCluster> {
  const root = mkdtempSync(path.join(os.tmpdir(), 'praxis-stock-'));
  const account = chooseAccount(root, [programs], embeddedApplication);
  const cluster = path.join(root, 'cluster');
  mkdirSync(cluster, { mode: 0o700 });
  for (const directory of [root, cluster]) account.own(directory);
  const superuser = makeSecret();
  const passwordFile = path.join(root, 'password');
  writeFileSync(passwordFile, superuser, { mode: 0o600 });
  account.own(passwordFile);
  await runToEnd(account, path.join(programs, 'initdb'), [
    ...[
      '--username=praxis_superuser',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--auth=scram-sha-256',
      '--no-instructions',
    ],
    ...[`--pgdata=${cluster}`, `--pwfile=${passwordFile}`],
  ]);
  const server = account.spawn(
    path.join(programs, 'postgres'),
    ['-D', cluster, '-c', 'listen_addresses=', '-c', `unix_socket_directories=${root}`],
    { cwd: root, stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    server.kill('SIGINT');
    await ended;
    rmSync(root, { recursive: true, force: true });
  };
  const place = { host: root, port: 5432 };
  try {
    const passwords = { owner: makeSecret(), runtime: makeSecret() };
    await makeRoles({ ...place, database: 'postgres', user: 'praxis_superuser', password: superuser }, passwords);
    return {
      owner: { ...place, database: 'praxis', user: 'praxis_owner', password: passwords.owner },
      runtime: { ...place, database: 'praxis', user: 'praxis_runtime', password: passwords.runtime },
      pid: server.pid ?? 0,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function makeRoles(superuser: ConnectionParts, passwords: { owner: string; runtime: string }): Promise<void> {
  const client = await connected(superuser);
  try {
    // Passwords are base64url, which needs no quoting.
    await client.query(`CREATE ROLE praxis_owner LOGIN CREATEDB PASSWORD '${passwords.owner}'`);
    await client.query(`CREATE ROLE praxis_runtime LOGIN PASSWORD '${passwords.runtime}'`);
    await client.query('GRANT praxis_runtime TO praxis_owner');
    await client.query('CREATE DATABASE praxis OWNER praxis_owner');
  } finally {
    await client.end();
  }
}

async function connected(connection: ConnectionParts): Promise<pg.Client> {
  for (const endMs = performance.now() + readyMaxMs; ; ) {
    const client = new pg.Client(connection);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (performance.now() > endMs) throw error;
      await delay(50);
    }
  }
}

async function runToEnd(account: Account, program: string, args: readonly string[]): Promise<void> {
  const child: ChildProcess = account.spawn(program, args, { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (status !== 0) throw new Error(`${program} ended with ${status}`);
}
