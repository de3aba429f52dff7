/**
 * Two nodes, each a process of its own, under a load of so many reads per second (an open loop): first things are revoked
 * through the administration API, and no request that begins after the answer may succeed; then secrets, API keys and
 * signing keys are rotated, and no request may fail.
 *
 *     npm run bench -- revocation [--rate N] [--revocations N] [--rotations N]
 *
 *     --rate N         reads per second over both nodes (1000)
 *     --revocations N  the kinds take turns (50)
 *     --rotations N    of everything that is rotated (3)
 *
 * Ends with 1 when a request succeeded or failed that must not, or when less than nine tenths of the rate was reached.
 */
import { parseArgs } from 'node:util';
import { makeSecret } from '../../packages/server/src/base/ids.ts';
import { openAdministrator } from '../../packages/server/test/admin/world.ts';
import { startTestCluster } from '../../packages/server/test/support/cluster.ts';
import { startNode } from '../../packages/server/test/support/nodes.ts';
import { openTestService } from '../../packages/server/test/support/service.ts';
import { figuresOf } from './paced-load.ts';
import { revokeUnderLoad } from './revoke.ts';
import { rotateUnderLoad } from './rotate.ts';
import type { LoadResult, Nodes } from './world.ts';

/** Share of the rate that has to be reached. */
const reachedMin = 0.9;

/** Runs both; 0 when nothing was wrong. */
export async function benchRevocation(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: { type: 'string', default: '1000' },
      revocations: { type: 'string', default: '50' },
      rotations: { type: 'string', default: '3' },
    },
  });
  const [rate, revocations, rotations] = [values.rate, values.revocations, values.rotations].map(Number);
  const cluster = await startTestCluster();
  Object.assign(process.env, cluster.environment);
  const endings: (() => Promise<void> | void)[] = [() => cluster.stop()];
  try {
    const nodes = await openNodes((work) => void endings.push(work));
    const results = [
      await revokeUnderLoad(nodes, rate ?? 0, revocations ?? 0),
      await rotateUnderLoad(nodes, rate ?? 0, rotations ?? 0),
    ];
    for (const result of results) report(result);
    return results.every((result) => isSound(result, rate ?? 0)) ? 0 : 1;
  } finally {
    for (const end of endings.toReversed()) await end();
  }
}

async function openNodes(after: (work: () => Promise<void> | void) => void): Promise<Nodes> {
  const secretKey = makeSecret();
  const service = await openTestService({ after }, { PRAXIS_SECRET_KEY: secretKey });
  const nodes = await Promise.all([1, 2].map(() => startNode(service.database, secretKey)));
  for (const node of nodes) after(() => node.stop());
  const [origin = '', second = ''] = nodes.map((node) => node.origin);
  // The first node has the clock of the machine; the test service lends its platform.
  const first = { ...service, origin };
  return { first, origins: [origin, second], operator: await openAdministrator(first, 'operator', 'operator') };
}

function report({ name, answers, wrong, notes }: LoadResult): void {
  const { offered, achieved, p50Ms, p99Ms, maxMs } = figuresOf(answers);
  const rounded = (value: number): string => value.toFixed(1);
  console.log(
    `${name}: ${answers.length} reads, ${rounded(offered)}/s offered, ${rounded(achieved)}/s answered, from the moment each was due p50 ${rounded(p50Ms)} ms, p99 ${rounded(p99Ms)} ms, longest ${rounded(maxMs)} ms`,
  );
  for (const note of notes) console.log(`  ${note}`);
  console.log(`  wrong: ${wrong.length}${wrong.length === 0 ? '' : `, the first: ${wrong.slice(0, 5).join('; ')}`}`);
}

function isSound({ answers, wrong }: LoadResult, rate: number): boolean {
  return wrong.length === 0 && figuresOf(answers).achieved >= reachedMin * rate;
}
