/** The tables of a practice day, in Markdown, and what is beyond its bounds. */
import { opensAt } from './arrivals.ts';
import type { Cost } from './cost.ts';
import type { ScheduledFigures } from './day.ts';
import type { Contents } from './installations.ts';
import type { DayFigures, Latencies } from './journal.ts';
import type { MemoryCourse, WorkerMemory } from './memory-course.ts';

export interface MeasuredDay {
  readonly workers: number;
  /** Requests a second that were asked for. */
  readonly rate: number;
  readonly day: ScheduledFigures;
  readonly cost: Cost;
  readonly memory: MemoryCourse;
}

/** Days that are shorter are not judged by bounds: caches and code still grow, and a moment's rest of the machine counts. */
const judgedSecondsMin = 600;
export const memoryBounds = {
  megabytesMax: 250,
  /** Of a line through the last half, in MB an hour: in the five minutes of that half a hundredth of the memory that is allowed. */
  slopeMax: 30,
};
/** Of what was offered. */
const answeredMin = 0.99;
const rows = 10;

/** What the practices are. */
export function summariseContents({ plan, resources, loadSeconds }: Contents) {
  const practices = plan.practices.map(({ prefix, patients, share }) => ({ prefix, patients, share }));
  const patients = practices.reduce((sum, practice) => sum + practice.patients, 0);
  return { practices, patients, resources, loadSeconds };
}

/** The same as a line. */
export function formatContents(contents: Contents): string {
  const { practices, patients, resources, loadSeconds } = summariseContents(contents);
  const [largest, smallest] = [practices[0], practices.at(-1)].map((practice) => practice?.patients);
  return `${practices.length} practices of ${largest} to ${smallest} patients, ${patients} together, ${resources} resources, loaded in ${loadSeconds.toFixed(0)} s`;
}

/** Lines of the report. */
export function formatDay({ workers, day, cost, memory }: MeasuredDay): readonly string[] {
  const { all, burst, kinds, hours } = day;
  return [
    `workers: ${workers}, a day in ${day.seconds.toFixed(0)} s`,
    `offered ${day.offered.toFixed(1)} requests/s, answered ${day.answered.toFixed(1)}; ${(day.readShare * 100).toFixed(1)} % reads, ${countErrors(day)} errors, ${day.conflicts} slots taken meanwhile, ${day.repeated} sent again on another connection`,
    `the bench began ${day.late.p50Ms.toFixed(1)} ms late (p50; p99 ${day.late.p99Ms.toFixed(1)}), which latencies hold`,
    `CPU µs/request: ${cost.all.toFixed(0)} (service ${cost.service.toFixed(0)}, database ${cost.database.toFixed(0)}); the bench itself ${cost.caller.toFixed(0)}`,
    '',
    ...formatLatencies('', [['all', all], ["at 8 o'clock", burst], ...Object.entries(kinds)]),
    '',
    ...formatLatencies(
      "o'clock",
      hours.map((hour, index) => [`${opensAt + index} to ${opensAt + index + 1}`, hour] as const),
    ),
    '',
    ...formatMemory(memory),
    ...Object.entries(day.errors).map(([said, times]) => `${times} × ${said}`),
  ];
}

/** What is beyond its bound. */
export function listBroken({ day, memory }: MeasuredDay): readonly string[] {
  const broken = listBrokenAnswers(day);
  if (memory.workers.some(({ points }) => points.some(({ megabytes }) => megabytes === 0)))
    broken.push('a worker ended');
  if (day.seconds < judgedSecondsMin) return broken;
  if (day.answered < day.offered * answeredMin) broken.push('the service did not keep up with what was offered');
  for (const [index, { mostMegabytes, slope, uncertainty }] of memory.workers.entries()) {
    if (mostMegabytes > memoryBounds.megabytesMax) broken.push(`memory of worker ${index + 1}`);
    if (slope - uncertainty > memoryBounds.slopeMax) broken.push(`slope of the memory of worker ${index + 1}`);
  }
  return broken;
}

/** Answers that are not as they should be. */
export function listBrokenAnswers(day: DayFigures): string[] {
  return countErrors(day) === 0 ? [] : [`${countErrors(day)} answers are not as they should be`];
}

/** A table of latencies, one row each. */
export function formatLatencies(head: string, entries: readonly (readonly [string, Latencies])[]): readonly string[] {
  return [
    `| ${head} | requests | kB | p50 ms | p99 ms | p99.9 ms | longest ms |`,
    `|---|${'---:|'.repeat(6)}`,
    ...entries.map(([name, { requests, bytes, p50Ms, p99Ms, p999Ms, longestMs }]) => {
      const cells = [bytes / 1000, p50Ms, p99Ms, p999Ms, longestMs];
      const texts = cells.map((value) => (Number.isNaN(value) ? '' : value.toFixed(1)));
      return `| ${[name, String(requests), ...texts].join(' | ')} |`;
    }),
  ];
}

function formatMemory({ workers }: MemoryCourse): readonly string[] {
  const [{ points } = { points: [] }] = workers;
  const marks = Array.from({ length: rows + 1 }, (_, row) => Math.round((row * (points.length - 1)) / rows));
  const at = (worker: WorkerMemory, mark: number): string => worker.points[mark]?.megabytes.toFixed(0) ?? '';
  return [
    `| memory in MB, after s | ${marks.map((mark) => (points[mark]?.seconds ?? 0).toFixed(0)).join(' | ')} | most | MB an hour, last half |`,
    `|---|${'---:|'.repeat(marks.length + 2)}`,
    ...workers.map((worker, index) => {
      const course = marks.map((mark) => at(worker, mark)).join(' | ');
      const slope = `${worker.slope.toFixed(0)} ± ${worker.uncertainty.toFixed(0)}`;
      return `| worker ${index + 1} | ${course} | ${worker.mostMegabytes.toFixed(0)} | ${slope} |`;
    }),
    '',
  ];
}

function countErrors({ errors }: DayFigures): number {
  return Object.values(errors).reduce((sum, times) => sum + times, 0);
}
