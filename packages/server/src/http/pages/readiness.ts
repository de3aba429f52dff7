/** Whether the next request would be served, asked by `GET /health/ready`: of the database, of writes, and of the clocks. */
import type { ServiceClock } from '../../base/service-clock.ts';
import type { Database } from '../../database/database.ts';
import type { WriteProbe } from '../../database/write-probe.ts';
import { readFloor } from '../../storage/completeness.ts';

/** Longest time that the database has for its answer, in ms: a load balancer waits no longer, either. */
const answerMaxMs = 1_000;

export interface ReadinessOptions {
  readonly database: Database;
  readonly clock: ServiceClock;
  readonly writeProbe: Pick<WriteProbe, 'problem'>;
  /** How far the clocks of the node and of the database may be off, in ms. */
  readonly clockOffMaxMs: number;
}

/** What is wrong, in words for operators; empty: the next request would be served. Answers within `answerMaxMs`. */
export async function checkReadiness(options: ReadinessOptions): Promise<readonly string[]> {
  const { database, clock, writeProbe, clockOffMaxMs } = options;
  const problems = [...clockProblems(clock, clockOffMaxMs), writeProbe.problem() ?? []].flat();
  const floorMs = await withinTime(readFloor(database));
  if (floorMs === undefined) return [...problems, 'The database does not answer'];
  const aheadMs = floorMs - clock.now();
  if (aheadMs <= 0) return problems;
  const repair = 'every write is refused until then; once the clocks are right, praxis clock repair ends it';
  return [...problems, `Searches were said to be complete up to a moment ${seconds(aheadMs)} from now: ${repair}`];
}

function clockProblems(clock: ServiceClock, offMaxMs: number): readonly string[] {
  const { wallAheadMs, databaseAheadMs } = clock.state();
  const found = [
    ["This node's clock", wallAheadMs],
    ["The database's clock", databaseAheadMs],
  ] as const;
  return found
    .filter(([, aheadMs]) => Math.abs(aheadMs) > offMaxMs)
    .map(([whose, aheadMs]) => `${whose} is ${seconds(aheadMs)} ${aheadMs > 0 ? 'ahead' : 'behind'}`);
}

function seconds(ms: number): string {
  return `${Math.round(Math.abs(ms) / 1000)} s`;
}

async function withinTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), answerMaxMs);
  });
  const given = answer.catch(() => undefined);
  return await Promise.race([given, late]).finally(() => clearTimeout(timer));
}
