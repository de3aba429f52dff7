/**
 * The name of a search parameter, which may lead over references: `patient.name` (a chain), `_has:Observation:patient:code`
 * (a reverse chain), and both inside each other. https://hl7.org/fhir/R4/search.html#chaining and #has
 */
import { resourceTypesWithEndpoint, type SearchParameter, suggestName } from '@praxis/fhir';
import type { FirmSearchParameters } from '../../tenancy/search-parameters.ts';
import { compare } from '../filter/comparisons.ts';
import {
  type FilterComparison,
  type FilterExpression,
  parseFilterExpression,
  refuseFilter,
} from '../filter/filter-expression.ts';
import type { Parameter, ValueContext } from '../kinds/kind.ts';
import { isResourceType } from '../numbers.ts';
import { getSearchableParameters, getStandardParameters } from '../parameters.ts';
import type { Combination, Linked, SearchCondition } from './condition.ts';
import { type CriterionLimits, parseCriterion, splitValues } from './criteria.ts';
import { buildMandatoryGroups, type RowCriterion } from './row-criteria.ts';
import { refuseValue, splitUnescaped } from './search-values.ts';
import { suggestParameter } from './suggest-parameter.ts';

/** Links that one parameter may follow, at most. */
export const chainLinksMax = 5;

/** Types that one link of a chain may lead to without naming one of them, at most. */
export const chainTypesMax = 12;

/** What the caller may search by on the types that its search leads to. */
export interface SearchRights {
  /**
   * The rows of `type` that the caller may see, by a search that uses all of `used`: those that meet all criteria of one of
   * the groups. Undefined: it may not search so.
   */
  rowsOf(type: string, used: readonly SearchParameter[]): readonly (readonly RowCriterion[])[] | undefined;
  /** @throws PraxisError `access-denied` for such a search */
  refuse(type: string, used: readonly SearchParameter[]): never;
}

export interface ConditionContext extends Omit<ValueContext, 'parameter' | 'name'> {
  readonly limits: CriterionLimits;
  /** Search parameters of the firm's own. */
  readonly searchParameters: FirmSearchParameters;
  readonly rights: SearchRights;
}

/** A condition, and the parameters of the searched type itself that it reads. */
export interface ParsedCondition {
  readonly condition: SearchCondition;
  readonly used: readonly SearchParameter[];
}

interface Step extends ConditionContext {
  /** The whole name, for messages. */
  readonly name: string;
  readonly value: string;
  /** Links that were followed so far. */
  readonly links: number;
  /** What is asked of the parameter at the end of the path. */
  readonly ask: (parameter: Parameter, modifier: string | undefined, step: Step) => SearchCondition;
  /** What is asked of the resources that a path ending in a dot leads to. */
  readonly end?: (type: string, step: Step) => ParsedCondition;
}

/**
 * The condition of `name=value` on a type; undefined when the type has no such parameter.
 * @throws PraxisError `search-invalid` (unknown modifier, malformed value, a link that leads nowhere, too many links),
 *   `access-denied` (no right to search a type that is led to, or by what it is searched)
 */
export function parseCondition(
  type: string,
  name: string,
  value: string,
  context: ConditionContext,
): ParsedCondition | undefined {
  return parsePath(type, name, { ...context, name, value, links: 0, ask: askByModifier });
}

function parsePath(type: string, path: string, step: Step): ParsedCondition | undefined {
  if (path === '' && step.end !== undefined) return step.end(type, step);
  if (path.startsWith('_has:')) return parseHas(type, path, step);
  if (path === '_list') return parseList(type, step);
  if (path === '_filter') return parseFilter(type, parseFilterExpression(step.value), step);
  const dot = path.indexOf('.');
  const { code, modifier } = splitName(dot < 0 ? path : path.slice(0, dot));
  const parameter = getSearchableParameters(type, step.searchParameters).get(code);
  if (parameter === undefined) return undefined;
  const used = [parameter.definition];
  if (dot < 0 && asksForVersion(parameter, modifier, step)) return parseVersioned(type, parameter, step);
  if (dot >= 0) return { condition: parseChain(parameter, modifier, path.slice(dot + 1), step), used };
  return { condition: step.ask(parameter, modifier, step), used };
}

function askByModifier(parameter: Parameter, modifier: string | undefined, step: Step): SearchCondition {
  if (modifier === '') refuseValue(step.name, 'ends in a colon: a modifier has to follow, or nothing');
  return parseCriterion(modifier ?? '', step.value, { ...step, parameter }, step.limits);
}

/**
 * Of canonical resources `url` may name a business version, too: https://hl7.org/fhir/R4/search.html#uri. A `|` stands in no
 * URI, so it is never part of the URL itself.
 */
function asksForVersion({ type, code }: Parameter, modifier: string | undefined, { ask, value }: Step): boolean {
  // The value of `_filter` is the whole expression.
  if (ask !== askByModifier || code !== 'url' || modifier !== undefined) return false;
  return value.includes('|') && getStandardParameters(type).has('version');
}

/** `url|version`, each of several: the resource has both. */
function parseVersioned(type: string, parameter: Parameter, step: Step): ParsedCondition {
  const version = getStandardParameters(type).get('version');
  if (version === undefined) throw new TypeError(`${type} has no search parameter version`);
  const values = splitValues(step.value, step).map((value) => {
    const [url = '', ...versions] = splitUnescaped(value, '|');
    if (versions.length > 1) refuseValue(step.name, 'takes a URL, or a URL, one | and a version');
    const asked = (of: Parameter, text: string): ParsedCondition => ({
      condition: askByModifier(of, undefined, { ...step, value: text }),
      used: [of.definition],
    });
    return combined(type, 'all', [asked(parameter, url), ...versions.map((text) => asked(version, text))]);
  });
  return combined(type, 'any', values);
}

function splitName(name: string): { readonly code: string; readonly modifier: string | undefined } {
  const colon = name.indexOf(':');
  return colon < 0
    ? { code: name, modifier: undefined }
    : { code: name.slice(0, colon), modifier: name.slice(colon + 1) };
}

function parseChain(parameter: Parameter, onlyType: string | undefined, rest: string, step: Step): SearchCondition {
  const types = targetTypes(parameter, onlyType, step.name).filter((type) => leadsOn(type, rest, step));
  if (types.length === 0) {
    const led = onlyType ?? `what ${parameter.code} of ${parameter.type} refers to`;
    const known = targetTypes(parameter, onlyType, step.name).slice(0, chainTypesMax);
    const hint = known.map((type) => suggestParameter(type, rest)).find((each) => each !== '') ?? '';
    refuseValue(step.name, `follows ${parameter.code} to ${rest}, which is no search parameter of ${led}${hint}`);
  }
  if (types.length > chainTypesMax) {
    refuseValue(
      step.name,
      `leads to ${types.length} types; name one, as in ${parameter.code}:${types[0] ?? ''}.${rest} (at most ${chainTypesMax} are followed at once)`,
    );
  }
  const inner = followed(step);
  const linked = types.map((type) => ({ type, parsed: required(parsePath(type, rest, inner), type, rest, step.name) }));
  const open = linked.flatMap(({ type, parsed }) => linkedOf(type, [parsed], step) ?? []);
  const [first] = linked;
  if (open.length === 0 && first !== undefined) step.rights.refuse(first.type, first.parsed.used);
  return { kind: 'chain', parameter, targets: open };
}

function targetTypes({ type, code, definition }: Parameter, onlyType: string | undefined, name: string) {
  if (definition.type !== 'reference')
    refuseValue(name, `follows ${code} of ${type}, which is not a reference: only references can be followed by a dot`);
  if (onlyType === undefined) return definition.targets;
  if (!definition.targets.includes(onlyType)) {
    refuseValue(name, `follows ${code} of ${type} to ${onlyType}; it refers to ${definition.targets.join(', ')}`);
  }
  return [onlyType];
}

/** Whether the path has a meaning on the type: the parameters are there, and references where it goes on. */
function leadsOn(type: string, path: string, step: Step): boolean {
  if (path === '' || path.startsWith('_has:') || path === '_list') return true;
  const dot = path.indexOf('.');
  const { code, modifier } = splitName(dot < 0 ? path : path.slice(0, dot));
  const definition = getSearchableParameters(type, step.searchParameters).get(code)?.definition;
  if (definition === undefined || dot < 0) return definition !== undefined;
  const targets = definition.targets.filter((target) => modifier === undefined || target === modifier);
  return targets.some((target) => leadsOn(target, path.slice(dot + 1), step));
}

/** `_has:Type:reference:parameter`: https://hl7.org/fhir/R4/search.html#has */
function parseHas(type: string, path: string, step: Step): ParsedCondition {
  const [, source = '', code = '', ...rest] = path.split(':');
  const searched = rest.join(':');
  if (source === '' || code === '' || searched === '') {
    refuseValue(step.name, 'is written _has:Type:reference:parameter, for instance _has:Observation:patient:code');
  }
  if (!isResourceType(source))
    refuseValue(step.name, `names no resource type of R4 after _has:${suggestName(source, resourceTypesWithEndpoint)}`);
  const parameter = getSearchableParameters(source, step.searchParameters).get(code);
  if (parameter?.definition.type !== 'reference' || !parameter.definition.targets.includes(type)) {
    refuseValue(step.name, `needs a reference parameter of ${source} that can refer to ${type} after _has:${source}:`);
  }
  const parsed = required(parsePath(source, searched, followed(step)), source, searched, step.name);
  return { condition: hasOf(type, parameter, parsed, step), used: [] };
}

/** `_list=id`: the resources that a List names; the same as `_has:List:item:_id`. https://hl7.org/fhir/R4/search.html#list */
function parseList(type: string, step: Step): ParsedCondition {
  if (step.value.startsWith('$'))
    refuseValue(step.name, 'takes the id of a List; the functional lists are not kept here');
  const parameter = getStandardParameters('List').get('item');
  const parsed = parsePath('List', '_id', { ...followed(step), ask: askByModifier });
  if (parameter === undefined || parsed === undefined) throw new TypeError('R4 defines List item and _id');
  return { condition: hasOf(type, parameter, parsed, step), used: [] };
}

function hasOf(type: string, parameter: Parameter, parsed: ParsedCondition, step: Step): SearchCondition {
  const own = { condition: parsed.condition, used: [parameter.definition, ...parsed.used] };
  const source = linkedOf(parameter.type, [own], step) ?? step.rights.refuse(parameter.type, own.used);
  return { kind: 'has', type, parameter, source };
}

/** `_filter`: https://hl7.org/fhir/R4/search_filter.html */
function parseFilter(type: string, expression: FilterExpression, step: Step): ParsedCondition {
  switch (expression.kind) {
    case 'and':
    case 'or': {
      const parts = [parseFilter(type, expression.left, step), parseFilter(type, expression.right, step)];
      return combined(type, expression.kind === 'and' ? 'all' : 'any', parts);
    }
    case 'not':
      return combined(type, 'none', [parseFilter(type, expression.inner, step)]);
    case 'comparison':
      return parseComparison(type, expression, step);
  }
}

/** What is joined by one operator stands side by side: the time to plan a statement grows fast with what is inside each other. */
function combined(type: string, kind: Combination['kind'], parts: readonly ParsedCondition[]): ParsedCondition {
  const conditions = parts.flatMap(({ condition }) =>
    kind !== 'none' && condition.kind === kind && condition.type === type ? condition.conditions : [condition],
  );
  return { condition: { kind, type, conditions }, used: parts.flatMap(({ used }) => used) };
}

function parseComparison(type: string, { path, ...compared }: FilterComparison, step: Step): ParsedCondition {
  const at = path.findIndex(({ where }) => where !== undefined);
  const ask: Step['ask'] = (parameter, modifier, { name }) => {
    if (modifier !== undefined) refuseFilter('takes search parameters without modifiers');
    return compare(parameter, compared, { ...step, name, parameter });
  };
  if (at >= 0) return parseBracket(type, path, at, compared, step);
  const parsed = parsePath(type, path.map(({ code }) => code).join('.'), { ...step, ask });
  return parsed ?? refuseFilter(explainUnknown('names', path[0]?.code ?? '', type));
}

/** `patient[gender eq female].name eq stone`: both hold for the same patient. */
function parseBracket(
  type: string,
  path: FilterComparison['path'],
  at: number,
  compared: Omit<FilterComparison, 'path'>,
  step: Step,
): ParsedCondition {
  const until = path.slice(0, at + 1).map(({ code }) => code);
  const where = path[at]?.where;
  const rest = path.slice(at + 1);
  const ask = (): never => refuseFilter('has a bracket after what is no reference');
  const both = (target: string, inner: Step): ParsedCondition => {
    const parts = [parseComparison(target, { ...compared, path: rest }, inner)];
    if (where !== undefined) parts.push(parseFilter(target, where, inner));
    return combined(target, 'all', parts);
  };
  const parsed = parsePath(type, `${until.join('.')}.`, { ...step, ask, end: both });
  return parsed ?? refuseFilter(explainUnknown('names', until[0] ?? '', type));
}

/** Resources that a link leads to, with the caller's row restrictions; undefined when it may not search them so. */
function linkedOf(type: string, parsed: readonly ParsedCondition[], { rights }: Step): Linked | undefined {
  const groups = rights.rowsOf(
    type,
    parsed.flatMap(({ used }) => used),
  );
  if (groups === undefined) return undefined;
  return { type, criteria: parsed.map(({ condition }) => condition), mandatory: buildMandatoryGroups(type, groups) };
}

function followed(step: Step): Step {
  if (step.links >= chainLinksMax) refuseValue(step.name, `follows more than ${chainLinksMax} references`);
  return { ...step, links: step.links + 1 };
}

function required(parsed: ParsedCondition | undefined, type: string, path: string, name: string): ParsedCondition {
  return parsed ?? refuseValue(name, explainUnknown('leads to', path, type));
}

function explainUnknown(verb: string, code: string, type: string): string {
  return `${verb} ${code}, which is not a search parameter of ${type}${suggestParameter(type, code)}`;
}
