/**
 * `_include` and `_revinclude`: which resources come with the matches of a page
 * (https://hl7.org/fhir/R4/search.html#revinclude). A value is `Type:parameter` or `Type:parameter:Target`; `*` stands for
 * every reference parameter, of the type or, alone, of every type.
 */
import { resourceTypesWithEndpoint, suggestName } from '@praxis/fhir';
import type { FirmSearchParameters } from '../../tenancy/search-parameters.ts';
import type { Parameter } from '../kinds/kind.ts';
import { getSearchableParameters, getStandardParameters } from '../parameters.ts';
import type { QueryParameter } from '../query/query-string.ts';
import { refuseValue } from '../query/search-values.ts';
import { suggestParameter } from '../query/suggest-parameter.ts';

/** Different `_include` and `_revinclude` of one search at most. */
export const includesMax = 30;

export const includeNames = ['_include', '_revinclude'] as const;
export type IncludeName = (typeof includeNames)[number];

export interface Include {
  /** `_include` follows references from a resource, `_revinclude` those that lead to it. */
  readonly name: IncludeName;
  /** Whether it is followed from included resources, too. */
  readonly iterate: boolean;
  /** Type of the resources whose references are followed; undefined: all. */
  readonly source: string | undefined;
  /** The parameter that selects the references; undefined: each reference parameter of the source. */
  readonly parameter: Parameter | undefined;
  /** The only type of resources that the references are followed to; undefined: all. */
  readonly target: string | undefined;
}

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);
const wild = '*';

/** Whether a search parameter of this name, modifier included, is one of these. */
export function isIncludeName(name: string): boolean {
  const [code] = name.split(':', 1);
  return includeNames.some((include) => include === code);
}

/**
 * The includes among all parameters of a search, each once, in the order given.
 * @param own search parameters of the firm's own
 * @throws PraxisError `search-invalid` (names the parameter and what would be right)
 */
export function parseIncludes(parameters: readonly QueryParameter[], own: FirmSearchParameters): readonly Include[] {
  const includes = new Map<string, Include>();
  for (const [name, value] of parameters) {
    if (isIncludeName(name)) includes.set(`${name}=${value}`, parseInclude(name, value, own));
  }
  if (includes.size > includesMax) {
    refuseValue('_include', `and _revinclude are given ${includes.size} times; at most ${includesMax} are taken`);
  }
  return [...includes.values()];
}

function parseInclude(given: string, value: string, own: FirmSearchParameters): Include {
  const colon = given.indexOf(':');
  const name = given.startsWith('_include') ? '_include' : '_revinclude';
  const iterate = colon >= 0 && isIterate(given, name, given.slice(colon + 1));
  const [source = '', code = '', target, ...more] = value.split(':');
  if (value === wild) return { name, iterate, source: undefined, parameter: undefined, target: undefined };
  if (value.includes(',')) refuseValue(given, `takes one value; repeat ${name} for more`);
  if (more.length > 0 || source === '' || code === '' || target === '') {
    refuseValue(given, 'takes Type:parameter, Type:parameter:Target, Type:* or *, such as Encounter:subject:Patient');
  }
  if (!served.has(source))
    refuseValue(
      given,
      `begins with what is not a resource type of R4, or * with more behind it${suggestName(source, served)}`,
    );
  const parameter = code === wild ? undefined : referenceParameter(given, source, code, own);
  if (target !== undefined) requireTarget(given, source, parameter, target, own);
  return { name, iterate, source, parameter, target };
}

function isIterate(given: string, name: IncludeName, modifier: string): boolean {
  if (modifier === 'iterate') return true;
  if (modifier === 'recurse') refuseValue(given, `has the name of an earlier FHIR; R4 calls it ${name}:iterate`);
  return refuseValue(given, `takes no modifier but ${name}:iterate`);
}

function referenceParameter(given: string, source: string, code: string, own: FirmSearchParameters): Parameter {
  const parameters = getSearchableParameters(source, own);
  const parameter = parameters.get(code);
  if (parameter === undefined)
    return refuseValue(
      given,
      `names no search parameter of ${source}${suggestParameter(source, code) || ';'} ${choiceOf(parameters)}`,
    );
  if (!isReference(parameter)) {
    return refuseValue(
      given,
      `takes reference parameters, and ${code} of ${source} is a ${parameter.definition.type}; ${choiceOf(parameters)}`,
    );
  }
  return parameter;
}

function choiceOf(parameters: ReadonlyMap<string, Parameter>): string {
  const codes = [...parameters.values()].filter(isReference).map(({ code }) => code);
  return codes.length === 0 ? 'it has no reference parameters' : `its reference parameters are ${codes.join(', ')}`;
}

function requireTarget(
  given: string,
  source: string,
  parameter: Parameter | undefined,
  target: string,
  own: FirmSearchParameters,
): void {
  if (!served.has(target))
    refuseValue(given, `ends with what is not a resource type of R4${suggestName(target, served)}`);
  const possible = parameter === undefined ? listReferenceParameters(source, own) : [parameter];
  if (possible.some(({ definition }) => definition.targets.includes(target))) return;
  if (parameter === undefined) refuseValue(given, `ends with ${target}, to which no reference of ${source} leads`);
  const targets = parameter.definition.targets.join(', ');
  refuseValue(given, `ends with ${target}, to which ${parameter.code} of ${source} does not lead, but to ${targets}`);
}

function isReference({ definition }: Parameter): boolean {
  return definition.type === 'reference';
}

const ofType = new Map<string, readonly Parameter[]>();

/**
 * The reference parameters of a type.
 * @param own search parameters of the firm's own
 */
export function listReferenceParameters(type: string, own: FirmSearchParameters): readonly Parameter[] {
  if (own.length > 0) return [...getSearchableParameters(type, own).values()].filter(isReference);
  const known = ofType.get(type);
  if (known) return known;
  const parameters = [...getStandardParameters(type).values()].filter(isReference);
  if (parameters.length > 0) ofType.set(type, parameters);
  return parameters;
}

/**
 * Whether the parameter selects references, rather than resources that stand in the element itself
 * (`Bundle.entry.resource`), which are in the answer already.
 */
export function refersElsewhere({ facts }: Parameter): boolean {
  return facts.dataTypes.has('Reference') || facts.dataTypes.has('canonical') || facts.dataTypes.has('uri');
}
