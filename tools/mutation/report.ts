/** docs/contribute/mutation.md: how many mutants the tests noticed, and each one that they did not with the reason. */
import { code, table } from '../docs/markdown.ts';
import { changeText, type Explanation, explanationOf, type Reason, sourcesFolder } from './explanation.ts';
import type { Mutant } from './mutants.ts';
import { mutators } from './mutators.ts';
import type { Result } from './results.ts';
import { leftOutRule } from './wording.ts';

export interface Run {
  /** Every mutant that the sources have. */
  readonly all: readonly Mutant[];
  readonly sample: readonly Mutant[];
  /** From the root. */
  readonly folders: readonly string[];
  readonly results: ReadonlyMap<string, Result>;
  readonly explanations: readonly Explanation[];
  readonly seed: string;
  readonly leftOutTests: readonly string[];
  /** How many test files were asked. */
  readonly tests: number;
  /** Those that were not, as they failed without a mutant or are newer than the run. */
  readonly testsNotAsked: readonly string[];
}

/** Reasons, as the report says them. */
const reasons: Readonly<Record<Reason, string>> = {
  equivalent: 'no input and no state makes a difference',
  speed: 'the answer is the same; only the time or memory that it takes is another',
  'second guard': 'another check refuses the same, and is tested; this one is there in case that one fails',
  'shown elsewhere': 'a test that this run leaves out, or a check that is none of the tests, notices it',
  accepted: 'it makes a difference that no test is worth',
};

/** Reasons for which there is nothing that a test could notice. */
const unnoticeable: ReadonlySet<string> = new Set<Reason>(['equivalent', 'speed']);

interface Tried {
  readonly mutant: Mutant;
  readonly result: Result;
  readonly explanation: Explanation | undefined;
}

/** The report, and how many survivors it has no explanation for. */
export function reportText(run: Run): { readonly text: string; readonly unexplained: number } {
  const tried = run.sample.flatMap((mutant): Tried[] => {
    const result = run.results.get(mutant.id);
    return result === undefined ? [] : [{ mutant, result, explanation: explanationOf(mutant, run.explanations) }];
  });
  const survivors = tried.filter(isSurvivor).toSorted(byPlace);
  const unexplained = survivors.filter(({ explanation }) => explanation === undefined);
  const text = [
    '# The mutation run',
    '',
    'Written by `npm run mutation`: how it works is in [decision 0174](../decisions/0174-mutants-are-sampled-and-survivors-explained.md).',
    '',
    summary(run, tried),
    '',
    ...folderSection(run, tried),
    ...mutatorSection(run, tried),
    ...limitsSection(run),
    ...survivorSections(run, survivors, unexplained),
  ].join('\n');
  return { text: `${text.trimEnd()}\n`, unexplained: unexplained.length };
}

function byPlace({ mutant: a }: Tried, { mutant: b }: Tried): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.start - b.start;
}

function isSurvivor({ result }: Tried): boolean {
  return result.status === 'survived' || result.status === 'uncovered';
}

function summary({ all, sample, seed, tests }: Run, tried: readonly Tried[]): string {
  const counted = tried.filter(({ result }) => result.status !== 'refused');
  const killed = tried.filter(({ result }) => result.status === 'killed').length;
  const survivors = tried.filter(isSurvivor);
  const mistakes = counted.length - survivors.filter(isUnnoticeable).length;
  return [
    `${amount(tried.length)} of ${amount(all.length)} possible mutants were tried so far, of a sample of ${amount(sample.length)} (seed ${seed}), against ${tests} test files. `,
    `**Score: ${percent(killed, counted.length)}** of the ${amount(counted.length)} that the compiler accepts were noticed by a test; `,
    `${percent(killed, mistakes)} of the ${amount(mistakes)} that make a difference which a test could notice. `,
    `${survivors.length} survived, all listed below with the reason.`,
  ].join('');
}

function isUnnoticeable({ explanation }: Tried): boolean {
  return explanation !== undefined && unnoticeable.has(explanation.reason);
}

const countsHead = [
  'possible',
  'tried',
  'noticed',
  'by time',
  'refused by the compiler',
  'survived',
  'not run',
  'score',
];

function countsOf(possible: number, tried: readonly Tried[]): string[] {
  const of = (status: Result['status']): number => tried.filter(({ result }) => result.status === status).length;
  const slow = tried.filter(({ result }) => result.by?.isTimeout === true).length;
  const counted = tried.length - of('refused');
  return [
    ...[possible, tried.length, of('killed'), slow, of('refused'), of('survived'), of('uncovered')].map(amount),
    percent(of('killed'), counted),
  ];
}

function folderSection({ all, folders }: Run, tried: readonly Tried[]): string[] {
  const rows = folders.map((folder) => {
    const inFolder = ({ file }: Mutant): boolean => file.startsWith(`${folder}/`);
    return [
      code(`${folder.slice(sourcesFolder.length)}/`),
      ...countsOf(
        all.filter(inFolder).length,
        tried.filter(({ mutant }) => inFolder(mutant)),
      ),
    ];
  });
  return ['## By folder', '', table(['folder', ...countsHead], rows), ''];
}

function mutatorSection({ all }: Run, tried: readonly Tried[]): string[] {
  const rows = mutators.map(({ name, says }) => [
    name,
    says,
    ...countsOf(
      all.filter(({ mutator }) => mutator === name).length,
      tried.filter(({ mutant }) => mutant.mutator === name),
    ),
  ]);
  return ['## By mutator', '', table(['mutator', 'what it does', ...countsHead], rows), ''];
}

function limitsSection({ leftOutTests, testsNotAsked }: Run): string[] {
  return [
    '## What the figures mean',
    '',
    `- Not mutated: ${leftOutRule}.`,
    `- Test files that are not asked, as they start servers of their own or take minutes: ${leftOutTests.map(code).join(', ')}.`,
    ...(testsNotAsked.length === 0
      ? []
      : [
          `- Not asked in this run, as they failed on a busy machine or are newer: ${testsNotAsked.map(code).join(', ')}.`,
        ]),
    '- Test files that run the line of a mutant try it, the likeliest first and a few at a time. The table of survivors says ' +
      'how many of them did. A later run goes on with the others, so the score can only be too low.',
    '- "By time": noticed because a test did not end in six times its usual time.',
    '',
  ];
}

function survivorSections({ folders }: Run, survivors: readonly Tried[], unexplained: readonly Tried[]): string[] {
  if (survivors.length === 0) return [];
  const used = Object.entries(reasons).map(([reason, says]) => [
    reason,
    says,
    String(survivors.filter(({ explanation }) => explanation?.reason === reason).length),
  ]);
  const lists = folders.flatMap((folder) => {
    const own = survivors.filter(({ mutant, explanation }) => explanation && mutant.file.startsWith(`${folder}/`));
    return own.length === 0
      ? []
      : [`### ${code(`${folder.slice(sourcesFolder.length)}/`)}`, '', survivorTable(own), ''];
  });
  const rest = unexplained.length === 0 ? [] : ['### Unexplained', '', survivorTable(unexplained), ''];
  return ['## Survivors', '', table(['reason', 'what it means', 'survivors'], used), '', ...rest, ...lists];
}

function survivorTable(survivors: readonly Tried[]): string {
  const rows = survivors.map(({ mutant, result, explanation }) => [
    code(`${mutant.file.slice(sourcesFolder.length)}:${mutant.line}`),
    codeSpan(changeText(mutant)),
    result.status === 'uncovered' ? 'none runs it' : `${Object.keys(result.passed).length} of ${result.covering}`,
    explanation === undefined ? '**unexplained**' : `*${explanation.reason}*: ${explanation.why}`,
  ]);
  return table(['place', 'change', 'asked', 'why it survives'], rows);
}

/** A code span may hold backticks if it begins with more of them. https://github.github.com/gfm/#code-spans */
function codeSpan(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : code(text);
}

function amount(count: number): string {
  return count.toLocaleString('en-US');
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
}
