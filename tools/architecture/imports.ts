/** The imports of a TypeScript file, type imports included. https://tc39.es/ecma262/#sec-modules */
import { type Token, tokensOf } from './tokens.ts';

export interface Import {
  /** Undefined for an `import()` of something that is not a literal. */
  readonly specifier: string | undefined;
  readonly line: number;
  /** Names as the imported file exports them; `*` for all of them. */
  readonly names: readonly string[];
  /** The names are exported again. */
  readonly isReexport: boolean;
  /** Written `import type` or `export type`. */
  readonly isType: boolean;
}

/** Every import, re-export and `import()` of a file. Throws TokenError. */
export function importsOf(source: string): Import[] {
  const tokens = tokensOf(source);
  const imports: Import[] = [];
  tokens.forEach((token, index) => {
    if (token.kind !== 'word' || isProperty(tokens, index)) return;
    if (token.text === 'import') imports.push(...readImport(tokens, index));
    if (token.text === 'export') imports.push(...readReexport(tokens, index));
  });
  return imports;
}

/** The names that a file exports by `export { … }` without `from`, which may have been imported before. */
export function exportedNamesOf(source: string): string[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, index) => {
    if (token.text !== 'export' || token.kind !== 'word' || tokens[index + 1]?.text !== '{') return [];
    const { names, end } = readClause(tokens, index + 1);
    return tokens[end]?.text === 'from' ? [] : names;
  });
}

function isProperty(tokens: readonly Token[], index: number): boolean {
  return tokens[index - 1]?.text === '.' || tokens[index + 1]?.text === ':';
}

function readImport(tokens: readonly Token[], index: number): Import[] {
  const line = tokens[index]?.line ?? 0;
  const next = tokens[index + 1];
  if (next === undefined || next.text === '.') return []; // import.meta
  if (next.kind === 'string') {
    return [{ specifier: next.text, line, names: [], isReexport: false, isType: false }];
  }
  if (next.text === '(') {
    const argument = tokens[index + 2];
    const specifier = argument?.kind === 'string' || argument?.kind === 'template' ? argument.text : undefined;
    return [{ specifier, line, names: ['*'], isReexport: false, isType: false }];
  }
  return readFrom(tokens, index, false);
}

function readReexport(tokens: readonly Token[], index: number): Import[] {
  const next = tokens[index + 1]?.text === 'type' ? tokens[index + 2] : tokens[index + 1];
  if (next?.text !== '{' && next?.text !== '*') return [];
  return readFrom(tokens, index, true);
}

function readFrom(tokens: readonly Token[], index: number, isReexport: boolean): Import[] {
  const isType = tokens[index + 1]?.text === 'type' && !['from', ','].includes(tokens[index + 2]?.text ?? '');
  const { names, end } = readClause(tokens, index + (isType ? 2 : 1));
  const specifier = tokens[end + 1];
  if (tokens[end]?.text !== 'from' || specifier?.kind !== 'string') return []; // export { … } without from
  return [{ specifier: specifier.text, line: tokens[index]?.line ?? 0, names, isReexport, isType }];
}

/** Reads `a, { b as c, type D }` or `* as n` and returns the index of what follows it. */
function readClause(tokens: readonly Token[], start: number): { names: string[]; end: number } {
  const names: string[] = [];
  let end = start;
  let isInBraces = false;
  for (; end < tokens.length; end += 1) {
    const { text, kind } = tokens[end] ?? { text: '', kind: 'mark' };
    if (text === '{') isInBraces = true;
    else if (text === '}') isInBraces = false;
    else if (text === 'as') end += 1;
    else if (text === '*') names.push('*');
    else if (text === ',' || isModifier(tokens, end, isInBraces)) continue;
    else if (isInBraces) names.push(text);
    else if (kind === 'word' && text !== 'from') names.push('default');
    else break;
  }
  return { names, end };
}

/** `type` before a name in braces; a name of its own before `,`, `}` or `as`. */
function isModifier(tokens: readonly Token[], index: number, isInBraces: boolean): boolean {
  const next = tokens[index + 1]?.text ?? '';
  return isInBraces && tokens[index]?.text === 'type' && ![',', '}', 'as'].includes(next);
}
