// A clone below a directory that only root may enter: the programs of PostgreSQL are copied to where its account can run them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { type Account, chooseAccount } from '../../../embedded-postgres/src/account.ts';
import { type Binaries, findBinaries, resolveBinaries } from '../../../embedded-postgres/src/binaries.ts';
import { ServerError } from '../../../embedded-postgres/src/errors.ts';
import { ensureReachableBinaries } from '../../../embedded-postgres/src/reachable-binaries.ts';
import { readServerVersion } from '../../../embedded-postgres/src/server-version.ts';
import { embeddedApplication } from '../../src/database/embedded-postgres.ts';
import { runPraxis } from '../cli/praxis-process.ts';

const needsRoot =
  process.getuid?.() === 0 && process.platform === 'linux' ? false : 'only root runs the server as another account';

interface World {
  /** Programs below a directory of mode 0700. */
  readonly binaries: Binaries;
  readonly account: Account;
  /** An empty directory that everybody may enter. */
  place(): string;
}

function openWorld(t: { after(work: () => void): void }): World {
  const closed = mkdtempSync(path.join(os.tmpdir(), 'praxis-closed-')); // of mode 0700
  const native = path.join(closed, 'native');
  cpSync(findBinaries(embeddedApplication).root, native, { recursive: true, verbatimSymlinks: true });
  const made = [closed];
  t.after(() => {
    for (const directory of made) rmSync(directory, { recursive: true, force: true });
  });
  return {
    binaries: resolveBinaries(native),
    account: chooseAccount(path.join(os.tmpdir(), 'absent'), [os.tmpdir()], embeddedApplication),
    place() {
      const place = mkdtempSync(path.join(os.tmpdir(), 'praxis-place-'));
      chmodSync(place, 0o755);
      made.push(place);
      return place;
    },
  };
}

const world = needsRoot === false ? openWorld({ after }) : undefined;

/** The copies in a place. */
const copies = (place: string): string[] => readdirSync(path.join(place, 'praxis')).sort();

test('programs that the account cannot reach are copied once, for root alone to write, and used again', {
  skip: needsRoot,
}, async () => {
  assert.ok(world);
  const { binaries, account } = world;
  const place = world.place();
  await assert.rejects(readServerVersion(account, binaries, embeddedApplication), ServerError);
  const copy = ensureReachableBinaries(binaries, account, embeddedApplication, [place]);
  assert.match(await readServerVersion(account, copy, embeddedApplication), /^\d+\.\d+$/);
  assert.ok(copy.root.startsWith(path.join(place, 'praxis', 'postgres-')));
  const written = execFileSync('find', [
    place,
    '-mindepth',
    '1',
    '(',
    '!',
    '-uid',
    '0',
    '-o',
    '!',
    '-type',
    'l',
    '-perm',
    '/022',
    ')',
  ]);
  assert.equal(written.toString(), '', 'files that others own or may write');
  const madeMs = statSync(copy.postgres).ctimeMs;
  assert.equal(ensureReachableBinaries(binaries, account, embeddedApplication, [place]).postgres, copy.postgres);
  assert.equal(statSync(copy.postgres).ctimeMs, madeMs);
  assert.equal(
    ensureReachableBinaries(copy, account, embeddedApplication, []),
    copy,
    'what can be reached is used as it is',
  );
});

test('a copy that lost a file, or was changed, is made anew; copies of other versions go when no server runs from them', {
  skip: needsRoot,
}, () => {
  assert.ok(world);
  const { binaries, account } = world;
  const place = world.place();
  const copy = ensureReachableBinaries(binaries, account, embeddedApplication, [place]);
  rmSync(copy.initdb);
  chmodSync(copy.postgres, 0o777);
  const other = path.join(place, 'praxis', 'postgres-0000000000000000');
  mkdirSync(other);
  mkdirSync(`${copy.root}.new-999999999`);
  ensureReachableBinaries(binaries, account, embeddedApplication, [place]);
  assert.equal(statSync(copy.initdb).mode & 0o777, 0o755);
  assert.equal(statSync(copy.postgres).mode & 0o777, 0o755);
  assert.deepEqual(copies(place), [path.basename(copy.root)]);
});

test('a place that somebody else has prepared is not used: their directory, a link, one that all may write', {
  skip: needsRoot,
}, () => {
  assert.ok(world);
  const { binaries, account } = world;
  const prepared: ((directory: string) => void)[] = [
    (directory) => {
      mkdirSync(directory);
      chownSync(directory, 65534, 65534);
    },
    (directory) => {
      mkdirSync(directory);
      chmodSync(directory, 0o777);
    },
    (directory) => symlinkSync(world.place(), directory),
    (directory) => writeFileSync(directory, ''),
  ];
  for (const prepare of prepared) {
    const place = world.place();
    const directory = path.join(place, 'praxis');
    prepare(directory);
    const before = lstatSync(directory).mode;
    assert.throws(
      () => ensureReachableBinaries(binaries, account, embeddedApplication, [place]),
      (error) =>
        error instanceof ServerError &&
        /cannot enter \S+, and its programs cannot be copied to .* belongs to somebody else, or others may write it\)/.test(
          error.message,
        ),
    );
    assert.equal(lstatSync(directory).mode, before);
    const next = world.place();
    assert.ok(
      ensureReachableBinaries(binaries, account, embeddedApplication, [place, next]).root.startsWith(next),
      'the next place is taken',
    );
  }
  const closed = world.place();
  chmodSync(closed, 0o700);
  assert.throws(
    () => ensureReachableBinaries(binaries, account, embeddedApplication, [closed]),
    /cannot be entered either/,
  );
});

test('the service starts with its data below a directory that only root may enter', { skip: needsRoot }, async (t) => {
  const closed = mkdtempSync(path.join(os.tmpdir(), 'praxis-closed-'));
  t.after(() => rmSync(closed, { recursive: true, force: true }));
  const listed = await runPraxis({ PRAXIS_DATA_DIR: path.join(closed, 'data') }, 'environment', 'list');
  assert.deepEqual([listed.status, listed.stderr], [0, '']);
});
