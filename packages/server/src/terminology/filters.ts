/**
 * Filters of a value set's definition: which concepts of a code system they choose.
 * https://hl7.org/fhir/R4/valueset-filter-operator.html · https://hl7.org/fhir/R4/codesystem.html#defined-props
 */
import type { JsonObject } from '@praxis/fhir';
import { type CodeSystem, type Concept, findConcept, listAncestors, listDescendants } from './code-system.ts';
import { type Filter, refuseValueSet } from './compose.ts';
import type { Effort } from './effort.ts';
import { compilePattern, PatternError } from './regular-expression.ts';

export type ConceptTest = (concept: Concept) => boolean;

/** A filter with what it is about. */
interface Filtered {
  readonly valueSet: JsonObject;
  readonly system: CodeSystem;
  readonly filter: Filter;
  readonly effort: Effort;
}

/** Operator → test. `concept` and `code` stand for the concept itself. */
const operators: Readonly<Record<string, (filtered: Filtered) => ConceptTest>> = {
  '=': (filtered) =>
    anyValue(
      filtered,
      ({ filter }) =>
        (value) =>
          value === filter.value,
    ),
  'is-a': (filtered) => within(new Set(beneath(filtered))),
  'descendent-of': (filtered) => {
    const [self, ...codes] = beneath(filtered);
    return within(new Set(codes.filter((code) => code !== self)));
  },
  'is-not-a': (filtered) => negate(within(new Set(beneath(filtered)))),
  generalizes: (filtered) => within(new Set(listAncestors(filtered.system, requireCode(filtered), filtered.effort))),
  regex: (filtered) => anyValue(filtered, patternOf),
  in: (filtered) => anyValue(filtered, listOf),
  'not-in': (filtered) => negate(anyValue(filtered, listOf)),
  exists: (filtered) => {
    const { value, path } = filtered.filter;
    if (value !== 'true' && value !== 'false')
      refuseValueSet(filtered.valueSet, 'has a filter exists that is neither true nor false', path);
    const values = valuesOf(filtered);
    return (concept) => values(concept).length > 0 === (value === 'true');
  },
};

/**
 * Tests whether a concept of `system` passes `filter`.
 * @throws PraxisError `value-set-invalid` when the operator, the property, the code or the pattern is not understood,
 *   `too-costly`
 */
export function filterTest(valueSet: JsonObject, system: CodeSystem, filter: Filter, effort: Effort): ConceptTest {
  const operator = Object.hasOwn(operators, filter.op) ? operators[filter.op] : undefined;
  if (operator === undefined) {
    return refuseValueSet(
      valueSet,
      `has a filter operator that is none of ${Object.keys(operators).join(', ')}`,
      filter.path,
    );
  }
  return operator({ valueSet, system, filter, effort });
}

type ValueTest = (value: string) => boolean;

/** One of the values passes that a concept has of the filter's property. */
function anyValue(filtered: Filtered, testOf: (filtered: Filtered) => ValueTest): ConceptTest {
  const values = valuesOf(filtered);
  const test = testOf(filtered);
  return (concept) => values(concept).some(test);
}

function negate(test: ConceptTest): ConceptTest {
  return (concept) => !test(concept);
}

function within(codes: ReadonlySet<string>): ConceptTest {
  return ({ code }) => codes.has(code);
}

/** The filter's code and those beneath it. */
function beneath(filtered: Filtered): readonly string[] {
  return listDescendants(filtered.system, requireCode(filtered), filtered.effort);
}

function requireCode({ valueSet, system, filter }: Filtered): string {
  const found = findConcept(system, filter.value);
  return (
    found?.code ?? refuseValueSet(valueSet, `has a filter by a code that ${system.url} does not hold`, filter.path)
  );
}

const builtIn: Readonly<Record<string, (concept: Concept) => readonly string[]>> = {
  concept: ({ code }) => [code],
  code: ({ code }) => [code],
  display: ({ display }) => (display === undefined ? [] : [display]),
  parent: ({ parents }) => parents,
  child: ({ children }) => children,
};

/** The values that a concept has of the filter's property. */
function valuesOf({ valueSet, system, filter, effort }: Filtered): (concept: Concept) => readonly string[] {
  const { property } = filter;
  const known = Object.hasOwn(builtIn, property) ? builtIn[property] : undefined;
  const spent = (values: readonly string[]) => {
    effort.spend(values.length);
    return values;
  };
  if (known !== undefined) return (concept) => spent(known(concept));
  if (!system.propertyNames.has(property)) {
    return refuseValueSet(valueSet, `has a filter by a property that no code of ${system.url} has`, filter.path);
  }
  return ({ properties }) => spent(properties.get(property) ?? []);
}

function listOf({ filter, effort }: Filtered): ValueTest {
  effort.spend(filter.value.length);
  const listed = new Set(filter.value.split(',').map((value) => value.trim()));
  return (value) => listed.has(value);
}

function patternOf({ valueSet, filter, effort }: Filtered): ValueTest {
  try {
    return compilePattern(filter.value, effort);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return refuseValueSet(valueSet, `has a filter whose regular expression ${error.message}`, filter.path);
  }
}
