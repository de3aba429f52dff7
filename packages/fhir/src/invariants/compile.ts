/**
 * Compiles the invariants of R4 into functions: each part of an expression becomes one that calls those of its parts. It
 * computes what R4's own invariants use and refuses the rest; expressions of profiles go elsewhere, since they come from
 * outside.
 *
 * http://hl7.org/fhirpath/N1/ · https://hl7.org/fhir/R4/fhirpath.html
 */
import { findTypeDefinition, isSubtypeOf } from '../definitions.ts';
import { FhirPathError } from '../fhirpath/fhirpath-error.ts';
import { type BinaryOperator, type Expression, parseFhirPath, type Variable } from '../fhirpath/parse.ts';
import { compareItems, computeItemKey, equalItems } from './compare.ts';
import {
  type Collect,
  type Compiler,
  type Evaluation,
  flatMap,
  requireSingleton,
  type Test,
  toSingletonBoolean,
  toSingletonString,
} from './evaluation.ts';
import { collectingFunctions, testingFunctions } from './functions.ts';
import { type Item, type Items, listChildrenNamed, makeComputedItem, nothing } from './item.ts';

/** Compiles an invariant. @throws FhirPathError for what R4's invariants do not use */
export function compileInvariant(expression: string): Test {
  const tree = parseFhirPath(expression);
  const compiler: Compiler = {
    expression,
    collect: (part) => remembering(part, compileCollect(part, compiler)),
    test: (part) => compileTest(part, compiler),
  };
  return compiler.test(tree);
}

const trueItems: Items = [makeComputedItem(true)];
const falseItems: Items = [makeComputedItem(false)];

function asItems(test: Test): Collect {
  return (focus, evaluation) => {
    const result = test(focus, evaluation);
    if (result === undefined) return nothing;
    return result ? trueItems : falseItems;
  };
}

const collectingOperators: ReadonlySet<BinaryOperator> = new Set(['|', '&', '+']);

/** Whether the value is a boolean that is computed here. */
function isTest(tree: Expression): boolean {
  if (tree.kind === 'binary') return !collectingOperators.has(tree.operator);
  if (tree.kind === 'type') return tree.operation === 'is';
  return tree.kind === 'call' && Object.hasOwn(testingFunctions, tree.name);
}

function compileCollect(tree: Expression, compiler: Compiler): Collect {
  if (isTest(tree)) return asItems(compileTest(tree, compiler));
  switch (tree.kind) {
    case 'this':
      return (focus) => (focus === undefined ? nothing : [focus]);
    case 'resource':
      return (_, { resource }) => [resource];
    case 'variable':
      return compileVariable(tree.name);
    case 'literal': {
      const items: Items = [makeComputedItem(tree.value)];
      return () => items;
    }
    case 'member':
      return compileMember(tree.operand, tree.name, compiler);
    case 'index': {
      const operand = compiler.collect(tree.operand);
      return (focus, evaluation) => operand(focus, evaluation).slice(tree.index, tree.index + 1);
    }
    case 'type': {
      const operand = compiler.collect(tree.operand);
      const fits = typeTest(tree.typeName, compiler);
      return (focus, evaluation) => operand(focus, evaluation).filter(fits);
    }
    case 'binary':
      return compileCollecting(tree.operator, tree.left, tree.right, compiler);
    case 'call':
      return functionNamed(collectingFunctions, tree.name, compiler)(tree, compiler);
  }
}

function compileVariable(name: Variable): Collect {
  if (name === '%rootResource') return (_, { rootResource }) => [rootResource];
  if (name === '%context') return (_, { context }) => [context];
  const items: Items = [makeComputedItem('http://unitsofmeasure.org')];
  return () => items;
}

function compileMember(operand: Expression | undefined, name: string, compiler: Compiler): Collect {
  if (operand === undefined && /^[A-Z]/.test(name)) {
    // http://hl7.org/fhirpath/N1/#path-selection: a path may begin with the name of the type.
    const fits = typeTest(name, compiler);
    return (focus) => (focus !== undefined && fits(focus) ? [focus] : nothing);
  }
  if (operand === undefined || operand.kind === 'this') {
    return (focus, evaluation) => (focus === undefined ? nothing : childrenPaid(focus, name, evaluation));
  }
  const collect = compiler.collect(operand);
  return (focus, evaluation) => flatMap(collect(focus, evaluation), (item) => childrenPaid(item, name, evaluation));
}

function childrenPaid(item: Item, name: string, { spend }: Evaluation): Items {
  const children = listChildrenNamed(item, name);
  spend(1 + children.length);
  return children;
}

function typeTest(name: string, { expression }: Compiler): (item: Item) => boolean {
  if (findTypeDefinition(name) === undefined) throw new FhirPathError(`Unknown type ${name}`, expression);
  return ({ type }) => isSubtypeOf(type, name);
}

function compileCollecting(operator: BinaryOperator, left: Expression, right: Expression, compiler: Compiler): Collect {
  const a = compiler.collect(left);
  const b = compiler.collect(right);
  const { expression } = compiler;
  if (operator === '|') {
    return (focus, evaluation) => distinct([...a(focus, evaluation), ...b(focus, evaluation)], evaluation);
  }
  if (operator === '&') {
    return (focus, evaluation) => {
      const first = toSingletonString(a(focus, evaluation), expression) ?? '';
      return [makeComputedItem(first + (toSingletonString(b(focus, evaluation), expression) ?? ''))];
    };
  }
  return (focus, evaluation) => {
    const first = integerOf(a(focus, evaluation), expression);
    const second = integerOf(b(focus, evaluation), expression);
    return first === undefined || second === undefined ? nothing : [makeComputedItem(first + second)];
  };
}

/** R4's invariants add counts only. */
function integerOf(items: Items, expression: string): number | undefined {
  const only = requireSingleton(items, expression);
  if (only === undefined) return undefined;
  if (!Number.isInteger(only.value)) throw new FhirPathError('Only whole numbers are added', expression);
  return Number(only.value);
}

/** Equal ones once, in the order of the first. */
function distinct(items: Items, { spend }: Evaluation): Items {
  spend(items.length);
  if (items.length < 2) return items;
  return [...new Map(items.toReversed().map((item) => [computeItemKey(item), item])).values()].toReversed();
}

function compileTest(tree: Expression, compiler: Compiler): Test {
  if (tree.kind === 'literal' && typeof tree.value === 'boolean') {
    const { value } = tree;
    return () => value;
  }
  if (tree.kind === 'call' && Object.hasOwn(testingFunctions, tree.name))
    return functionNamed(testingFunctions, tree.name, compiler)(tree, compiler);
  if (tree.kind === 'type' && tree.operation === 'is') {
    const operand = compiler.collect(tree.operand);
    const fits = typeTest(tree.typeName, compiler);
    return (focus, evaluation) => {
      const only = requireSingleton(operand(focus, evaluation), compiler.expression);
      return only === undefined ? undefined : fits(only);
    };
  }
  if (tree.kind === 'binary' && isTest(tree)) return compileOperator(tree.operator, tree.left, tree.right, compiler);
  const collect = compiler.collect(tree);
  return (focus, evaluation) => toSingletonBoolean(collect(focus, evaluation), compiler.expression);
}

function compileOperator(operator: BinaryOperator, left: Expression, right: Expression, compiler: Compiler): Test {
  switch (operator) {
    case 'and':
    case 'or':
    case 'xor':
    case 'implies':
      return compileLogic(operator, compiler.test(left), compiler.test(right));
    case 'in':
      return compileMembership(compiler.collect(left), compiler.collect(right), compiler.expression);
    case 'contains':
      return compileMembership(compiler.collect(right), compiler.collect(left), compiler.expression);
    case '=':
    case '!=':
      return compileEquality(operator === '=', left, right, compiler);
    default:
      return compileComparison(operator, compiler.collect(left), compiler.collect(right), compiler.expression);
  }
}

function compileLogic(operator: 'and' | 'or' | 'xor' | 'implies', a: Test, b: Test): Test {
  if (operator === 'xor') return compareTests(a, b, false);
  // What decides alone, on the left and on the right; a implies b is (not a) or b.
  const decisive = operator !== 'and';
  const decisiveLeft = operator === 'or';
  return (focus, evaluation) => {
    const first = a(focus, evaluation);
    if (first === decisiveLeft) return decisive;
    const second = b(focus, evaluation);
    if (second === decisive) return decisive;
    return first === undefined || second === undefined ? undefined : !decisive;
  };
}

/** Whether both results are the same, or differ where that is expected. */
function compareTests(a: Test, b: Test, expected: boolean): Test {
  return (focus, evaluation) => {
    const first = a(focus, evaluation);
    const second = b(focus, evaluation);
    return first === undefined || second === undefined ? undefined : (first === second) === expected;
  };
}

/** http://hl7.org/fhirpath/N1/#collections-2 */
function compileMembership(one: Collect, all: Collect, expression: string): Test {
  return (focus, evaluation) => {
    const item = requireSingleton(one(focus, evaluation), expression);
    if (item === undefined) return undefined;
    const items = all(focus, evaluation);
    evaluation.spend(items.length);
    return items.some((each) => equalItems(item, each) === true);
  };
}

function compileEquality(expected: boolean, left: Expression, right: Expression, compiler: Compiler): Test {
  if (isTest(left) && isTest(right)) return compareTests(compiler.test(left), compiler.test(right), expected);
  const a = compiler.collect(left);
  const b = compiler.collect(right);
  return (focus, evaluation) => {
    const first = a(focus, evaluation);
    if (first.length === 0) return undefined;
    const equal = equalCollections(first, b(focus, evaluation), evaluation);
    return equal === undefined ? undefined : equal === expected;
  };
}

function equalCollections(a: Items, b: Items, { spend }: Evaluation): boolean | undefined {
  if (b.length === 0) return undefined;
  if (a.length !== b.length) return false;
  spend(a.length);
  let isCertain = true;
  for (const [index, item] of a.entries()) {
    const other = b[index];
    const equal = other !== undefined && equalItems(item, other);
    if (equal === false) return false;
    if (equal === undefined) isCertain = false;
  }
  return isCertain ? true : undefined;
}

const fitsOrder: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '>=': (order) => order >= 0,
};

function compileComparison(operator: BinaryOperator, a: Collect, b: Collect, expression: string): Test {
  const fits = fitsOrder[operator];
  return (focus, evaluation) => {
    const left = requireSingleton(a(focus, evaluation), expression);
    const right = requireSingleton(b(focus, evaluation), expression);
    if (left === undefined || right === undefined || left.value === null || right.value === null) return undefined;
    const order = compareItems(left, right, evaluation.findUnit);
    if (order === 'incomparable')
      throw new FhirPathError(`${left.type} and ${right.type} cannot be compared`, expression);
    return order === undefined ? undefined : fits?.(order);
  };
}

let rememberedExpressions = 0;

/**
 * What does not go by the focus is computed once for each context: `%resource.snapshot.element.first()` inside of all() would
 * read all elements for each of them.
 */
function remembering(tree: Expression, collect: Collect): Collect {
  if (tree.kind === 'literal' || tree.kind === 'variable' || tree.kind === 'resource' || dependsOnFocus(tree))
    return collect;
  const number = rememberedExpressions++;
  return (focus, evaluation) => {
    const { resource, context, remembered } = evaluation;
    const known = remembered.get(number);
    if (known !== undefined && known.resource === resource && known.context === context) return known.items;
    const items = collect(focus, evaluation);
    remembered.set(number, { resource, context, items });
    return items;
  };
}

/** Whether an expression reads `$this`; criteria have one of their own. */
function dependsOnFocus(tree: Expression): boolean {
  switch (tree.kind) {
    case 'this':
      return true;
    case 'member':
      return tree.operand === undefined || dependsOnFocus(tree.operand);
    case 'index':
    case 'type':
      return dependsOnFocus(tree.operand);
    case 'binary':
      return dependsOnFocus(tree.left) || dependsOnFocus(tree.right);
    case 'call':
      return dependsOnFocus(tree.operand) || tree.arguments.some(dependsOnFocus);
    default:
      return false;
  }
}

function functionNamed<F>(functions: Readonly<Record<string, F>>, name: string, { expression }: Compiler): F {
  const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (found === undefined) throw new FhirPathError(`Unsupported function ${name}()`, expression);
  return found;
}
