/**
 * The functions that R4's invariants use, by name. Those that answer with a boolean are apart, since most of them need not
 * gather what they ask about.
 *
 * http://hl7.org/fhirpath/N1/#functions · https://hl7.org/fhir/R4/fhirpath.html#functions
 */
import { FhirPathError } from '../fhirpath/fhirpath-error.ts';
import type { Expression } from '../fhirpath/parse.ts';
import { formatDecimal, isRawDecimal } from '../json.ts';
import { computeItemKey } from './compare.ts';
import {
  type Call,
  type Collect,
  type Compiler,
  type Evaluation,
  flatMap,
  requireSingleton,
  type Test,
  toSingletonString,
} from './evaluation.ts';
import { type Item, type Items, listChildren, makeComputedItem, nothing } from './item.ts';
import { resolveReference } from './resolve.ts';

export const testingFunctions: Readonly<Record<string, Compile<Test>>> = {
  exists: (call, compiler) => compileExists(call, compiler, true),
  empty: (call, compiler) => compileExists(call, compiler, false),
  not: ({ operand }, compiler) => {
    const test = compiler.test(operand);
    return (focus, evaluation) => {
      const result = test(focus, evaluation);
      return result === undefined ? undefined : !result;
    };
  },
  all: (call, compiler) => {
    const collect = compiler.collect(call.operand);
    const criteria = compiler.test(argumentOf(call, 0, compiler));
    return (focus, evaluation) => collect(focus, evaluation).every((item) => criteria(item, evaluation) === true);
  },
  isDistinct: ({ operand }, compiler) => {
    const collect = compiler.collect(operand);
    return (focus, evaluation) => {
      const items = collect(focus, evaluation);
      evaluation.spend(items.length);
      return items.length < 2 || new Set(items.map(computeItemKey)).size === items.length;
    };
  },
  hasValue: ({ operand }, compiler) => {
    const collect = compiler.collect(operand);
    return (focus, evaluation) => {
      const items = collect(focus, evaluation);
      const [only] = items;
      return items.length === 1 && only?.definition?.kind === 'primitive-type' && only.value !== null;
    };
  },
  startsWith: textTest((text, part) => text.startsWith(part)),
  contains: textTest((text, part) => text.includes(part)),
  matches: (call, compiler) => {
    const pattern = patternOf(call, compiler, 'su');
    const collect = compiler.collect(call.operand);
    return (focus, evaluation) => {
      const text = toSingletonString(collect(focus, evaluation), compiler.expression);
      evaluation.spend(1 + ((text?.length ?? 0) >> 6));
      return text === undefined ? undefined : pattern.test(text);
    };
  },
};

export const collectingFunctions: Readonly<Record<string, Compile<Collect>>> = {
  where: (call, compiler) => {
    const collect = compiler.collect(call.operand);
    const criteria = compiler.test(argumentOf(call, 0, compiler));
    return (focus, evaluation) => collect(focus, evaluation).filter((item) => criteria(item, evaluation) === true);
  },
  select: (call, compiler) => {
    const collect = compiler.collect(call.operand);
    const projection = compiler.collect(argumentOf(call, 0, compiler));
    return (focus, evaluation) => flatMap(collect(focus, evaluation), (item) => projection(item, evaluation));
  },
  first: onItems((items) => items.slice(0, 1)),
  tail: onItems((items) => items.slice(1)),
  count: onItems((items) => [makeComputedItem(items.length)]),
  trace: onItems((items) => items),
  children: onItems((items, evaluation) => flatMap(items, (item) => childrenPaid(item, evaluation))),
  descendants: onItems(descendants),
  combine: onTwo((items, others) => [...items, ...others]),
  intersect: onTwo(intersection),
  resolve: onItems((items, evaluation) => items.flatMap((item) => resolveReference(item, evaluation) ?? [])),
  iif: compileChoice,
  toString: onItems((items, _, expression) => asText(requireSingleton(items, expression))),
  toInteger: onItems((items, _, expression) => asInteger(requireSingleton(items, expression))),
  substring: (call, compiler) => {
    const collect = compiler.collect(call.operand);
    const start = literalOf(call, 0, 'number', compiler);
    return (focus, evaluation) => {
      const text = toSingletonString(collect(focus, evaluation), compiler.expression);
      return text === undefined || start >= text.length ? nothing : [makeComputedItem(text.slice(start))];
    };
  },
  replaceMatches: (call, compiler) => {
    const pattern = patternOf(call, compiler, 'gsu');
    const substitution = literalOf(call, 1, 'string', compiler);
    const collect = compiler.collect(call.operand);
    return (focus, evaluation) => {
      const text = toSingletonString(collect(focus, evaluation), compiler.expression);
      evaluation.spend(1 + ((text?.length ?? 0) >> 6));
      return text === undefined ? nothing : [makeComputedItem(text.replace(pattern, substitution))];
    };
  },
};

function compileExists(call: Call, compiler: Compiler, expected: boolean): Test {
  const collect = compiler.collect(call.operand);
  const [criteria] = call.arguments;
  if (criteria === undefined) return (focus, evaluation) => collect(focus, evaluation).length > 0 === expected;
  const test = compiler.test(criteria);
  return (focus, evaluation) => collect(focus, evaluation).some((item) => test(item, evaluation) === true) === expected;
}

/** The criteria are asked about the one value that is there, or about none. */
function compileChoice(call: Call, compiler: Compiler): Collect {
  const collect = compiler.collect(call.operand);
  const test = compiler.test(argumentOf(call, 0, compiler));
  const whenTrue = compiler.collect(argumentOf(call, 1, compiler));
  const [, , otherwise] = call.arguments;
  const whenFalse = otherwise === undefined ? () => nothing : compiler.collect(otherwise);
  return (focus, evaluation) => {
    const only = requireSingleton(collect(focus, evaluation), compiler.expression);
    return test(only, evaluation) === true ? whenTrue(only, evaluation) : whenFalse(only, evaluation);
  };
}

function childrenPaid(item: Item, { spend }: Evaluation): Items {
  const children = listChildren(item);
  spend(1 + children.length);
  return children;
}

function descendants(items: Items, evaluation: Evaluation): Items {
  const found: Item[] = [];
  const visit = (item: Item): void => {
    for (const child of childrenPaid(item, evaluation)) {
      found.push(child);
      visit(child);
    }
  };
  for (const item of items) visit(item);
  return found;
}

/** http://hl7.org/fhirpath/N1/#intersectother-collection-collection */
function intersection(items: Items, others: Items, { spend }: Evaluation): Items {
  spend(items.length + others.length);
  if (items.length === 0 || others.length === 0) return nothing;
  const keys = new Set(others.map(computeItemKey));
  return items.filter((item) => keys.has(computeItemKey(item)));
}

function asText(item: Item | undefined): Items {
  if (item === undefined || item.value === null) return nothing;
  const { value } = item;
  if (typeof value === 'number' || isRawDecimal(value)) return [makeComputedItem(formatDecimal(value))];
  return typeof value === 'object' ? nothing : [makeComputedItem(String(value))];
}

/** http://hl7.org/fhirpath/N1/#tointeger-integer */
function asInteger(item: Item | undefined): Items {
  const value = item?.value;
  if (typeof value === 'boolean') return [makeComputedItem(value ? 1 : 0)];
  if (typeof value === 'number') return Number.isInteger(value) ? [makeComputedItem(value)] : nothing;
  return typeof value === 'string' && /^[+-]?\d{1,15}$/.test(value) ? [makeComputedItem(Number(value))] : nothing;
}

type Compile<Compiled> = (call: Call, compiler: Compiler) => Compiled;

function onItems(work: (items: Items, evaluation: Evaluation, expression: string) => Items): Compile<Collect> {
  return ({ operand }, compiler) => {
    const collect = compiler.collect(operand);
    return (focus, evaluation) => work(collect(focus, evaluation), evaluation, compiler.expression);
  };
}

function onTwo(work: (items: Items, others: Items, evaluation: Evaluation) => Items): Compile<Collect> {
  return (call, compiler) => {
    const collect = compiler.collect(call.operand);
    const others = compiler.collect(argumentOf(call, 0, compiler));
    return (focus, evaluation) => work(collect(focus, evaluation), others(focus, evaluation), evaluation);
  };
}

function textTest(holds: (text: string, part: string) => boolean): Compile<Test> {
  return (call, compiler) => {
    const collect = compiler.collect(call.operand);
    const argument = compiler.collect(argumentOf(call, 0, compiler));
    return (focus, evaluation) => {
      const text = toSingletonString(collect(focus, evaluation), compiler.expression);
      const part = toSingletonString(argument(focus, evaluation), compiler.expression);
      return text === undefined || part === undefined ? undefined : holds(text, part);
    };
  };
}

/** Patterns stand in the definitions: none comes from outside. */
function patternOf(call: Call, compiler: Compiler, flags: string): RegExp {
  return new RegExp(literalOf(call, 0, 'string', compiler), flags);
}

function literalOf(call: Call, index: number, type: 'string', compiler: Compiler): string;
function literalOf(call: Call, index: number, type: 'number', compiler: Compiler): number;
function literalOf(call: Call, index: number, type: 'string' | 'number', compiler: Compiler): string | number {
  const argument = argumentOf(call, index, compiler);
  if (argument.kind === 'literal' && typeof argument.value === type && typeof argument.value !== 'boolean')
    return argument.value;
  throw new FhirPathError(`${call.name}() takes a literal`, compiler.expression);
}

function argumentOf({ name, arguments: given }: Call, index: number, { expression }: Compiler): Expression {
  const argument = given[index];
  if (argument === undefined) throw new FhirPathError(`An argument of ${name}() is missing`, expression);
  return argument;
}
