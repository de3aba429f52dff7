/** `praxis clock …`: the time of the service, and what a wrong clock has left. */
import { readClockState, repairClock } from '../../../admin/actions/clock.ts';
import { toInstant } from '../../../base/clock.ts';
import type { Command } from '../../command.ts';

export const clockCommands: readonly Command[] = [
  {
    name: 'clock show',
    summary: 'Show the time of the service and how far clocks are off',
    arguments: [],
    options: {},
    async run(context) {
      const { database, clock } = await context.platform();
      const { nowMs, wallAheadMs, databaseAheadMs, floorMs } = await readClockState(database, clock);
      context.print(`service  ${toInstant(nowMs)}`);
      context.print(`node     ${wallAheadMs} ms ahead`);
      context.print(`database ${databaseAheadMs} ms ahead`);
      context.print(`floor    ${floorMs === 0 ? 'none' : toInstant(floorMs)}`);
    },
  },
  {
    name: 'clock repair',
    summary:
      'Take back a floor in the future, which a wrong clock has left and because of which every write is refused',
    arguments: [],
    options: {},
    async run(context) {
      const { database, clock } = await context.platform();
      const { aheadMs, floorMs } = await repairClock(database, clock);
      context.print(
        aheadMs === 0
          ? 'nothing to repair: the floor is not in the future'
          : `the floor was ${Math.ceil(aheadMs / 1000)} s in the future; now it is ${toInstant(floorMs)}`,
      );
    },
  },
];
