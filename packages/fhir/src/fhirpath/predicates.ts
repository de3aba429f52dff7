// Compiles the criteria of where() and other expressions whose value is a boolean.
// http://hl7.org/fhirpath/N1/#boolean-logic and #equality

import { findTypeDefinition, isSubtypeOf } from '../definitions.ts';
import { formatDecimal, isRawDecimal, type JsonValue } from '../json.ts';
import { FhirPathError } from './fhirpath-error.ts';
import {
  type Compilation,
  type Focus,
  type Predicate,
  type Run,
  resolveRuntimeType,
  type Step,
  touch,
} from './focus.ts';
import type { BinaryOperator, Expression } from './parse.ts';
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
  switch (criteria.kind) {
    case 'binary':
      if (criteria.operator === 'and' || criteria.operator === 'or') {
        return compileLogic(criteria.operator, criteria.left, criteria.right, input, compilation);
      }
      if (criteria.operator === '=' || criteria.operator === '!=') {
        return compileEquality(criteria.operator, criteria.left, criteria.right, input, compilation);
      }
      return compileSingleton(criteria, input, compilation);
    case 'type':
      if (criteria.operation === 'is') return compileTypeTest(criteria.operand, criteria.typeName, input, compilation);
      return compileSingleton(criteria, input, compilation);
    case 'literal': {
      const { value } = criteria;
      return { test: () => value !== false, usesSibling: false };
    }
    case 'call':
      if (isBoolean(criteria)) return compileBooleanFunction(criteria, input, compilation);
      return compileSingleton(criteria, input, compilation);
    default:
      return compileSingleton(criteria, input, compilation);
  }
}

function compileLogic(
  operator: 'and' | 'or',
  left: Expression,
  right: Expression,
  input: Focus,
  compilation: Compilation,
): CompiledPredicate {
  const a = compilePredicate(left, input, compilation);
  const b = compilePredicate(right, input, compilation);
  // The result that one operand alone decides.
  const decisive = operator === 'or';
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

function compileEquality(
  operator: '=' | '!=',
  left: Expression,
  right: Expression,
  input: Focus,
  compilation: Compilation,
): CompiledPredicate {
  const a = compileOperand(left, input, compilation);
  const b = compileOperand(right, input, compilation);
  const test: Predicate = (value, path, run) => {
    run.meter.spend(1);
    const first = a(value, path, run);
    const second = b(value, path, run);
    if (first.length === 0 || second.length === 0) return undefined;
    const equal = first.length === second.length && first.every((item, index) => item === second[index]);
    return equal === (operator === '=');
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

function compileBooleanFunction(
  call: Expression & { kind: 'call' },
  input: Focus,
  compilation: Compilation,
): CompiledPredicate {
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

function compileTypeTest(
  operand: Expression,
  typeName: string,
  input: Focus,
  compilation: Compilation,
): CompiledPredicate {
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

function compileReferenceTypeTest(
  operand: Expression,
  typeName: string,
  input: Focus,
  compilation: Compilation,
): CompiledPredicate {
  const collect = compileCollection(operand, input, compilation, false, (focus) => {
    if (focus.typeName === 'Reference' || isSubtypeOf(focus.typeName, 'uri')) return;
    throw new FhirPathError(`resolve() needs a reference, not ${focus.typeName}`, compilation.expression);
  });
  const test: Predicate = (value, path, run, sibling) => {
    const [reference] = collect.values(value, path, run, sibling);
    if (reference === undefined) return false;
    run.meter.spend(countReferenceSteps(reference, run.root));
    const type = findReferencedType(reference, run.root);
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
    if (values.length !== 1) return undefined;
    return values[0] !== false;
  };
  return { test, usesSibling: collect.usesSibling };
}

interface Collection {
  readonly values: (value: JsonValue, path: string, run: Run, sibling: JsonValue | undefined) => readonly JsonValue[];
  readonly types: (value: JsonValue, path: string, run: Run, sibling: JsonValue | undefined) => readonly string[];
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
    touch(compilation, focus);
    const visit: Step['visit'] = (value, path, run) => {
      run.meter.spend(1);
      run.found.push({ type: resolveRuntimeType(focus, value), value, path });
    };
    return { visit, usesSibling: withSiblings && focus.primitive };
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

function isResolve(expression: Expression): expression is Expression & { kind: 'call' } {
  return expression.kind === 'call' && expression.name === 'resolve' && expression.arguments.length === 0;
}
