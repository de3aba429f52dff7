/**
 * Splits TypeScript into tokens, as far as finding imports needs it: comments, strings, templates and regular
 * expressions must not be mistaken for code. https://tc39.es/ecma262/#sec-ecmascript-language-lexical-grammar
 */

export interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'mark';
  /** A word or mark as written; a string without its quotes; a template without substitutions likewise. */
  readonly text: string;
  readonly line: number;
}

/** The source cannot be read: a string or comment has no end, or `/` was misread. */
export class TokenError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

const blank = /\s+/y;
const lineComment = /\/\/[^\n]*/y;
const blockComment = /\/\*[\s\S]*?\*\//y;
const word = /[\p{ID_Start}$_#\d][\p{ID_Continue}$\u200c\u200d]*/uy;
const string = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const regularExpression = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+\/[a-z]*/y;
const templatePart = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;

/** Words after which `/` begins a regular expression and not a division. */
const beforeExpression = new Set(
  'await case delete do else extends in instanceof new of return throw typeof void yield'.split(' '),
);

/** All tokens of a source in order. Throws TokenError. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  const reader = { source, at: 0, line: 1 };
  readUntil(reader, tokens, undefined);
  return tokens;
}

interface Reader {
  readonly source: string;
  at: number;
  line: number;
}

/** Reads until the closing brace of a template substitution, or to the end. */
function readUntil(reader: Reader, tokens: Token[], close: '}' | undefined): void {
  for (let depth = 0; reader.at < reader.source.length; ) {
    if (take(reader, blank) || take(reader, lineComment) || take(reader, blockComment)) continue;
    const next = reader.source.charAt(reader.at);
    if (next === '}' && depth === 0 && close === '}') return;
    if (next === '{') depth += 1;
    if (next === '}') depth -= 1;
    if (next === '`') readTemplate(reader, tokens);
    else tokens.push(readToken(reader, next, tokens.at(-1)));
  }
  if (close) throw new TokenError('a template has no end', reader.line);
}

function readToken(reader: Reader, next: string, previous: Token | undefined): Token {
  const line = reader.line;
  const text = take(reader, word);
  if (text) return { kind: 'word', text, line };
  if (next === "'" || next === '"') {
    const quoted = take(reader, string);
    if (!quoted) throw new TokenError('a string has no end', line);
    return { kind: 'string', text: quoted.slice(1, -1), line };
  }
  if (next === '/' && isExpressionExpected(previous) && take(reader, regularExpression)) {
    return { kind: 'mark', text: '/regular expression/', line };
  }
  if (reader.source.startsWith('/*', reader.at)) throw new TokenError('a comment has no end', line);
  reader.at += 1;
  return { kind: 'mark', text: next, line };
}

function readTemplate(reader: Reader, tokens: Token[]): void {
  const line = reader.line;
  let hasSubstitution = false;
  let text = '';
  reader.at += 1;
  while (true) {
    text += take(reader, templatePart);
    if (reader.at >= reader.source.length) throw new TokenError('a template has no end', line);
    if (reader.source[reader.at] === '`') break;
    hasSubstitution = true;
    reader.at += '${'.length;
    readUntil(reader, tokens, '}');
    reader.at += 1;
  }
  reader.at += 1;
  // The mark keeps a template with substitutions from being read as a name.
  tokens.push(hasSubstitution ? { kind: 'mark', text: '`', line } : { kind: 'template', text, line });
}

function isExpressionExpected(previous: Token | undefined): boolean {
  if (previous === undefined) return true;
  if (previous.kind === 'word') return beforeExpression.has(previous.text);
  return previous.kind === 'mark' && ![')', ']', '`', '/regular expression/'].includes(previous.text);
}

function take(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at;
  const text = pattern.exec(reader.source)?.[0] ?? '';
  reader.at += text.length;
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) reader.line += 1;
  return text;
}
