/**
 * How much a regular expression of RE2 can become before it is compiled: repetitions `{n}` inside each other multiply.
 * https://github.com/google/re2/wiki/Syntax
 */

/** Parts that a property of characters (`\p{Greek}`) counts as: it is a table of hundreds of ranges. */
const partsOfProperty = 20;

const repetition = /^\{(\d+)(?:,(\d*))?\}/;
const property = /^\\[pP](?:\{[^}]*\}|[\s\S])/;
const codePoint = /^\\x\{[^}]*\}/;
/** More than any budget allows: beyond it counting makes no difference. */
const sizeMax = 1e9;
/** Longest text that one of the above can be. */
const tokenMax = 64;

/** Parts of a sequence, and of the last atom of it, which a repetition repeats. */
interface Sequence {
  size: number;
  ofAtom: number;
}

/**
 * Parts of the pattern (characters, members of classes, groups, choices), each as often as repetitions make it: at least half
 * of the steps that RE2 compiles it to. Of a pattern that is malformed, any number.
 */
export function measurePattern(pattern: string): number {
  const open: Sequence[] = [];
  let now: Sequence = { size: 1, ofAtom: 0 };
  const add = (size: number): void => {
    now.size += size;
    now.ofAtom = size;
  };
  const close = (): void => {
    const { size } = now;
    now = open.pop() ?? now;
    add(size);
  };
  for (let at = 0; at < pattern.length; ) {
    const { length, kind, size } = tokenAt(pattern, at);
    at += length;
    if (kind === 'atom') add(size);
    else if (kind === 'repetition') repeat(now, size);
    else if (kind === 'open') {
      open.push(now);
      now = { size: 2, ofAtom: 0 };
    } else if (open.length > 0) close();
  }
  while (open.length > 0) close();
  return now.size;
}

function repeat(now: Sequence, times: number): void {
  const repeated = Math.min((now.ofAtom + 1) * times, sizeMax);
  now.size += repeated - now.ofAtom;
  now.ofAtom = repeated;
}

interface Token {
  readonly kind: 'atom' | 'repetition' | 'open' | 'close';
  /** Characters. */
  readonly length: number;
  /** Of an atom its parts, of a repetition how often. */
  readonly size: number;
}

function tokenAt(pattern: string, at: number): Token {
  const character = pattern[at];
  if (character === '(') return { kind: 'open', length: 1, size: 0 };
  if (character === ')') return { kind: 'close', length: 1, size: 0 };
  if (character === '[') return classAt(pattern, at);
  if (character === '\\') return escapeAt(pattern, at);
  if (character === '*' || character === '+' || character === '?') return { kind: 'repetition', length: 1, size: 1 };
  const counted = character === '{' ? repetition.exec(pattern.slice(at, at + tokenMax)) : null;
  if (counted === null) return { kind: 'atom', length: 1, size: 1 };
  const [text, min, max] = counted;
  return { kind: 'repetition', length: text.length, size: Math.max(1, Number(min), Number(max ?? 0)) };
}

function escapeAt(pattern: string, at: number): Token {
  const rest = pattern.slice(at, at + tokenMax);
  const ofProperty = property.exec(rest);
  if (ofProperty !== null) return { kind: 'atom', length: ofProperty[0].length, size: partsOfProperty };
  return { kind: 'atom', length: codePoint.exec(rest)?.[0].length ?? 2, size: 1 };
}

/** `[…]`, in which a first `]`, `\]` and `[:alpha:]` do not end it. */
function classAt(pattern: string, from: number): Token {
  let size = 1;
  let at = from + 1;
  if (pattern[at] === '^') at += 1;
  if (pattern[at] === ']') at += 1;
  while (at < pattern.length && pattern[at] !== ']') {
    const named = pattern.startsWith('[:', at) ? pattern.indexOf(':]', at + 2) : -1;
    const member = pattern[at] === '\\' ? escapeAt(pattern, at) : { length: 1, size: 1 };
    size += named < 0 ? member.size : partsOfProperty;
    at = named < 0 ? at + member.length : named + 2;
  }
  return { kind: 'atom', length: at + 1 - from, size };
}
