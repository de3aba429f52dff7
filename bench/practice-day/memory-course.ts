/** Resident memory of workers over time. */
import { fitLine } from '../regression.ts';
import { residentBytesOf } from '../siege/processes.ts';

export interface MemoryCourse {
  /** Of each worker. */
  readonly workers: readonly WorkerMemory[];
}

export interface WorkerMemory {
  readonly points: readonly { readonly seconds: number; readonly megabytes: number }[];
  readonly endMegabytes: number;
  readonly mostMegabytes: number;
  /** Of a line through the last half, in MB an hour. */
  readonly slope: number;
  /** Of the slope: two standard errors. */
  readonly uncertainty: number;
}

const everyMs = 1_000;
const megabyte = 1_000_000;
/** The last half in so many parts: values of a second are like those of the second before, means of parts are hardly. */
const parts = 10;

/** Begins to watch; the function that is returned ends it. */
export function watchMemory(pids: readonly number[]): () => MemoryCourse {
  const beganMs = performance.now();
  const points: { readonly seconds: number; readonly megabytes: readonly number[] }[] = [];
  const look = (): void => {
    const seconds = (performance.now() - beganMs) / 1000;
    points.push({ seconds, megabytes: pids.map((pid) => residentBytesOf(pid) / megabyte) });
  };
  look();
  const timer = setInterval(look, everyMs);
  return () => {
    clearInterval(timer);
    look();
    return {
      workers: pids.map((_, worker) =>
        judgeCourse(points.map(({ seconds, megabytes }) => ({ seconds, megabytes: megabytes[worker] ?? 0 }))),
      ),
    };
  };
}

/** What the course of one worker comes to. */
export function judgeCourse(points: WorkerMemory['points']): WorkerMemory {
  const half = points.slice(Math.floor(points.length / 2));
  const length = Math.max(1, half.length / parts);
  const means = Array.from({ length: Math.min(parts, half.length) }, (_, part) => {
    const those = half.slice(Math.floor(part * length), Math.floor((part + 1) * length));
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    return [mean(those.map(({ seconds }) => seconds / 3600)), mean(those.map(({ megabytes }) => megabytes))] as const;
  });
  const { slope, standardError } = fitLine(means);
  return {
    points,
    endMegabytes: points.at(-1)?.megabytes ?? Number.NaN,
    mostMegabytes: Math.max(...points.map(({ megabytes }) => megabytes)),
    slope,
    uncertainty: 2 * standardError,
  };
}
