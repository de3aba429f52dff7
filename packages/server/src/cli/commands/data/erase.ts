/** `praxis firm erase run`: the work of the service's job, in a process of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { openEraser } from '../../../offboarding/erase-firm.ts';
import { listErasures } from '../../../offboarding/erasures.ts';
import type { Command } from '../../command.ts';
import { formatCount, showProgress } from '../../progress.ts';

/** How long it waits for transactions of others between two looks. */
const waitMs = 200;
/** Erasures that are looked at. */
const listedMax = 1_000;

export const eraseCommands: readonly Command[] = [
  {
    name: 'firm erase run',
    summary: 'Remove the rows of firms whose erasure is confirmed; a running service does this by itself',
    description: 'If it is interrupted, run it again: it continues.',
    arguments: [],
    options: {},
    async run(context) {
      const platform = await context.platform();
      const eraser = openEraser(platform);
      const progress = showProgress(context, 'rows');
      const confirmed = async () =>
        (await listErasures(platform, listedMax)).filter(({ state }) => state === 'confirmed');
      const begun = (await confirmed()).map(({ id }) => id);
      for (let state = await eraser.eraseConfirmed(); state !== 'done'; state = await eraser.eraseConfirmed()) {
        progress.update((await confirmed()).reduce((sum, { erased }) => sum + countRows(erased), 0));
        if (state === 'waiting') await delay(waitMs);
      }
      const left = await confirmed();
      progress.end(0);
      for (const { id, firm, environment, erased, state } of await listErasures(platform, listedMax))
        if (begun.includes(id) && state === 'erased')
          context.print(
            `firm ${firm} in ${environment} is erased: ${formatCount(countRows(erased))} rows; praxis firm erase show ${id} has the proof`,
          );
      for (const { firm } of left)
        context.print(`firm ${firm} waits until its last uploads can no longer be under way: run it again in an hour`);
      if (begun.length === 0) context.print('no erasure is confirmed');
    },
  },
];

/** Of tables; other counts have a slash in their names. */
function countRows(erased: Readonly<Record<string, number>>): number {
  return Object.entries(erased).reduce((sum, [name, rows]) => (name.includes('/') ? sum : sum + rows), 0);
}
