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
import { StartError } from '../../src/base/start-error.ts';
import { type Account, chooseAccount } from '../../src/database/embedded/account.ts';
import { type Binaries, binariesIn, findBinaries } from '../../src/database/embedded/binaries.ts';
import { reachableBinaries } from '../../src/database/embedded/reachable-binaries.ts';
import { readServerVersion } from '../../src/database/embedded/server-version.ts';
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
  cpSync(findBinaries().root, native, { recursive: true, verbatimSymlinks: true });
  const made = [closed];
  t.after(() => {
    for (const directory of made) rmSync(directory, { recursive: true, force: true });
  });
  return {
    binaries: binariesIn(native),
    account: chooseAccount(path.join(os.tmpdir(), 'absent'), [os.tmpdir()]),
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
  await assert.rejects(readServerVersion(account, binaries), StartError);
  const copy = reachableBinaries(binaries, account, [place]);
  assert.match(await readServerVersion(account, copy), /^\d+\.\d+$/);
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
  assert.equal(reachableBinaries(binaries, account, [place]).postgres, copy.postgres);
  assert.equal(statSync(copy.postgres).ctimeMs, madeMs);
  assert.equal(reachableBinaries(copy, account, []), copy, 'what can be reached is used as it is');
});

test('a copy that lost a file, or was changed, is made anew; copies of other versions go when no server runs from them', {
  skip: needsRoot,
}, () => {
  assert.ok(world);
  const { binaries, account } = world;
  const place = world.place();
  const copy = reachableBinaries(binaries, account, [place]);
  rmSync(copy.initdb);
  chmodSync(copy.postgres, 0o777);
  const other = path.join(place, 'praxis', 'postgres-0000000000000000');
  mkdirSync(other);
  mkdirSync(`${copy.root}.new-999999999`);
  reachableBinaries(binaries, account, [place]);
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
      () => reachableBinaries(binaries, account, [place]),
      (error) =>
        error instanceof StartError &&
        /cannot enter \S+, and its programs cannot be copied to .* belongs to somebody else, or others may write it\)/.test(
          error.message,
        ),
    );
    assert.equal(lstatSync(directory).mode, before);
    const next = world.place();
    assert.ok(reachableBinaries(binaries, account, [place, next]).root.startsWith(next), 'the next place is taken');
  }
  const closed = world.place();
  chmodSync(closed, 0o700);
  assert.throws(() => reachableBinaries(binaries, account, [closed]), /cannot be entered either/);
});

test('the service starts with its data below a directory that only root may enter', { skip: needsRoot }, async (t) => {
  const closed = mkdtempSync(path.join(os.tmpdir(), 'praxis-closed-'));
  t.after(() => rmSync(closed, { recursive: true, force: true }));
  const listed = await runPraxis({ PRAXIS_DATA_DIR: path.join(closed, 'data') }, 'environment', 'list');
  assert.deepEqual([listed.status, listed.stderr], [0, '']);
});
