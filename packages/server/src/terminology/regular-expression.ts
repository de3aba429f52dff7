/**
 * Regular expressions of value set filters, matched in time that grows with pattern × text, no faster: firms write the
 * patterns, and JavaScript's own matcher can be made to run for years. A pattern has to match the whole text.
 *
 * https://hl7.org/fhir/R4/valueset-filter-operator.html · Ken Thompson, Regular Expression Search Algorithm (1968)
 */
import type { Spend } from './effort.ts';

/** Steps that a pattern may compile to; a repetition `{n}` counts n times. */
export const patternStepsMax = 2000;
/** Groups inside each other. */
const groupDepthMax = 20;

type CharacterTest = (character: string) => boolean;

type Step =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'split'; readonly to: readonly number[] }
  | { readonly kind: 'end' };

/** What is wrong with a pattern; never leaves this module's callers as it is. */
export class PatternError extends Error {}

/**
 * A test for whole texts. Understood are literals, `.`, classes, groups, `|`, `* + ? {n,m}`, `\d \w \s \D \W \S`, escaped
 * characters, and `^` and `$` around the whole.
 * @param spend is told each step that a match tries
 * @throws PatternError
 */
export function compilePattern(pattern: string, spend: Spend): (text: string) => boolean {
  const characters = [...pattern.replace(/^\^/, '').replace(/(?<!\\)\$$/, '')];
  const reader: Reader = { characters, at: 0, depth: 0 };
  const node = readAlternatives(reader);
  if (reader.at < characters.length) throw new PatternError(`has a ) too many at character ${reader.at + 1}`);
  const steps: Step[] = [];
  emit(steps, node);
  steps.push({ kind: 'end' });
  return (text) => matches(steps, text, spend);
}

/** Follows all ways through the pattern at once. */
function matches(steps: readonly Step[], text: string, spend: Spend): boolean {
  let states = reach(steps, [0]);
  for (const character of text) {
    spend(states.size);
    const next: number[] = [];
    for (const state of states) {
      const step = steps[state];
      if (step?.kind === 'character' && step.test(character)) next.push(state + 1);
    }
    states = reach(steps, next);
    if (states.size === 0) return false;
  }
  return states.has(steps.length - 1);
}

function reach(steps: readonly Step[], from: readonly number[]): ReadonlySet<number> {
  const states = new Set(from);
  // A set hands out what is added while it is walked.
  for (const state of states) {
    const step = steps[state];
    if (step?.kind === 'split') for (const to of step.to) states.add(to);
  }
  return states;
}

type Node =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'alternatives'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number };

interface Reader {
  readonly characters: readonly string[];
  at: number;
  depth: number;
}

function readAlternatives(reader: Reader): Node {
  const parts = [readSequence(reader)];
  while (reader.characters[reader.at] === '|') {
    reader.at += 1;
    parts.push(readSequence(reader));
  }
  return { kind: 'alternatives', parts };
}

function readSequence(reader: Reader): Node {
  const parts: Node[] = [];
  for (;;) {
    const character = reader.characters[reader.at];
    if (character === undefined || character === '|' || character === ')') return { kind: 'sequence', parts };
    parts.push(readRepetition(reader, readAtom(reader)));
  }
}

function readAtom(reader: Reader): Node {
  const character = reader.characters[reader.at] ?? '';
  reader.at += 1;
  if (character === '(') return readGroup(reader);
  if (character === '[') return { kind: 'character', test: readClass(reader) };
  if (character === '.') return { kind: 'character', test: () => true };
  if (character === '\\') return { kind: 'character', test: readEscape(reader) };
  if ('*+?{^$'.includes(character)) throw new PatternError(`has ${character} where it cannot stand`);
  return { kind: 'character', test: (other) => other === character };
}

function readGroup(reader: Reader): Node {
  reader.depth += 1;
  if (reader.depth > groupDepthMax) throw new PatternError(`has more than ${groupDepthMax} groups inside each other`);
  if (reader.characters[reader.at] === '?') {
    if (reader.characters[reader.at + 1] !== ':') throw new PatternError('has a group (?…) of another kind than (?:…)');
    reader.at += 2;
  }
  const node = readAlternatives(reader);
  if (reader.characters[reader.at] !== ')') throw new PatternError('has a ( without its )');
  reader.at += 1;
  reader.depth -= 1;
  return node;
}

const quantifiers: ReadonlyMap<string, readonly [min: number, max: number]> = new Map([
  ['*', [0, Number.POSITIVE_INFINITY]],
  ['+', [1, Number.POSITIVE_INFINITY]],
  ['?', [0, 1]],
]);

function readRepetition(reader: Reader, part: Node): Node {
  const character = reader.characters[reader.at] ?? '';
  const simple = quantifiers.get(character);
  if (simple !== undefined) {
    reader.at += 1;
    return { kind: 'repeat', part, min: simple[0], max: simple[1] };
  }
  if (character !== '{') return part;
  const end = reader.characters.indexOf('}', reader.at);
  const counts = /^(\d{1,4})(,(\d{0,4}))?$/.exec(reader.characters.slice(reader.at + 1, end).join(''));
  if (end < 0 || counts === null) throw new PatternError('has a { that does not begin {n}, {n,} or {n,m}');
  reader.at = end + 1;
  const min = Number(counts[1]);
  const max = counts[2] === undefined ? min : counts[3] === '' ? Number.POSITIVE_INFINITY : Number(counts[3]);
  if (max < min) throw new PatternError('has a repetition {n,m} whose m is less than n');
  return { kind: 'repeat', part, min, max };
}

const classes: Readonly<Record<string, CharacterTest>> = {
  d: (character) => /\d/.test(character),
  D: (character) => /\D/.test(character),
  w: (character) => /\w/.test(character),
  W: (character) => /\W/.test(character),
  s: (character) => /\s/.test(character),
  S: (character) => /\S/.test(character),
};
const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

function readEscape(reader: Reader): CharacterTest {
  const character = reader.characters[reader.at];
  reader.at += 1;
  if (character === undefined) throw new PatternError('ends with \\');
  const named = classes[character];
  if (named !== undefined) return named;
  const literal = controls[character] ?? character;
  if (literal === character && /[A-Za-z0-9]/.test(character)) {
    throw new PatternError(`has \\${character}, which is not understood`);
  }
  return (other) => other === literal;
}

function readClass(reader: Reader): CharacterTest {
  const negated = reader.characters[reader.at] === '^';
  if (negated) reader.at += 1;
  const tests: CharacterTest[] = [];
  for (let first = true; first || reader.characters[reader.at] !== ']'; first = false) {
    tests.push(readClassMember(reader));
  }
  reader.at += 1;
  return (character) => tests.some((test) => test(character)) !== negated;
}

function readClassMember(reader: Reader): CharacterTest {
  const from = reader.characters[reader.at];
  if (from === undefined) throw new PatternError('has a [ without its ]');
  reader.at += 1;
  if (from === '\\') return readEscape(reader);
  const to = reader.characters[reader.at + 1];
  if (reader.characters[reader.at] !== '-' || to === undefined || to === ']') return (other) => other === from;
  reader.at += 2;
  return (other) => other >= from && other <= to;
}

/** Appends the steps of a node; they end with the step after the last of them. */
function emit(steps: Step[], node: Node): void {
  if (steps.length > patternStepsMax) throw new PatternError(`is longer than ${patternStepsMax} steps`);
  if (node.kind === 'character') {
    steps.push(node);
  } else if (node.kind === 'sequence') {
    for (const part of node.parts) emit(steps, part);
  } else if (node.kind === 'alternatives') {
    emitAlternatives(steps, node.parts);
  } else {
    emitRepetition(steps, node);
  }
}

function emitAlternatives(steps: Step[], parts: readonly Node[]): void {
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return emit(steps, only);
  const start = steps.push({ kind: 'split', to: [] }) - 1;
  const begins: number[] = [];
  const ends: number[] = [];
  for (const part of parts) {
    begins.push(steps.length);
    emit(steps, part);
    ends.push(steps.push({ kind: 'split', to: [] }) - 1);
  }
  steps[start] = { kind: 'split', to: begins };
  for (const end of ends) steps[end] = { kind: 'split', to: [steps.length] };
}

function emitRepetition(steps: Step[], { part, min, max }: Extract<Node, { kind: 'repeat' }>): void {
  for (let count = 0; count < min; count += 1) emit(steps, part);
  if (max === Number.POSITIVE_INFINITY) {
    const start = steps.push({ kind: 'split', to: [] }) - 1;
    emit(steps, part);
    steps.push({ kind: 'split', to: [start] });
    steps[start] = { kind: 'split', to: [start + 1, steps.length] };
    return;
  }
  const exits: number[] = [];
  for (let count = min; count < max; count += 1) {
    exits.push(steps.push({ kind: 'split', to: [] }) - 1);
    emit(steps, part);
  }
  for (const exit of exits) steps[exit] = { kind: 'split', to: [exit + 1, steps.length] };
}
