/**
 * A follower that is killed at random while others write. Its log must hold every version that was written; a version may be
 * there twice only where the page before the kill is told again.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { untilTold } from '../../server/test/support/follower.ts';
import { type Caller, openCaller } from '../../server/test/support/service.ts';
import type { FollowerTask, LoggedChange } from './follower-process.ts';
import type { World } from './world.ts';

const program = fileURLToPath(new URL('./follower-process.ts', import.meta.url));
/** Longest life of a follower before it is killed, in ms: about twice what it needs to begin. */
const lifeMaxMs = 1_200;
const writerPauseMs = 40;
/** Resources that several writers have their hands in. */
const shared = 15;

export interface KilledFollowing {
  readonly kills: number;
  /** Pages that the followers had done. */
  readonly pages: number;
  readonly written: number;
  /** Changes that were told more than once. */
  readonly doubled: number;
}

/** A number from 0 to below 1, the same each time for a seed. */
function openRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The pages that are done. A line that a kill has cut off is none. */
function readLog(log: string): readonly (readonly LoggedChange[])[] {
  if (!existsSync(log)) return [];
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith(']'))
    .map((line) => JSON.parse(line));
}

const keyOf = ({ name, versionId }: LoggedChange): string => `${name} ${versionId}`;

/** Runs `writers` writers and kills the follower `kills` times. @throws AssertionError where something is missing or doubled */
export async function killFollowers(
  { service, maple, application, credentials }: World,
  { kills, writers, seed }: { readonly kills: number; readonly writers: number; readonly seed: number },
): Promise<KilledFollowing> {
  const directory = mkdtempSync(join(tmpdir(), 'praxis-follower-'));
  const random = openRandom(seed);
  const caller = await openCaller(service, application, maple);
  const files = { place: join(directory, 'place.txt'), log: join(directory, 'log.jsonl') };
  const task: FollowerTask = { base: maple.base, credentials, ...files, count: 20, waitSeconds: 5 };
  try {
    // Of the time before a follower has begun the last versions are told alone.
    await follow({ ...task, waitSeconds: 0 });
    let isOver = false;
    const written = new Set<string>();
    const writing = Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let round = 0; !isOver; round += 1) {
          for (const version of await write(caller, writer, round)) written.add(version);
          await delay(writerPauseMs);
        }
      }),
    ).finally(() => {
      isOver = true;
    });
    const pagesBefore: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const child = start(task);
      await Promise.race([delay(random() * lifeMaxMs), once(child, 'exit')]);
      assert.equal(child.exitCode, null, 'the follower has ended by itself');
      child.kill('SIGKILL');
      await once(child, 'exit');
      pagesBefore.push(readLog(files.log).length);
    }
    isOver = true;
    await writing;
    await untilTold(service.database.owner);
    await follow({ ...task, waitSeconds: 0 });

    const pages = readLog(files.log);
    const told = new Set(pages.flat().map(keyOf));
    assert.deepEqual(
      [...written].filter((version) => !told.has(version)),
      [],
    );
    return { kills, pages: pages.length, written: written.size, doubled: countDoubled(pages, new Set(pagesBefore)) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Follows to the end. */
async function follow(task: FollowerTask): Promise<void> {
  const [code] = await once(start(task), 'exit');
  assert.equal(code, 0);
}

function start(task: FollowerTask) {
  return spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Writes once. @returns the version that it made, as the log names it */
async function write(caller: Caller, writer: number, round: number): Promise<readonly string[]> {
  const id = `s${(writer * 7 + round * 3) % shared}`;
  const { status, json, text, headers } =
    round % 9 === 8
      ? await caller.send('DELETE', `Patient/${id}`)
      : await caller.send('PUT', `Patient/${id}`, {
          resourceType: 'Patient',
          id,
          name: [{ family: `${writer}-${round}` }],
        });
  assert.ok(status < 300 || status === 409, text);
  const version = json?.meta?.versionId ?? /"(\d+)"/.exec(headers.get('etag') ?? '')?.[1];
  return status < 300 && version !== undefined ? [`Patient/${id} ${version}`] : [];
}

/** Counts what is told again. @param begins places in the log where a follower had begun anew */
function countDoubled(pages: readonly (readonly LoggedChange[])[], begins: ReadonlySet<number>): number {
  const seen = new Set<string>();
  let doubled = 0;
  for (const [index, page] of pages.entries()) {
    const before = new Set(begins.has(index) ? pages[index - 1]?.map(keyOf) : []);
    for (const key of page.map(keyOf)) {
      if (seen.has(key)) {
        assert.ok(before.has(key), `${key} is told again, and was not of the page before the kill`);
        doubled += 1;
      }
      seen.add(key);
    }
  }
  return doubled;
}
