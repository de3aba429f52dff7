/** docs/integrate/states.md: a diagram, the states and the transitions of every table of states. */
import { stateTables } from '../../packages/server/src/practice/features.ts';
import {
  type Actor,
  actors,
  conditions,
  type Event,
  effects,
  type StateTable,
  type Transition,
} from '../../packages/server/src/resources/states/state-table.ts';
import { code, table } from './markdown.ts';

/** One part for each table. */
export function stateParts(): string {
  return stateTables.map(part).join('\n\n');
}

/** Who makes changes. */
export function actorTable(): string {
  const rows = Object.entries(actors).map(([name, { words, includes }]) => [
    name,
    words,
    includes.length > 1 ? includes.slice(0, -1).join(', ') : '',
  ]);
  return table(['Who', 'That is', 'May also do what is for'], rows);
}

/** What goes with a transition, and what it needs. */
export function effectTable(): string {
  const rows = (words: Readonly<Record<string, string>>) =>
    Object.entries(words).map(([name, meaning]) => [code(name), meaning]);
  return [
    table(['Effect', 'In the same transaction'], rows(effects)),
    table(['Condition', 'That is'], rows(conditions)),
  ].join('\n\n');
}

function part(states: StateTable): string {
  return [
    `## ${states.name}`,
    states.introduction,
    diagram(states),
    table(
      ['State', 'Meaning', 'Begins'],
      states.states.map((state) => [code(state.code), state.meaning, (state.begins ?? []).join(', ')]),
    ),
    table(['From', 'To', 'By', 'On', 'With it'], states.transitions.map(row)),
  ].join('\n\n');
}

function row({ from, to, by, on, effects: carried = [], condition, note }: Transition): readonly string[] {
  const words = [...(condition === undefined ? [] : [`only with ${code(condition)}`]), ...carried.map(code)];
  const also = [...words, ...(note === undefined ? [] : [note])].join('; ');
  return [from.map(code).join(' '), to.map(code).join(' '), by, on.startsWith('$') ? code(on) : on, also];
}

/** A state diagram (https://mermaid.js.org/syntax/stateDiagram.html); corrections and errors, which are many, are left to the table. */
function diagram({ states, transitions }: StateTable): string {
  const shown = transitions.filter(({ to }) => !to.includes('entered-in-error'));
  const lines = [
    ...states
      .filter(({ code: name }) => name.includes('-'))
      .map(({ code: name }) => `state "${name}" as ${idOf(name)}`),
    ...states.flatMap(({ code: name, begins = [] }) => (begins.length === 0 ? [] : [`[*] --> ${idOf(name)}`])),
    ...edgesOf(shown).map(([from, to, label]) => `${idOf(from)} --> ${idOf(to)}${label}`),
  ];
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```'].join('\n');
}

/** Each pair of states once, with all that leads from the one to the other. */
function edgesOf(transitions: readonly Transition[]): readonly (readonly [from: string, to: string, label: string])[] {
  const steps = transitions.flatMap(({ from, to, by, on }) =>
    from.flatMap((one) => to.map((other) => ({ from: one, to: other, word: wordOf(by, on) }))),
  );
  const pairs = Map.groupBy(steps, ({ from, to }) => `${from} ${to}`);
  return [...pairs.values()].flatMap((those) => {
    const [first] = those;
    const words = those.map(({ word }) => word);
    const isPlain = words.every((word) => word === '');
    const label = isPlain ? '' : `: ${words.map((word) => (word === '' ? 'write' : word)).join(', ')}`;
    return first === undefined ? [] : [[first.from, first.to, label] as const];
  });
}

/** What an arrow says; nothing where an application may write it. */
function wordOf(by: Actor, on: Event): string {
  if (on !== 'write') return on;
  return by === 'application' ? '' : by;
}

/** Hyphens are no part of names in diagrams. */
function idOf(name: string): string {
  return name.replaceAll('-', '_');
}
