/** `praxis clock …`: the time of the service, and what a wrong clock has left (docs/decisions/0245). */

import { one, type Shape } from '../../actions/schema.ts';
import { toInstant } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { agreeMaxMs } from '../../base/service-clock.ts';
import { readFloor, repairFloor } from '../../storage/completeness.ts';
import { defineAdminAction } from '../context.ts';

const state: Shape = {
  now: { kind: 'time', description: 'The time of the service: that of the database.' },
  wallAheadMs: {
    kind: 'integer',
    description: 'How far the clock of this node is ahead of it, in milliseconds. Negative: behind.',
  },
  databaseAheadMs: {
    kind: 'integer',
    description:
      "How far the database's clock is ahead, in ms, while it is not believed because it has jumped; else 0.",
  },
  floor: { kind: 'time', description: 'No node writes a version with an earlier time.' },
};

const repaired: Shape = {
  aheadMs: {
    kind: 'integer',
    description: 'How far the floor was in the future, in milliseconds. 0: nothing changed.',
  },
  floor: { kind: 'time', description: 'The current floor.' },
};

export const clockActions = [
  defineAdminAction({
    name: 'clock show',
    method: 'GET',
    path: '/clock',
    summary: 'Show the time of the service and how far clocks differ from it',
    roles: ['operator'],
    output: one(state),
    async run({ database, clock }) {
      const { wallAheadMs, databaseAheadMs } = clock.state();
      return {
        nowMs: clock.now(),
        wallAheadMs: Math.round(wallAheadMs),
        databaseAheadMs: Math.round(databaseAheadMs),
        floorMs: await readFloor(database),
      };
    },
    command: {
      print: ({ nowMs, wallAheadMs, databaseAheadMs, floorMs }) => [
        `service  ${toInstant(nowMs)}`,
        `node     ${wallAheadMs} ms ahead`,
        `database ${databaseAheadMs} ms ahead`,
        `floor    ${floorMs === 0 ? 'none' : toInstant(floorMs)}`,
      ],
    },
  }),
  defineAdminAction({
    name: 'clock repair',
    method: 'POST',
    path: '/clock/repair',
    summary:
      'Take back a floor in the future, which a wrong clock has left and because of which every write is refused',
    roles: ['operator'],
    output: one(repaired),
    async run({ database, clock }) {
      const { wallAheadMs, databaseAheadMs } = clock.state();
      const worstMs = Math.max(Math.abs(wallAheadMs), Math.abs(databaseAheadMs));
      // While the clocks do not agree the floor would be set by a wrong one.
      if (worstMs > agreeMaxMs)
        fail('conflict', {
          diagnostics: `The clocks of this node and of the database differ by ${Math.round(worstMs / 1000)} s: set them right first`,
        });
      return await repairFloor(database, clock.now());
    },
    command: {
      print: ({ aheadMs, floorMs }) => [
        aheadMs === 0
          ? 'nothing to repair: the floor is not in the future'
          : `the floor was ${Math.ceil(aheadMs / 1000)} s in the future; now it is ${toInstant(floorMs)}`,
      ],
    },
  }),
];
