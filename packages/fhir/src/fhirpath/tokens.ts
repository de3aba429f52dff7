// Splits a FHIRPath expression into tokens. http://hl7.org/fhirpath/N1/#lexical-elements
import { FhirPathError } from './fhirpath-error.ts';

const kinds = ['name', 'delimited', 'string', 'number', 'symbol'] as const;

export interface Token {
  readonly kind: (typeof kinds)[number] | 'end';
  /** Of a string or a delimited name: its value without quotes and escapes. */
  readonly text: string;
  /** Offset of the first character in the expression. */
  readonly at: number;
}

// One alternative per kind; a delimited identifier (`div`) is a name that is never an operator.
const tokenPattern =
  /\s+|(?<name>[A-Za-z_][A-Za-z0-9_]*|[$%][A-Za-z]+)|'(?<string>(?:[^'\\]|\\.)*)'|`(?<delimited>(?:[^`\\]|\\.)*)`|(?<number>\d+(?:\.\d+)?)|(?<symbol>!=|<=|>=|[.()[\]|,=<>+&])/uy;

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' };

/** The tokens of an expression, the last one of kind 'end'. Throws FhirPathError. */
export function tokenize(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < expression.length) {
    const at = tokenPattern.lastIndex;
    const groups = tokenPattern.exec(expression)?.groups;
    if (groups === undefined) throw new FhirPathError(`Unsupported character at offset ${at}`, expression);
    const kind = kinds.find((name) => groups[name] !== undefined);
    if (kind === undefined) continue; // white space
    const text = groups[kind] ?? '';
    tokens.push({ kind, text: kind === 'delimited' || kind === 'string' ? unescaped(text) : text, at });
  }
  tokens.push({ kind: 'end', text: '', at: expression.length });
  return tokens;
}

function unescaped(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|.)/g, (_, code: string) =>
    code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );
}
