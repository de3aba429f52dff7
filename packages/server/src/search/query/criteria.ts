/**
 * One search parameter of a query, read: which rows of which table decide, and how.
 * https://hl7.org/fhir/R4/search.html#multivalue and #modifiers
 */
import { suggestName } from '@praxis/fhir';
import type { Parameter, Reading, SearchTable, Test, ValueContext } from '../kinds/kind.ts';
import { refuseValue, splitUnescaped } from './search-values.ts';

/** A condition on the resource's own rows in an index table. */
export interface Criterion {
  readonly kind: 'rows';
  readonly parameter: Parameter;
  readonly table: SearchTable;
  /** Number under which the rows lie. */
  readonly number: number;
  /** Resources of which no row passes, also those without any row. */
  readonly negated: boolean;
  /** A row passes when it passes one of these; none: every row does (`:missing`). */
  readonly tests: readonly Test[];
}

/** What a criterion may be asked for, beside the values' own rules. */
export interface CriterionLimits {
  /** Comma-separated values at most. */
  readonly searchValuesMax: number;
}

/**
 * The criterion of `name=text`.
 * @param modifier what follows the colon of the name; empty for none
 * @throws PraxisError `search-invalid`: unknown modifier, malformed value, too many values
 */
export function parseCriterion(
  modifier: string,
  text: string,
  context: ValueContext,
  limits: CriterionLimits,
): Criterion {
  const { parameter, name } = context;
  if (modifier === 'missing' && !parameter.kind.whole) return missing(text, context);
  const reading = parameter.kind.reading(parameter, modifier);
  if (reading === undefined) {
    const hint = suggestName(modifier, listModifiers(parameter)) || ';';
    refuseValue(
      name,
      `has a modifier that ${parameter.code} of ${parameter.type} does not take${hint} it takes ${describeModifiers(parameter)}`,
    );
  }
  const tests = splitValues(text, { name, limits }).map((value) => reading.parse(value, context));
  return buildCriterion(parameter, tests, reading);
}

/** The criterion of tests on the rows of a parameter, which lie where `reading` says. */
export function buildCriterion(
  parameter: Parameter,
  tests: readonly Test[],
  reading: Omit<Reading, 'parse'> = { table: parameter.kind.table, number: parameter.number },
): Criterion {
  const { table, number, negated = false } = reading;
  return { kind: 'rows', parameter, table, number, negated, tests };
}

/**
 * The different values that commas separate; escapes are still in them.
 * @throws PraxisError `search-invalid` for too many
 */
export function splitValues(
  text: string,
  { name, limits }: { readonly name: string; readonly limits: CriterionLimits },
): readonly string[] {
  const values = splitUnescaped(text, ',');
  if (values.length > limits.searchValuesMax) {
    refuseValue(name, `has ${values.length} values; at most ${limits.searchValuesMax} are taken in one parameter`);
  }
  return [...new Set(values)];
}

function listModifiers(parameter: Parameter): readonly string[] {
  return [...(parameter.kind.whole ? [] : ['missing']), ...parameter.kind.modifiers(parameter)];
}

function describeModifiers(parameter: Parameter): string {
  const known = listModifiers(parameter);
  return known.length === 0 ? 'none' : known.map((word) => `:${word}`).join(', ');
}

function missing(text: string, { parameter, name }: ValueContext): Criterion {
  if (text !== 'true' && text !== 'false') refuseValue(name, 'takes true or false');
  return { ...buildCriterion(parameter, []), negated: text === 'true' };
}
