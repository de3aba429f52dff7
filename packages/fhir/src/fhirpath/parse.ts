// Parses the part of FHIRPath that R4's search parameters and invariants need; who compiles an expression takes what it can
// compute (compile.ts, ../invariants/compile.ts). http://hl7.org/fhirpath/N1/#expressions
// By rising strength: implies · or xor · and · in contains · = != · < > <= >= · | · is as · + & · path with members, calls, indexers.
import { FhirPathError } from './fhirpath-error.ts';
import { type Token, tokenize } from './tokens.ts';

export type Expression =
  | { readonly kind: 'this' }
  /** %resource: the resource that holds the focus. */
  | { readonly kind: 'resource' }
  | { readonly kind: 'variable'; readonly name: Variable }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  /** Without operand: a member of the focus, or the name of the type that the focus has to be. */
  | { readonly kind: 'member'; readonly operand: Expression | undefined; readonly name: string }
  | { readonly kind: 'index'; readonly operand: Expression; readonly index: number }
  | {
      readonly kind: 'call';
      readonly operand: Expression;
      readonly name: string;
      readonly arguments: readonly Expression[];
    }
  | {
      readonly kind: 'type';
      readonly operation: 'is' | 'as';
      readonly operand: Expression;
      readonly typeName: string;
    }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    };

/** An expression of one kind. */
export type Node<Kind extends Expression['kind']> = Extract<Expression, { readonly kind: Kind }>;

/** https://hl7.org/fhir/R4/fhirpath.html#variables; %context is what the whole expression is evaluated on. */
const variables = ['%rootResource', '%context', '%ucum'] as const;
export type Variable = (typeof variables)[number];

const binaryLevels = [
  ['implies'],
  ['or', 'xor'],
  ['and'],
  ['in', 'contains'],
  ['=', '!='],
  ['<', '>', '<=', '>='],
  ['|'],
] as const;
const additive = ['+', '&'] as const;
export type BinaryOperator = (typeof binaryLevels)[number][number] | (typeof additive)[number];

interface Cursor {
  readonly expression: string;
  readonly tokens: readonly Token[];
  next: number;
  /** Expressions that are open around the next token. */
  depth: number;
}

/** Expressions inside each other at most: parentheses, criteria. */
const depthMax = 50;

/** Terms of one token. */
const terms: Readonly<Record<string, Expression>> = {
  true: { kind: 'literal', value: true },
  false: { kind: 'literal', value: false },
  $this: { kind: 'this' },
  '%resource': { kind: 'resource' },
};

/** The syntax tree of an expression. Throws FhirPathError when the expression is malformed or uses other syntax. */
export function parseFhirPath(expression: string): Expression {
  const cursor: Cursor = { expression, tokens: tokenize(expression), next: 0, depth: 0 };
  const tree = parseBinary(cursor, 0);
  if (peek(cursor).kind !== 'end') throw unexpected(cursor);
  return tree;
}

function parseBinary(cursor: Cursor, level: number): Expression {
  if (level > 0) return parseOperators(cursor, level);
  cursor.depth += 1;
  if (cursor.depth > depthMax)
    throw new FhirPathError(`More than ${depthMax} expressions inside each other`, cursor.expression);
  const tree = parseOperators(cursor, level);
  cursor.depth -= 1;
  return tree;
}

function parseOperators(cursor: Cursor, level: number): Expression {
  const operators = binaryLevels[level];
  if (operators === undefined) return parseTypeOperation(cursor);
  return parseChain(cursor, operators, () => parseBinary(cursor, level + 1));
}

/** Operands of one level, from left to right. */
function parseChain(cursor: Cursor, operators: readonly BinaryOperator[], parseOperand: () => Expression): Expression {
  let left = parseOperand();
  for (;;) {
    const operator = operators.find((candidate) => accept(cursor, candidate));
    if (operator === undefined) return left;
    left = { kind: 'binary', operator, left, right: parseOperand() };
  }
}

function parseTypeOperation(cursor: Cursor): Expression {
  let operand = parseChain(cursor, additive, () => parsePath(cursor));
  for (;;) {
    const operation = (['is', 'as'] as const).find((candidate) => accept(cursor, candidate));
    if (operation === undefined) return operand;
    operand = { kind: 'type', operation, operand, typeName: typeNameOf(parsePath(cursor), cursor.expression) };
  }
}

function parsePath(cursor: Cursor): Expression {
  let operand = parseTerm(cursor);
  for (;;) {
    if (accept(cursor, '.')) operand = parseInvocation(cursor, operand);
    else if (accept(cursor, '[')) {
      operand = { kind: 'index', operand, index: Number(take(cursor, 'number').text) };
      expect(cursor, ']');
    } else return operand;
  }
}

function parseTerm(cursor: Cursor): Expression {
  const token = peek(cursor);
  if (token.kind === 'string' || token.kind === 'number') {
    cursor.next += 1;
    return { kind: 'literal', value: token.kind === 'string' ? token.text : Number(token.text) };
  }
  if (accept(cursor, '(')) {
    const inner = parseBinary(cursor, 0);
    expect(cursor, ')');
    return inner;
  }
  const term = Object.hasOwn(terms, token.text) ? terms[token.text] : undefined;
  if (term !== undefined) {
    cursor.next += 1;
    return term;
  }
  const variable = variables.find((name) => accept(cursor, name));
  return variable === undefined ? parseInvocation(cursor, undefined) : { kind: 'variable', name: variable };
}

function parseInvocation(cursor: Cursor, operand: Expression | undefined): Expression {
  const { text: name } = take(cursor, peek(cursor).kind === 'delimited' ? 'delimited' : 'name');
  if (/^[$%]/.test(name)) throw new FhirPathError(`Unsupported variable ${name}`, cursor.expression);
  if (!accept(cursor, '(')) return { kind: 'member', operand, name };
  const args: Expression[] = [];
  while (!isOperator(peek(cursor), ')')) {
    args.push(parseBinary(cursor, 0));
    if (!accept(cursor, ',')) break;
  }
  expect(cursor, ')');
  const focus: Expression = operand ?? { kind: 'this' };
  const [type] = args;
  if ((name === 'as' || name === 'is' || name === 'ofType') && args.length === 1 && type !== undefined) {
    const operation = name === 'is' ? 'is' : 'as';
    return { kind: 'type', operation, operand: focus, typeName: typeNameOf(type, cursor.expression) };
  }
  return { kind: 'call', operand: focus, name, arguments: args };
}

/** 'Quantity' or 'FHIR.Quantity'. */
function typeNameOf(tree: Expression, expression: string): string {
  if (tree.kind === 'member' && tree.operand === undefined) return tree.name;
  if (tree.kind === 'member' && tree.operand?.kind === 'member' && tree.operand.operand === undefined) {
    if (tree.operand.name === 'FHIR') return tree.name;
  }
  throw new FhirPathError('A type name is expected after is, as and ofType', expression);
}

function peek(cursor: Cursor): Token {
  const token = cursor.tokens[cursor.next];
  if (token === undefined) throw new FhirPathError('Unexpected end', cursor.expression);
  return token;
}

function take(cursor: Cursor, kind: Token['kind']): Token {
  const token = peek(cursor);
  if (token.kind !== kind) throw unexpected(cursor);
  cursor.next += 1;
  return token;
}

function expect(cursor: Cursor, symbol: string): void {
  if (!accept(cursor, symbol)) throw unexpected(cursor);
}

/** Moves behind an operator, if that is next. Returns whether it was. */
function accept(cursor: Cursor, operator: string): boolean {
  const isNext = isOperator(peek(cursor), operator);
  if (isNext) cursor.next += 1;
  return isNext;
}

function isOperator(token: Token, text: string): boolean {
  return token.text === text && (token.kind === 'symbol' || token.kind === 'name');
}

function unexpected(cursor: Cursor): FhirPathError {
  const token = peek(cursor);
  const what = token.kind === 'end' ? 'end' : `"${token.text}"`;
  return new FhirPathError(`Unexpected ${what} at offset ${token.at}`, cursor.expression);
}
