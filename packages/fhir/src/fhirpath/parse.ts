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

/** https://hl7.org/fhir/R4/fhirpath.html#variables; %context is what the whole expression is evaluated on. */
export type Variable = '%rootResource' | '%context' | '%ucum';

export type BinaryOperator =
  | 'implies'
  | 'or'
  | 'xor'
  | 'and'
  | 'in'
  | 'contains'
  | '='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | '|'
  | '+'
  | '&';

interface Cursor {
  readonly expression: string;
  readonly tokens: readonly Token[];
  next: number;
  /** Expressions that are open around the next token. */
  depth: number;
}

/** Expressions inside each other at most: parentheses, criteria. */
const depthMax = 50;

const variables: readonly Variable[] = ['%rootResource', '%context', '%ucum'];

const binaryLevels: readonly (readonly BinaryOperator[])[] = [
  ['implies'],
  ['or', 'xor'],
  ['and'],
  ['in', 'contains'],
  ['=', '!='],
  ['<', '>', '<=', '>='],
  ['|'],
];
const additive: readonly BinaryOperator[] = ['+', '&'];

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
    const operator = operators.find((candidate) => isOperator(peek(cursor), candidate));
    if (operator === undefined) return left;
    cursor.next += 1;
    left = { kind: 'binary', operator, left, right: parseOperand() };
  }
}

function parseTypeOperation(cursor: Cursor): Expression {
  let operand = parseChain(cursor, additive, () => parsePath(cursor));
  for (;;) {
    const operation = (['is', 'as'] as const).find((candidate) => isOperator(peek(cursor), candidate));
    if (operation === undefined) return operand;
    cursor.next += 1;
    operand = { kind: 'type', operation, operand, typeName: typeNameOf(parsePath(cursor), cursor.expression) };
  }
}

function parsePath(cursor: Cursor): Expression {
  let operand = parseTerm(cursor);
  for (;;) {
    if (isOperator(peek(cursor), '.')) {
      cursor.next += 1;
      operand = parseInvocation(cursor, operand);
    } else if (isOperator(peek(cursor), '[')) {
      cursor.next += 1;
      const index = take(cursor, 'number');
      operand = { kind: 'index', operand, index: Number(index.text) };
      expect(cursor, ']');
    } else return operand;
  }
}

function parseTerm(cursor: Cursor): Expression {
  const token = peek(cursor);
  if (token.kind === 'string') {
    cursor.next += 1;
    return { kind: 'literal', value: token.text };
  }
  if (token.kind === 'number') {
    cursor.next += 1;
    return { kind: 'literal', value: Number(token.text) };
  }
  if (isOperator(token, '(')) {
    cursor.next += 1;
    const inner = parseBinary(cursor, 0);
    expect(cursor, ')');
    return inner;
  }
  if (token.text === 'true' || token.text === 'false') {
    cursor.next += 1;
    return { kind: 'literal', value: token.text === 'true' };
  }
  if (token.text === '$this' || token.text === '%resource') {
    cursor.next += 1;
    return { kind: token.text === '$this' ? 'this' : 'resource' };
  }
  const variable = variables.find((name) => isOperator(token, name));
  if (variable !== undefined) {
    cursor.next += 1;
    return { kind: 'variable', name: variable };
  }
  return parseInvocation(cursor, undefined);
}

function parseInvocation(cursor: Cursor, operand: Expression | undefined): Expression {
  const { text: name } = take(cursor, peek(cursor).kind === 'delimited' ? 'delimited' : 'name');
  if (/^[$%]/.test(name)) throw new FhirPathError(`Unsupported variable ${name}`, cursor.expression);
  if (!isOperator(peek(cursor), '(')) return { kind: 'member', operand, name };
  cursor.next += 1;
  const args: Expression[] = [];
  while (!isOperator(peek(cursor), ')')) {
    args.push(parseBinary(cursor, 0));
    if (isOperator(peek(cursor), ',')) cursor.next += 1;
    else break;
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
  if (!isOperator(peek(cursor), symbol)) throw unexpected(cursor);
  cursor.next += 1;
}

function isOperator(token: Token, text: string): boolean {
  return token.text === text && (token.kind === 'symbol' || token.kind === 'name');
}

function unexpected(cursor: Cursor): FhirPathError {
  const token = peek(cursor);
  const what = token.kind === 'end' ? 'end' : `"${token.text}"`;
  return new FhirPathError(`Unexpected ${what} at offset ${token.at}`, cursor.expression);
}
