// Compiles the criteria of where() and other expressions whose value is a boolean.
// http://hl7.org/fhirpath/N1/#boolean-logic and #equality

import { findTypeDefinition, isSubtypeOf } from '../definitions.ts';
import { formatDecimal, isRawDecimal, type JsonValue } from '../json.ts';
import { FhirPathError } from './fhirpath-error.ts';
import { type Compilation, collectFound, type Focus, type Predicate, type Run } from './focus.ts';
import type { BinaryOperator, Expression, Node } from './parse.ts';
import { countReferenceSteps, findReferencedType } from './referenced-type.ts';

export interface CompiledPredicate {
  readonly test: Predicate;
  readonly usesSibling: boolean;
}

const booleanOperators: ReadonlySet<BinaryOperator> = new Set(['or', 'and', '=', '!=']);
const booleanFunctions = ['exists', 'empty', 'not', 'hasValue'];

/** Whether the value of an expression is a boolean that has to be computed. */
export function isBoolean(expression: Expression): boolean {
  if (expression.kind === 'binary') return booleanOperators.has(expression.operator);
  if (expression.kind === 'type') return expression.operation === 'is';
  return expression.kind === 'call' && booleanFunctions.includes(expression.name);
}

/** The type name of criteria of the form `resolve() is Patient`; undefined for other criteria. */
export function parseReferenceTypeTest(criteria: Expression): string | undefined {
  return criteria.kind === 'type' && criteria.operation === 'is' && isResolve(criteria.operand)
    ? criteria.typeName
    : undefined;
}

/** Compiles criteria for values of a focus. */
export function compilePredicate(criteria: Expression, input: Focus, compilation: Compilation): CompiledPredicate {
  if (criteria.kind === 'literal') return { test: () => criteria.value !== false, usesSibling: false };
  if (isBoolean(criteria)) {
    if (criteria.kind === 'type') return compileTypeTest(criteria, input, compilation);
    if (criteria.kind === 'call') return compileBooleanFunction(criteria, input, compilation);
    if (criteria.kind === 'binary')
      return criteria.operator === 'and' || criteria.operator === 'or'
        ? compileLogic(criteria, input, compilation)
        : compileEquality(criteria, input, compilation);
  }
  return compileSingleton(criteria, input, compilation);
}

function compileLogic(criteria: Node<'binary'>, input: Focus, compilation: Compilation): CompiledPredicate {
  const a = compilePredicate(criteria.left, input, compilation);
  const b = compilePredicate(criteria.right, input, compilation);
  // The result that one operand alone decides.
  const decisive = criteria.operator === 'or';
  const test: Predicate = (value, path, run, sibling) => {
    run.meter.spend(1);
    const first = a.test(value, path, run, sibling);
    if (first === decisive) return decisive;
    const second = b.test(value, path, run, sibling);
    if (second === decisive) return decisive;
    return first === undefined || second === undefined ? undefined : !decisive;
  };
  return { test, usesSibling: a.usesSibling || b.usesSibling };
}

function compileEquality(criteria: Node<'binary'>, input: Focus, compilation: Compilation): CompiledPredicate {
  const a = compileOperand(criteria.left, input, compilation);
  const b = compileOperand(criteria.right, input, compilation);
  const test: Predicate = (value, path, run) => {
    run.meter.spend(1);
    const first = a(value, path, run);
    const second = b(value, path, run);
    if (first.length === 0 || second.length === 0) return undefined;
    const equal = first.length === second.length && first.every((item, index) => item === second[index]);
    return equal === (criteria.operator === '=');
  };
  return { test, usesSibling: false };
}

type Operand = (value: JsonValue, path: string, run: Run) => readonly (string | number | boolean)[];

/** The primitive values of one side of an equation. */
function compileOperand(expression: Expression, input: Focus, compilation: Compilation): Operand {
  if (expression.kind === 'literal') {
    const values = [expression.value];
    return () => values;
  }
  const collect = compileCollection(expression, input, compilation, false, (focus) => {
    if (focus.primitive) return;
    throw new FhirPathError(`Values of type ${focus.typeName} cannot be compared`, compilation.expression);
  });
  return (value, path, run) => collect.values(value, path, run, undefined).flatMap(comparable);
}

function comparable(value: JsonValue): readonly (string | number | boolean)[] {
  if (isRawDecimal(value)) return [Number(formatDecimal(value))];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [value] : [];
}

function compileBooleanFunction(call: Node<'call'>, input: Focus, compilation: Compilation): CompiledPredicate {
  const [argument, ...others] = call.arguments;
  if (others.length > 0 || (argument !== undefined && call.name !== 'exists')) {
    throw new FhirPathError(`Unexpected arguments of ${call.name}()`, compilation.expression);
  }
  if (call.name === 'not') {
    const { test, usesSibling } = compilePredicate(call.operand, input, compilation);
    const negated: Predicate = (value, path, run, sibling) => {
      const result = test(value, path, run, sibling);
      return result === undefined ? undefined : !result;
    };
    return { test: negated, usesSibling };
  }
  const operand: Expression =
    argument === undefined
      ? call.operand
      : { kind: 'call', operand: call.operand, name: 'where', arguments: [argument] };
  // An element without value but with extensions exists and has no value.
  const withSiblings = call.name !== 'hasValue';
  const collect = compileCollection(operand, input, compilation, withSiblings);
  const expected = call.name !== 'empty';
  const test: Predicate = (value, path, run, sibling) =>
    collect.values(value, path, run, sibling).length > 0 === expected;
  return { test, usesSibling: collect.usesSibling };
}

function compileTypeTest(criteria: Node<'type'>, input: Focus, compilation: Compilation): CompiledPredicate {
  const { operand, typeName } = criteria;
  if (findTypeDefinition(typeName) === undefined) {
    throw new FhirPathError(`Unknown type ${typeName}`, compilation.expression);
  }
  if (isResolve(operand)) return compileReferenceTypeTest(operand.operand, typeName, input, compilation);
  const collect = compileCollection(operand, input, compilation, false);
  const test: Predicate = (value, path, run, sibling) => {
    const types = collect.types(value, path, run, sibling);
    return types.length === 1 ? types.every((type) => isSubtypeOf(type, typeName)) : undefined;
  };
  return { test, usesSibling: collect.usesSibling };
}

function compileReferenceTypeTest(reference: Expression, typeName: string, input: Focus, compilation: Compilation) {
  const collect = compileCollection(reference, input, compilation, false, (focus) => {
    if (focus.typeName === 'Reference' || isSubtypeOf(focus.typeName, 'uri')) return;
    throw new FhirPathError(`resolve() needs a reference, not ${focus.typeName}`, compilation.expression);
  });
  const test: Predicate = (value, path, run, sibling) => {
    const [found] = collect.values(value, path, run, sibling);
    if (found === undefined) return false;
    run.meter.spend(countReferenceSteps(found, run.root));
    const type = findReferencedType(found, run.root);
    return type !== undefined && isSubtypeOf(type, typeName);
  };
  return { test, usesSibling: false };
}

// http://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections. Several items are an error there; here they decide
// nothing, since data must not make a write fail.
function compileSingleton(expression: Expression, input: Focus, compilation: Compilation): CompiledPredicate {
  const collect = compileCollection(expression, input, compilation, false);
  const test: Predicate = (value, path, run, sibling) => {
    const values = collect.values(value, path, run, sibling);
    return values.length === 1 ? values[0] !== false : undefined;
  };
  return { test, usesSibling: collect.usesSibling };
}

interface Collection {
  readonly values: (...focus: Parameters<Predicate>) => readonly JsonValue[];
  readonly types: (...focus: Parameters<Predicate>) => readonly string[];
  readonly usesSibling: boolean;
}

/** Compiles an expression whose values are looked at here and go no further. */
function compileCollection(
  expression: Expression,
  input: Focus,
  compilation: Compilation,
  withSiblings: boolean,
  check?: (focus: Focus) => void,
): Collection {
  const step = compilation.compile(expression, input, (focus) => {
    check?.(focus);
    return { visit: collectFound(compilation, focus), usesSibling: withSiblings && focus.primitive };
  });
  const collect: (...input: Parameters<Predicate>) => Run['found'] = (value, path, run, sibling) => {
    const inner: Run = { root: run.root, found: [], held: [], meter: run.meter };
    step?.visit(value, path, inner, sibling);
    return inner.found;
  };
  return {
    values: (...focus) => collect(...focus).map((found) => found.value),
    types: (...focus) => collect(...focus).map((found) => found.type),
    usesSibling: step?.usesSibling ?? false,
  };
}

function isResolve(expression: Expression): expression is Node<'call'> {
  return expression.kind === 'call' && expression.name === 'resolve' && expression.arguments.length === 0;
}
