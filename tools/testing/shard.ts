/**
 * Runs test files in this process, one after the other, each as a test with subtests, so that its hooks are its own.
 *
 *     node shard.ts CLAIMS FILE …    several such processes share the files: each takes what has no name in CLAIMS yet
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** So long may take to close what a file has used. */
const closingMaxMs = 500;
const closingStepMs = 50;

const [claims = '', ...paths] = process.argv.slice(2);

for (const [index, path] of paths.entries()) {
  if (!claim(index)) continue;
  const before = processState();
  await test(path, async () => {
    await import(pathToFileURL(path).href);
  });
  const left = await leftBehind(before);
  if (left.length > 0)
    await test(path, async (context) => {
      await context.test(`${basename(path)} leaves the process as it found it`, () => assert.deepEqual(left, []));
    });
}

function claim(index: number): boolean {
  try {
    writeFileSync(join(claims, String(index)), '', { flag: 'wx' });
    return true;
  } catch {
    return false; // another process has it
  }
}

/** What one file could leave to the next, beside the modules that they share: a name and a text for each. */
function processState(): ReadonlyMap<string, string> {
  const open = Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (name) => name));
  return new Map([
    ['the working directory', process.cwd()],
    ...Object.entries(process.env).map(([name, value = '']) => [`the environment: ${name}`, value] as const),
    ...Object.getOwnPropertyNames(globalThis).map((name) => [`globalThis.${name}`, ''] as const),
    ...open.map(([name, all = []]) => [`open: ${name}`, String(all.length)] as const),
  ]);
}

/** The names of what differs from the state before, and does not soon become the same. */
async function leftBehind(before: ReadonlyMap<string, string>): Promise<readonly string[]> {
  for (let waitedMs = 0; ; waitedMs += closingStepMs) {
    const after = processState();
    const differing = [...new Set([...before.keys(), ...after.keys()])].filter((name) =>
      name.startsWith('open: ')
        ? Number(after.get(name) ?? 0) > Number(before.get(name) ?? 0)
        : after.get(name) !== before.get(name),
    );
    if (differing.length === 0 || waitedMs >= closingMaxMs) return differing;
    await delay(closingStepMs);
  }
}
