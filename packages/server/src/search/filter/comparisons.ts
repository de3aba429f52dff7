/**
 * The operators of `_filter` on the kinds of search parameters: https://hl7.org/fhir/R4/search_filter.html#ops
 */
import type { SearchParameterKind } from '@praxis/fhir';
import { sql } from '../../database/sql.ts';
import { boundKey } from '../index/bounded-key.ts';
import { parseDateValue } from '../kinds/date.ts';
import { type Parameter, selectivities, type ValueContext } from '../kinds/kind.ts';
import { prefixes } from '../kinds/prefixes.ts';
import { foldText } from '../kinds/text-folding.ts';
import type { SearchCondition } from '../query/condition.ts';
import { buildCriterion, type Criterion } from '../query/criteria.ts';
import { refuseFilter } from './filter-expression.ts';

export interface Compared {
  readonly operator: string;
  readonly value: string;
  readonly quoted: boolean;
}

type Compare = (parameter: Parameter, compared: Compared, context: ValueContext) => SearchCondition;

/** The reading of the parameter without a modifier, or with one. */
const read =
  (modifier: string): Compare =>
  (parameter, compared, context) =>
    criterionOf(parameter, modifier, escaped(compared), context);

/** The operator is the prefix of an ordered value. */
const prefixed: Compare = (parameter, compared, context) =>
  criterionOf(parameter, '', `${compared.operator}${escaped(compared)}`, context);

/** There is a value, and none that equals. */
const unequal =
  (equal: Compare): Compare =>
  (parameter, compared, context) => ({
    kind: 'all',
    type: parameter.type,
    conditions: [
      buildCriterion(parameter, []),
      { kind: 'none', type: parameter.type, conditions: [equal(parameter, compared, context)] },
    ],
  });

const present: Compare = (parameter, { value }) => {
  if (value !== 'true' && value !== 'false') refuseFilter('takes true or false after pr');
  return { ...buildCriterion(parameter, []), negated: value === 'false' };
};

const wholeText: Compare = (parameter, { value }) => {
  const where = sql`value = ${boundKey(requireFolded(value))}`;
  return buildCriterion(parameter, [{ where, order: 'rid', selectivity: selectivities.one }]);
};

const endOfText: Compare = (parameter, { value }) => {
  const end = requireFolded(value);
  const where = sql`right(value, ${end.length}) = ${end}`;
  return buildCriterion(parameter, [{ where, order: 'value', selectivity: selectivities.most, scans: true }]);
};

/** The periods have a moment in common. */
const overlaps: Compare = (parameter, compared, context) => {
  // A moment, of which no row of a date is kept.
  if (parameter.kind.table === 'resource') return criterionOf(parameter, '', escaped(compared), context);
  const { range } = parseDateValue(escaped(compared), context);
  const where = sql`lo < ${range.hi} AND hi > ${range.lo}`;
  return buildCriterion(parameter, [{ where, order: 'value', selectivity: selectivities.part }]);
};

const ordered: Readonly<Record<string, Compare>> = {
  ...Object.fromEntries(prefixes.map((prefix) => [prefix, prefixed])),
  pr: present,
};

const whole: Readonly<Record<string, Compare>> = { eq: read(''), ne: unequal(read('')), pr: present };

/** Kind → operator → what it asks. */
const operators: Partial<Readonly<Record<SearchParameterKind, Readonly<Record<string, Compare>>>>> = {
  string: {
    eq: wholeText,
    ne: unequal(wholeText),
    co: read('contains'),
    sw: read(''),
    ew: endOfText,
    pr: present,
  },
  token: { ...whole, ss: read('above'), sb: read('below') },
  uri: { ...whole, ss: read('above'), sb: read('below') },
  reference: { ...whole, re: read('') },
  number: ordered,
  quantity: ordered,
  date: { ...ordered, po: overlaps },
};

/**
 * The condition of one comparison.
 * @throws PraxisError `search-invalid` for an operator that the kind of the parameter does not have, or a malformed value
 */
export function compare(parameter: Parameter, compared: Compared, context: ValueContext): SearchCondition {
  const known = operators[parameter.definition.type] ?? {};
  const found = Object.hasOwn(known, compared.operator) ? known[compared.operator] : undefined;
  if (found === undefined) {
    const words = Object.keys(known).join(', ') || 'none';
    return refuseFilter(
      `compares ${parameter.code} of ${parameter.type} by an operator it does not take; it takes ${words}`,
    );
  }
  return found(parameter, compared, context);
}

function criterionOf(parameter: Parameter, modifier: string, value: string, context: ValueContext): Criterion {
  const reading = parameter.kind.reading(parameter, modifier);
  if (reading === undefined)
    return refuseFilter(`compares ${parameter.code} of ${parameter.type} by an operator that its values do not have`);
  return buildCriterion(parameter, [reading.parse(value, context)], reading);
}

/** A value as search parameters write it: without separators of several values; in quotes no character has a meaning. */
function escaped({ value, quoted }: Compared): string {
  return value.replace(quoted ? /[\\,$|]/g : /[\\,$]/g, '\\$&');
}

function requireFolded(value: string): string {
  const folded = foldText(value);
  if (folded === '') refuseFilter('needs a text with at least one letter or digit: punctuation is not searched');
  return folded;
}
