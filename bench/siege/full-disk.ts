/** Before the bursts: a disk that stays full is told by readiness in words, and when there is room again writes succeed by themselves. */
import { setTimeout as delay } from 'node:timers/promises';
import { buildJsonRequest } from '../../packages/server/src/base/worst-case.ts';
import type { Caller } from './caller.ts';
import type { Installation } from './installation.ts';

/** Writes are tried every 5 s by each worker (docs/decisions/0246). */
const toldMaxMs = 30_000;
const words = 'the disk of the database is full';

/** @returns what does not hold */
export async function tryFullDisk({ hazards, origin }: Installation, caller: Caller): Promise<readonly string[]> {
  if (hazards === undefined || typeof hazards.disk === 'string') return [];
  const { disk } = hazards;
  const broken: string[] = [];
  const beganMs = performance.now();
  disk.fill();
  try {
    if (!(await within(toldMaxMs, async () => (await readiness(origin)).includes(words))))
      broken.push(`readiness does not say that ${words}: ${await readiness(origin)}`);
  } finally {
    disk.free();
  }
  const freedMs = performance.now();
  if (!(await within(toldMaxMs, () => isWritten(caller)))) broken.push('writes fail after there is room again');
  const writtenMs = performance.now();
  if (!(await within(toldMaxMs, async () => (await readiness(origin)) === '')))
    broken.push(`not ready after there is room again: ${await readiness(origin)}`);
  const readyMs = performance.now();
  const [told, written, ready] = [freedMs - beganMs, writtenMs - freedMs, readyMs - freedMs].map(Math.round);
  console.log(
    `full disk: told by readiness after ${told} ms; with room again a write succeeds after ${written} ms, ready after ${ready} ms`,
  );
  return broken;
}

async function isWritten(caller: Caller): Promise<boolean> {
  const patient = { resourceType: 'Patient', name: [{ family: 'Room' }] };
  return (await caller.send(buildJsonRequest('POST', 'Patient', patient))).status === 201;
}

/** What it says to be wrong; empty: nothing. */
async function readiness(origin: string): Promise<string> {
  try {
    const answer = await fetch(`${origin}/health/ready`);
    const text = await answer.text();
    return answer.ok ? '' : text;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function within(ms: number, look: () => Promise<boolean>): Promise<boolean> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; await delay(100)) if (await look()) return true;
  return false;
}
