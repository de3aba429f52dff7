// Compiles a FHIRPath expression, for values of one type, into closures that call each other: a path step knows from
// the definitions which JSON properties to read and calls the next step with each value. Branches of a union that
// begin with another type, and casts that cannot hold, leave nothing behind.
// http://hl7.org/fhirpath/N1/ and https://hl7.org/fhir/R4/fhirpath.html
import { type BudgetedWork, type StepBudget, StepMeter } from '../budget.ts';
import { findTypeDefinition, isSubtypeOf, resourceTypes } from '../definitions.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { combineSteps, compileElement, compileExtension } from './elements.ts';
import { FhirPathError } from './fhirpath-error.ts';
import {
  booleanFocus,
  type Compilation,
  type Continuation,
  collectFound,
  countStep,
  type Focus,
  focusOnType,
  isPolymorphic,
  narrowFocus,
  type Run,
  requireFewSteps,
  resolveRuntimeType,
  type Step,
  type TypedValue,
  type Visit,
} from './focus.ts';
import { type Expression, type Node, parseFhirPath } from './parse.ts';
import { compilePredicate, isBoolean, parseReferenceTypeTest } from './predicates.ts';

export interface CompiledExpression {
  /**
   * The selected values, in the order of the expression's branches and of the resource. Equal values are kept.
   * `root`: the resource that holds the value; `path`: where in it. Spends a step from `budget` for each element and criterion.
   */
  readonly select: (
    value: JsonValue,
    root: JsonObject,
    path: string,
    budget: StepBudget,
    work: BudgetedWork,
  ) => TypedValue[];
  /** What the expression can select, statically: one focus per alternative, without duplicates by element and type. */
  readonly results: readonly Focus[];
  /** Element paths that are read, criteria included; a path covers all below it, so none is below another. Sorted. */
  readonly touched: readonly string[];
  /** Steps that the compilation took. */
  readonly steps: number;
}

/**
 * Compiles an expression for values of a type: 'Patient', 'HumanName' or, for the parts of a composite, the element
 * path of an inline type ('Observation.component'). Throws FhirPathError for unknown types and elements, for syntax
 * beyond the subset and for functions that the subset lacks. Remembers nothing: search-parameters.ts does.
 * @param tree what the expression was parsed to
 */
export function compileFhirPath(
  typeName: string,
  expression: string,
  tree: Expression = parseFhirPath(expression),
): CompiledExpression {
  const input = focusOnType(typeName);
  if (input === undefined)
    throw new FhirPathError(`Unknown type ${typeName}`, expression, { name: typeName, known: resourceTypes });
  const compilation: Compilation = {
    expression,
    root: focusOnType(typeName.replace(/\..*/, '')),
    steps: 0,
    touched: new Set(),
    compile: (part, focus, then) => compile(part, focus, compilation, then),
  };
  const results = new Map<string, Focus>();
  const step = compile(tree, input, compilation, (focus) => {
    results.set(`${focus.elementPath} ${focus.typeName}`, focus);
    return { visit: collectFound(compilation, focus), usesSibling: false };
  });
  const touched = [...compilation.touched].sort();
  requireFewSteps(compilation); // a branch that failed for it may have been left out as one without the element
  return {
    select: (value, root, path, budget, work) => {
      const run: Run = { root, found: [], held: [], meter: new StepMeter(budget, work) };
      step?.visit(value, path, run, undefined);
      run.meter.settle();
      return run.found;
    },
    results: [...results.values()],
    touched: touched.filter((path) => !touched.some((other) => path.startsWith(`${other}.`))),
    steps: compilation.steps,
  };
}

// Undefined when the definitions rule out that anything is selected.
function compile(expression: Expression, input: Focus, compilation: Compilation, then: Continuation): Step | undefined {
  countStep(compilation);
  if (isBoolean(expression)) return compileComputed(expression, input, compilation, then);
  switch (expression.kind) {
    case 'this':
      return then(input);
    case 'resource':
      return compileResource(compilation, then);
    case 'variable':
      throw new FhirPathError(`Unsupported variable ${expression.name}`, compilation.expression);
    case 'literal':
      throw new FhirPathError('A literal selects nothing', compilation.expression);
    case 'member':
      if (expression.operand === undefined) return compileFirstName(expression.name, input, compilation, then);
      return compile(expression.operand, input, compilation, (focus) =>
        compileElement(expression.name, focus, compilation, then),
      );
    case 'index':
      return compileIndex(expression.operand, expression.index, input, compilation, then);
    case 'type':
      return compile(expression.operand, input, compilation, (focus) =>
        compileCast(expression.typeName, focus, compilation, then),
      );
    case 'binary':
      if (expression.operator !== '|')
        throw new FhirPathError(`Unsupported operator ${expression.operator}`, compilation.expression);
      return combineSteps(
        compile(expression.left, input, compilation, then),
        compile(expression.right, input, compilation, then),
      );
    case 'call':
      return compileCall(expression, input, compilation, then);
  }
}

// https://hl7.org/fhir/R4/fhirpath.html#variables
function compileResource(compilation: Compilation, then: Continuation): Step | undefined {
  const { root } = compilation;
  if (root?.definition?.kind !== 'resource') {
    throw new FhirPathError('The type of %resource is not known', compilation.expression);
  }
  const next = then(root);
  if (next === undefined) return undefined;
  const visit: Visit = (_value, _path, run) => {
    run.meter.spend(1);
    next.visit(run.root, root.typeName, run, undefined);
  };
  return { visit, usesSibling: false };
}

function compileCall(call: Node<'call'>, input: Focus, compilation: Compilation, then: Continuation): Step | undefined {
  const { operand, name } = call;
  const [argument] = call.arguments;
  if (name === 'where' && call.arguments.length === 1 && argument !== undefined)
    return compile(operand, input, compilation, (focus) => compileWhere(argument, focus, compilation, then));
  if (name === 'first' && argument === undefined) return compileIndex(operand, 0, input, compilation, then);
  if (name === 'extension' && argument?.kind === 'literal' && typeof argument.value === 'string') {
    const url = argument.value;
    return compile(operand, input, compilation, (focus) => compileExtension(url, focus, compilation, then));
  }
  throw new FhirPathError(`Unsupported use of the function ${name}()`, compilation.expression);
}

// http://hl7.org/fhirpath/N1/#path-selection: a path may begin with the name of the type that the focus has.
function compileFirstName(name: string, input: Focus, compilation: Compilation, then: Continuation): Step | undefined {
  if (!/^[A-Z]/.test(name)) return compileElement(name, input, compilation, then);
  if (findTypeDefinition(name) === undefined)
    throw new FhirPathError(`Unknown type ${name}`, compilation.expression, { name, known: resourceTypes });
  return isSubtypeOf(input.typeName, name) ? then(input) : undefined;
}

function compileWhere(criteria: Expression, focus: Focus, compilation: Compilation, then: Continuation) {
  const test = parseReferenceTypeTest(criteria);
  const next = then(test === undefined ? focus : { ...focus, targets: [test] });
  if (next === undefined) return undefined;
  const predicate = compilePredicate(criteria, focus, compilation);
  const visit: Visit = (value, path, run, sibling) => {
    run.meter.spend(1);
    if (predicate.test(value, path, run, sibling) === true) next.visit(value, path, run, sibling);
  };
  return { visit, usesSibling: next.usesSibling || predicate.usesSibling };
}

// http://hl7.org/fhirpath/N1/#as-type-specifier. The operator refuses several items there; R4's own parameters use it on
// lists all the same (Observation.component.value as Quantity), so it takes each item for itself, as ofType() does.
function compileCast(typeName: string, focus: Focus, compilation: Compilation, then: Continuation): Step | undefined {
  if (findTypeDefinition(typeName) === undefined) {
    throw new FhirPathError(`Unknown type ${typeName}`, compilation.expression);
  }
  if (isSubtypeOf(focus.typeName, typeName)) return then(focus);
  if (!isPolymorphic(focus) || !isSubtypeOf(typeName, focus.typeName)) return undefined;
  const next = then(narrowFocus(focus, typeName));
  if (next === undefined) return undefined;
  const visit: Visit = (value, path, run) => {
    if (isSubtypeOf(resolveRuntimeType(focus, value), typeName)) next.visit(value, path, run, undefined);
  };
  return { visit, usesSibling: false };
}

// An indexer counts over the whole collection to its left, so its members wait until that is complete.
function compileIndex(operand: Expression, index: number, input: Focus, compilation: Compilation, then: Continuation) {
  const inner = compile(operand, input, compilation, (focus) => {
    const next = then(focus);
    const visit: Visit = (value, path, run, sibling) => {
      run.held.push(() => next?.visit(value, path, { ...run, held: [] }, sibling));
    };
    return { visit, usesSibling: next?.usesSibling ?? false };
  });
  if (inner === undefined) return undefined;
  const visit: Visit = (value, path, run, sibling) => {
    const held: (() => void)[] = [];
    inner.visit(value, path, { ...run, held }, sibling);
    held[index]?.();
  };
  return { visit, usesSibling: inner.usesSibling };
}

function compileComputed(expression: Expression, input: Focus, compilation: Compilation, then: Continuation) {
  const next = then(booleanFocus);
  if (next === undefined) return undefined;
  const predicate = compilePredicate(expression, input, compilation);
  const visit: Visit = (value, path, run, sibling) => {
    const result = predicate.test(value, path, run, sibling);
    if (result !== undefined) next.visit(result, path, run, undefined);
  };
  return { visit, usesSibling: predicate.usesSibling };
}
