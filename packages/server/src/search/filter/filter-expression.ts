/**
 * The text of a `_filter` as a tree: https://hl7.org/fhir/R4/search_filter.html. `and` and `or` are read from left to
 * right, without precedence; `not` stands before parentheses.
 */
import { refuseValue } from '../query/search-values.ts';

export type FilterExpression =
  | { readonly kind: 'and' | 'or'; readonly left: FilterExpression; readonly right: FilterExpression }
  | { readonly kind: 'not'; readonly inner: FilterExpression }
  | FilterComparison;

export interface FilterComparison {
  readonly kind: 'comparison';
  /** From the searched type on; each step but the last is a reference that is followed. */
  readonly path: readonly FilterStep[];
  readonly operator: string;
  readonly value: string;
  /** Whether the value stood in quotes, so that all its characters are literal. */
  readonly quoted: boolean;
}

export interface FilterStep {
  readonly code: string;
  /** What the resource that the step leads to has to meet, beside the rest of the path. */
  readonly where: FilterExpression | undefined;
}

/** Comparisons of one filter, at most. */
export const comparisonsMax = 50;

/** Parentheses and brackets inside each other, at most. */
const depthMax = 20;

const tokenPattern = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|(\.)|([^\s()[\]"]+))/y;

interface Token {
  readonly text: string;
  readonly kind: 'mark' | 'quoted' | 'word';
}

/**
 * The tree of the text.
 * @throws PraxisError `search-invalid` for what is no filter, and for one that is too long or too deep
 */
export function parseFilterExpression(text: string): FilterExpression {
  const reader = new TokenReader(tokensOf(text));
  const expression = readLogical(reader, 0);
  if (reader.peek() !== undefined) refuseFilter('has something after its end: parentheses and and/or join comparisons');
  return expression;
}

/** @throws PraxisError `search-invalid` */
export function refuseFilter(problem: string): never {
  return refuseValue('_filter', problem);
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const trimmed = text.trimEnd();
  for (let at = 0; at < trimmed.length; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at;
    const match = tokenPattern.exec(trimmed);
    if (match === null) return refuseFilter('has a quote without its end');
    const [, mark, quoted, dot, word] = match;
    if (quoted !== undefined) tokens.push({ text: quoted, kind: 'quoted' });
    else if (word !== undefined) tokens.push({ text: word, kind: 'word' });
    else tokens.push({ text: mark ?? dot ?? '', kind: 'mark' });
  }
  return tokens;
}

class TokenReader {
  readonly #tokens: readonly Token[];
  #at = 0;
  comparisons = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  next(): Token | undefined {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  /** Whether the next token is the mark or word, which is then taken. */
  take(text: string): boolean {
    const token = this.peek();
    if (token === undefined || token.kind === 'quoted' || token.text !== text) return false;
    this.#at += 1;
    return true;
  }
}

function readLogical(reader: TokenReader, depth: number): FilterExpression {
  if (depth > depthMax) refuseFilter(`has more than ${depthMax} parentheses inside each other`);
  let left = readTerm(reader, depth);
  for (;;) {
    if (reader.take('and')) left = { kind: 'and', left, right: readTerm(reader, depth) };
    else if (reader.take('or')) left = { kind: 'or', left, right: readTerm(reader, depth) };
    else return left;
  }
}

function readTerm(reader: TokenReader, depth: number): FilterExpression {
  if (reader.take('not')) {
    if (!reader.take('(')) refuseFilter('needs parentheses after not');
    return { kind: 'not', inner: readInside(reader, ')', depth) };
  }
  return reader.take('(') ? readInside(reader, ')', depth) : readComparison(reader, depth);
}

function readInside(reader: TokenReader, end: ')' | ']', depth: number): FilterExpression {
  const inner = readLogical(reader, depth + 1);
  if (!reader.take(end)) refuseFilter(`lacks a ${end}`);
  return inner;
}

function readComparison(reader: TokenReader, depth: number): FilterComparison {
  reader.comparisons += 1;
  if (reader.comparisons > comparisonsMax) refuseFilter(`has more than ${comparisonsMax} comparisons`);
  const path = readPath(reader, depth);
  const operator = reader.next();
  const value = reader.next();
  if (operator?.kind !== 'word' || value === undefined || value.kind === 'mark') {
    return refuseFilter('takes comparisons of three parts: parameter, operator and value, as in given eq "peter"');
  }
  const quoted = value.kind === 'quoted';
  return {
    kind: 'comparison',
    path,
    operator: operator.text,
    value: quoted ? unquoted(value.text) : value.text,
    quoted,
  };
}

/** `patient.name`, `patient[gender eq female].name`: words hold dots, since only brackets part them from each other. */
function readPath(reader: TokenReader, depth: number): readonly FilterStep[] {
  const steps: FilterStep[] = [];
  for (;;) {
    const word = reader.next();
    const codes = word?.kind === 'word' ? word.text.split('.') : [];
    if (codes.length === 0 || codes.some((code) => !/^[A-Za-z_][\w:-]*$/.test(code)))
      return refuseFilter('needs the name of a search parameter at the beginning of each comparison');
    steps.push(...codes.map((code) => ({ code, where: undefined })));
    if (!reader.take('[')) return steps;
    const last = steps.pop();
    steps.push({ code: last?.code ?? '', where: readInside(reader, ']', depth) });
    if (!reader.take('.')) return refuseFilter('needs a dot and a parameter after a bracket');
  }
}

/** A quoted value is written as in JSON. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return refuseFilter('has a quoted value that is not written as a JSON string');
  }
}
