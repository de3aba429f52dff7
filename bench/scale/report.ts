/** The tables of a run, as Markdown, and what breaks a bound in them. */
import type { Compared } from './measurements.ts';

export interface Section {
  readonly title: string;
  /** Headings of the two things that are compared. */
  readonly columns: readonly [base: string, other: string];
  readonly rows: readonly Compared[];
  /** Largest ratio of the medians; absent: none is promised. */
  readonly ratioMax?: number;
}

export function tableOf({ title, columns: [base, other], rows, ratioMax }: Section): string {
  const bound = ratioMax === undefined ? '' : ` (at most ${ratioMax})`;
  return [
    `## ${title}`,
    '',
    `| Search | ${base}: p50 ms | p95 | ${other}: p50 ms | p95 | ratio of p50${bound} |`,
    '|---|---:|---:|---:|---:|---:|',
    ...rows.map(
      ({ search, base: ours, other: theirs, ratio }) =>
        `| ${search.type}, ${search.name} | ${ours.p50.toFixed(2)} | ${ours.p95.toFixed(2)} | ${theirs.p50.toFixed(2)} | ${theirs.p95.toFixed(2)} | ${ratio.toFixed(2)} |`,
    ),
    '',
  ].join('\n');
}

/** One line for each search that breaks the bound of its section. */
export function brokenIn({ title, rows, ratioMax }: Section): readonly string[] {
  return rows
    .filter(({ ratio }) => ratioMax !== undefined && !(ratio <= ratioMax))
    .map(({ search, ratio }) => `${title}: ${search.type}, ${search.name} is ${ratio.toFixed(2)}, at most ${ratioMax}`);
}
