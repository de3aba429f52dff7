/**
 * `npm run bench -- workers [--rounds 12 --seconds 0.7 --connections 16 --patients 2000 --rows create,update]`: a node with two
 * workers beside one with one, on one database. Ends with an error when two are slower on a row, or need more than 1.1 times
 * the CPU time of all processes together (supervisor and database included), beyond what the rounds leave uncertain.
 */
import { compare, contestantOf, statusOf } from './comparison.ts';
import { openGround, startNode } from './nodes.ts';
import { inYard } from './processes.ts';
import { readRowOptions } from './turns.ts';

const bounds = { rateMin: 1, cpuMax: 1.1 };

/** Runs the bench with these arguments; returns the exit status. */
export async function benchWorkers(args: readonly string[]): Promise<number> {
  const { options } = readRowOptions(args, { rounds: '12', seconds: '0.7' });
  return await inYard(async (yard) => {
    const ground = await openGround(yard, options.patients);
    const contestant = async (name: string, workers: number) =>
      await contestantOf(name, await startNode(yard, ground, workers), ground.prepared, options);
    const pair = [await contestant('one worker', 1), await contestant('two', 2)] as const;
    return statusOf(await compare(pair, options, bounds));
  });
}
