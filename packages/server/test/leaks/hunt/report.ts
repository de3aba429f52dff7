/** What the leak hunt reports: a leak as steps that can be repeated by hand, and a whole run as markdown. */
import { type CallerKind, callerKinds } from './callers.ts';
import { observables } from './compare.ts';
import type { Leak } from './hunt.ts';
import type { Step } from './requests.ts';
import { tellingGuards } from './telling-guards.ts';

/** A leak with the shortest steps that were found to it. */
export function leakText({ seed, path, campaign, message }: Leak): string {
  const { plot, steps } = campaign;
  return [
    `a difference where ${plot.group} hide a secret (${plot.secret}): ${message}`,
    'after:',
    ...steps.map((step, at) => `  ${at + 1}. ${stepText(step)}`),
    `repeat: npm run leak-hunt -- --seed ${seed} --path ${path}`,
  ].join('\n');
}

function stepText({ caller, ask }: Step): string {
  if ('link' in ask) return `${caller}: ${ask.way} of link ${ask.link}, ${JSON.stringify(ask.paths)}`;
  const headers = Object.keys(ask.headers).length === 0 ? '' : ` ${JSON.stringify(ask.headers)}`;
  const body = ask.body === undefined ? '' : ` ${JSON.stringify(ask.body)}`;
  return `${caller}: ${ask.method} ${ask.path}${headers}${body}`;
}

/** A tally, as one process tells it to another. */
export interface Counted {
  readonly requests: number;
  readonly campaigns: number;
  readonly ways: Readonly<Record<string, number>>;
  readonly callers: Readonly<Record<string, number>>;
  readonly plots: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly entitled: Readonly<Record<string, { readonly asked: number; readonly differed: number }>>;
  readonly faults: readonly string[];
}

/** Of a guard that was taken out: the requests until the hunt found it missing; undefined: it did not. */
export interface GuardResult {
  readonly name: string;
  readonly found: number | undefined;
}

export interface Run {
  readonly seeds: readonly number[];
  readonly counted: Counted;
  /** As leakText. */
  readonly leaks: readonly string[];
  readonly guards: readonly GuardResult[];
}

/** What the hunt leaves out. */
const untried: readonly string[] = [
  'Time: answers are not compared by how long they take (where it matters, work is made equal: `test/oauth/equal-work.test.ts`).',
  'The token endpoints and the administration API: they have decision tables of their own.',
  'AuditEvent by callers who may read the ledger: it tells of moments and requests, which are not the same twice.',
  'Two ids made by one Bundle: they are random in one moment, so that the order of the worlds would differ.',
  'A change of rights between two requests: it has tests of its own (`test/oauth`, `test/admin`, `test/operations/changes.test.ts`).',
  'Concurrent requests: a campaign is one request after another.',
];

/** The report of a run. */
export function reportText({ seeds, counted, leaks, guards }: Run): string {
  const entitled = Object.values(counted.entitled);
  const asked = entitled.reduce((sum, each) => sum + each.asked, 0);
  const differed = entitled.reduce((sum, each) => sum + each.differed, 0);
  return [
    '# The leak hunt',
    '',
    'Written by `npm run leak-hunt`: how it works is in [decision 0162](../decisions/0162-a-random-adversary-asks-two-worlds.md).',
    '',
    `${amount(counted.requests)} requests in ${amount(counted.campaigns)} campaigns, each sent to two worlds that differ in one secret; seeds ${seeds.join(', ')}.`,
    '',
    leaks.length === 0
      ? 'No difference was found in status, headers, body, count or order beyond what is declared below.'
      : `Differences found: ${leaks.length}.`,
    ...leaks.flatMap((leak) => ['', '```', leak, '```']),
    '',
    `Answers of 500: ${counted.faults.length}. Those who may see the secrets sent ${amount(asked)} of the requests, too, and were told different things in ${amount(differed)}.`,
    ...section('What may differ', ['what', 'why'], observables),
    '',
    '## What is not tried',
    '',
    ...untried.map((each) => `- ${each}`),
    ...section('Who asked', ['caller', 'what its token may do', 'requests'], callerRows(counted)),
    ...section('How they asked', ['way', 'requests'], rows(counted.ways)),
    ...section('What they were told', ['status', 'requests'], rows(counted.statuses)),
    ...section(
      'What was hidden',
      ['hidden by, secret', 'requests', 'told differently to those who may see it'],
      plotRows(counted),
    ),
    ...(guards.length === 0 ? [] : guardSection(guards)),
    '',
    '## What is told later',
    '',
    'Events of subscriptions and files of exports follow from no single request. `hunt/tellings.ts` compares them between two worlds, and its tests take these guards out in turn:',
    '',
    ...tellingGuards.map(({ name }) => `- ${name}`),
    '',
  ].join('\n');
}

function guardSection(guards: readonly GuardResult[]): readonly string[] {
  return [
    ...section(
      'Guards taken out',
      ['guard', 'requests until the hunt found it missing'],
      guards.map(({ name, found }) => [name, found === undefined ? 'not found' : amount(found)]),
    ),
  ];
}

function callerRows({ callers }: Counted): readonly (readonly string[])[] {
  return Object.entries(callerKinds).map(([name, { means }]: [string, CallerKind]) => [
    name,
    means,
    amount(callers[name] ?? 0),
  ]);
}

function plotRows({ plots, entitled }: Counted): readonly (readonly string[])[] {
  return sorted(plots).map(([name, requests]) => {
    const { asked, differed } = entitled[name] ?? { asked: 0, differed: 0 };
    return [name.replace(' ', ', '), amount(requests), `${amount(differed)} of ${amount(asked)}`];
  });
}

function rows(counts: Readonly<Record<string, number>>): readonly (readonly string[])[] {
  return sorted(counts).map(([name, number]) => [name, amount(number)]);
}

function sorted(counts: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(counts).toSorted(([one], [other]) => one.localeCompare(other));
}

function section(title: string, heads: readonly string[], lines: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return ['', `## ${title}`, '', line(heads), line(heads.map(() => '---')), ...lines.map(line)];
}

function amount(number: number): string {
  return number.toLocaleString('en-US');
}

/** The sum of several tallies. */
export function sumOf(parts: readonly Counted[]): Counted {
  const add = (of: (part: Counted) => Readonly<Record<string, number>>): Record<string, number> => {
    const sum = new Map<string, number>();
    for (const part of parts)
      for (const [key, number] of Object.entries(of(part))) sum.set(key, (sum.get(key) ?? 0) + number);
    return Object.fromEntries(sum);
  };
  const asked = add(({ entitled }) =>
    Object.fromEntries(Object.entries(entitled).map(([key, each]) => [key, each.asked])),
  );
  const differed = add(({ entitled }) =>
    Object.fromEntries(Object.entries(entitled).map(([key, each]) => [key, each.differed])),
  );
  return {
    requests: parts.reduce((sum, part) => sum + part.requests, 0),
    campaigns: parts.reduce((sum, part) => sum + part.campaigns, 0),
    ways: add(({ ways }) => ways),
    callers: add(({ callers }) => callers),
    plots: add(({ plots }) => plots),
    statuses: add(({ statuses }) => statuses),
    entitled: Object.fromEntries(
      Object.entries(asked).map(([key, number]) => [key, { asked: number, differed: differed[key] ?? 0 }]),
    ),
    faults: parts.flatMap(({ faults }) => faults),
  };
}
