/**
 * `npm run bench -- ledger [--events 3000000 --rounds 12 --seconds 0.5 --rows create,update]`: a node whose audit ledger holds
 * that many rows beside one whose ledger is empty. Ends with an error when a row is slower than 0.95 times that.
 */
import { compare, contestantOf, statusOf } from './comparison.ts';
import { fillLedger, tidyGround } from './fill-ledger.ts';
import { type Ground, openGround, startNode } from './nodes.ts';
import { inYard } from './processes.ts';
import { basicRows } from './rows/rows.ts';
import { readRowOptions } from './turns.ts';

const bounds = { rateMin: 0.95 };
const eventsDefault = '3000000';

/** Runs the bench with these arguments; returns the exit status. */
export async function benchLedger(args: readonly string[]): Promise<number> {
  const defaults = { rounds: '12', seconds: '0.5', rows: basicRows.join(',') };
  const { options, values } = readRowOptions(args, defaults, ['events']);
  return await inYard(async (yard) => {
    const [empty, full] = [await openGround(yard, options.patients), await openGround(yard, options.patients)];
    const beganMs = performance.now();
    const seals = await fillLedger(full, Number(values['events'] ?? eventsDefault));
    for (const ground of [empty, full]) await tidyGround(ground);
    console.log(`ledger filled and sealed ${seals} times in ${((performance.now() - beganMs) / 1000).toFixed(0)} s\n`);
    const contestant = async (name: string, ground: Ground) =>
      await contestantOf(name, await startNode(yard, ground, 1), ground.prepared, options);
    const pair = [await contestant('empty ledger', empty), await contestant('long ledger', full)] as const;
    return statusOf(await compare(pair, options, bounds));
  });
}
