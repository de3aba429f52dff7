/**
 * The table of a run: the floor's rows, then each workload with its ratios to its floor.
 */
import type { Figures, Workload } from './load.ts';
import type { Pair } from './workloads.ts';

/** Lines of a Markdown table. Ratios: requests per second of the floor over ours, our CPU time over the floor's. */
export function rowsOf(
  floors: readonly Workload[],
  pairs: readonly Pair[],
  figures: ReadonlyMap<Workload, readonly Figures[]>,
): string[] {
  const lines = [
    '| | requests/s | p50 ms | p99 ms | CPU µs/request | × slower than floor | × CPU of floor |',
    '|---|---:|---:|---:|---:|---:|---:|',
  ];
  for (const floor of floors) lines.push(row(floor.name, median(figures.get(floor))));
  for (const { workload, floor } of pairs) {
    const own = median(figures.get(workload));
    const base = median(figures.get(floors.find(({ name }) => name === floor) ?? workload));
    lines.push(row(`${workload.name} (${floor})`, own, base));
  }
  return lines;
}

function row(name: string, own: Figures, base?: Figures): string {
  const ratios =
    base === undefined
      ? ['', '']
      : [(base.requestsPerSecond / own.requestsPerSecond).toFixed(2), (own.cpuMicros / base.cpuMicros).toFixed(2)];
  const cells = [
    name,
    own.requestsPerSecond.toFixed(0),
    own.p50Ms.toFixed(2),
    own.p99Ms.toFixed(2),
    own.cpuMicros.toFixed(0),
    ...ratios,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The round whose throughput is the median. */
function median(rounds: readonly Figures[] | undefined): Figures {
  const sorted = [...(rounds ?? [])].sort((a, b) => a.requestsPerSecond - b.requestsPerSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}
