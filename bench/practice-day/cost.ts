/** What requests cost: CPU time of all processes that serve, and of who asks. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMicrosOfTrees } from '../cpu.ts';
import type { BenchNode, RunningPlace } from '../service/nodes.ts';

/** CPU µs of a request. */
export interface Cost {
  /** Service and database together. */
  readonly all: number;
  readonly service: number;
  readonly database: number;
  /** The bench itself, which is not in `all`. */
  readonly caller: number;
}

export interface Meter {
  /** What has been used since the meter was opened. */
  read(requests: number): Promise<Cost>;
}

/** After the last answer, until the ledger has its rows and has sealed them. */
const settleMs = 1_200;

/** Begins to measure. */
export function openMeter(node: BenchNode, place: RunningPlace): Meter {
  const look = () => ({ service: cpuMicrosOfTrees([node.pid]), database: cpuMicrosOfTrees([place.pid]) });
  const before = look();
  const callerBefore = process.cpuUsage();
  return {
    async read(requests) {
      const { user, system } = process.cpuUsage(callerBefore);
      await delay(settleMs);
      const now = look();
      const service = (now.service - before.service) / requests;
      const database = (now.database - before.database) / requests;
      return { all: service + database, service, database, caller: (user + system) / requests };
    },
  };
}
