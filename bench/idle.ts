/**
 * `npm run bench -- idle [--workers 2 --seconds 30 --settled 90]`: the CPU time of a service that nobody calls, with its sandbox, all jobs and
 * the database. Ends with an error when it uses more than 2 % of a core.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cpuMicrosOfTrees } from './cpu.ts';
import { startInstallation } from './siege/installation.ts';

const shareMax = 0.02;
/** Runs the bench with these arguments; returns the exit status. */
export async function benchIdle(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      workers: { type: 'string', default: '2' },
      seconds: { type: 'string', default: '30' },
      settled: { type: 'string', default: '90' },
    },
  });
  const installation = await startInstallation({ PRAXIS_WORKERS: values.workers });
  try {
    // A start leaves seals to be made, and loaded tables to autovacuum, which comes once a minute.
    await delay(Number(values.settled) * 1000);
    const processes = [
      ...installation.workers().map((pid, index) => [`worker ${index + 1}`, [pid]] as const),
      ['database', [installation.postmaster()]],
      ['all, with the supervisor', [installation.pid(), installation.postmaster()]],
    ] as const;
    const read = (): number[] => processes.map(([, pids]) => cpuMicrosOfTrees(pids));
    const [before, beganMs] = [read(), performance.now()];
    await delay(Number(values.seconds) * 1000);
    const [after, micros] = [read(), (performance.now() - beganMs) * 1000];
    const shares = after.map((used, index) => (used - (before[index] ?? 0)) / micros);
    console.log('| | % of a core |\n|---|---:|');
    for (const [index, [name]] of processes.entries()) console.log(`| ${name} | ${percent(shares[index])} |`);
    const all = shares.at(-1) ?? Number.NaN;
    if (all < shareMax) return 0;
    console.log(`\nBeyond the bound: ${percent(all)} % of a core, not ${percent(shareMax)} %`);
    return 1;
  } finally {
    await installation.stop();
  }
}

function percent(share: number | undefined): string {
  return ((share ?? Number.NaN) * 100).toFixed(2);
}
