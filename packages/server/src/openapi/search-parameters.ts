/**
 * Search parameters: those of each type, those that every search takes, and those that say how results are shown
 * (https://hl7.org/fhir/R4/search.html).
 */
import {
  getSearchParameters,
  resourceTypesWithEndpoint,
  type SearchParameter,
  type SearchParameterKind,
} from '@praxis/fhir';
import { isWritable } from '../engine/write/read-only-types.ts';
import { prefixes } from '../search/kinds/prefixes.ts';
import { isSearchable } from '../search/query/query.ts';
import { summaries, totals } from '../search/query/result-parameters.ts';
import { getPageRowsMax } from '../search/resource-types.ts';
import {
  buildComponentRef,
  buildParameter,
  buildParameterRefs,
  buildSchemaRef,
  buildTextSchema,
  type ParameterObject,
  type ReferenceObject,
  type Schema,
} from './openapi.ts';
import { makeSearchExample } from './search-examples.ts';

const ordered = `A prefix compares: ${prefixes.join(', ')}; none means eq.`;

/** How the values of a kind are written: https://hl7.org/fhir/R4/search.html#ptypes */
const kindTexts: Readonly<Record<SearchParameterKind, string>> = {
  string: 'Begins with the value, whatever the case and the accents. Modifiers: exact, contains, missing.',
  token:
    'A code, an identifier, or a boolean: code, system|code, |code or system|. Modifiers, where the element has them: not, text, in, not-in, above, below, of-type, missing.',
  date: `A date or an instant, of any precision. ${ordered} Given twice, both bound the range. Modifier: missing.`,
  reference:
    'An id, Type/id, or a URL. A chain goes on after a dot: patient.birthdate. Modifiers: a type, identifier, missing.',
  number: `A number, as exact as it is written. ${ordered} Modifier: missing.`,
  quantity: `number, number|system|code or number||code; units of UCUM are converted. ${ordered} Modifier: missing.`,
  uri: 'The whole URI. Modifiers: above, below, missing.',
  composite: 'Values of several parameters of one element, joined by $.',
  special: 'As the description says.',
};

/** One schema for each kind of search parameter. */
export function searchSchemas(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    Object.entries(kindTexts).map(([kind, text]) => [
      kindSchema(kind),
      {
        description: `${text} Commas mean "or". A repeated parameter means "and".`,
        type: 'array',
        items: { type: 'string' },
      },
    ]),
  );
}

function kindSchema(kind: string): string {
  return `search.${kind}`;
}

/** Those of a type that are served, by code. */
function servedParameters(type: string): readonly SearchParameter[] {
  return [...getSearchParameters(type).values()].filter((parameter) => isSearchable(parameter));
}

/** References to what a search of a type takes: its own parameters first. */
export function searchParameterRefs(type: string): readonly ReferenceObject[] {
  return [...buildCriterionRefs(type), ...buildParameterRefs(listParameters)];
}

/** References to what says which resources of a type are meant, not how they are shown. */
export function buildCriterionRefs(type: string): readonly ReferenceObject[] {
  return buildParameterRefs([
    ...servedParameters(type).map((parameter) => componentName({ type, parameter })),
    ...Object.keys(generalParameters),
  ]);
}

/** Has the parameters that all types have. */
export const anyType = 'Basic';

/** References to what a search takes that is not of one type known beforehand; `_type` where it may be of several. */
export function openSearchRefs(isOfSeveral: boolean): readonly ReferenceObject[] {
  const ofEveryType = servedParameters(anyType).filter(({ base }) => base.includes('Resource'));
  return buildParameterRefs([
    ...(isOfSeveral ? ['_type'] : []),
    ...ofEveryType.map((parameter) => componentName({ type: anyType, parameter })),
    ...Object.keys(generalParameters),
    ...listParameters,
  ]);
}

/** The schema of a type's search parameters as one object: a form, or the criteria of a conditional interaction. */
export function searchForm(type: string): Schema {
  return buildSchemaRef(formName(type));
}

/** The same for searches that are not of one type known beforehand. */
export const openSearchForm: Schema = {
  type: 'object',
  additionalProperties: { type: ['array', 'string'], items: { type: 'string' } },
};

function formName(type: string): string {
  return `search.of.${type}`;
}

/** The parameters of each type as an object whose members are names and values. */
export function searchForms(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    resourceTypesWithEndpoint.map((type) => [
      formName(type),
      {
        description: 'Search parameters. Names may have modifiers, chains and _has.',
        type: 'object',
        properties: Object.fromEntries(
          servedParameters(type).map(({ code, type: kind }) => [code, buildSchemaRef(kindSchema(kind))]),
        ),
        additionalProperties: openSearchForm.additionalProperties,
      },
    ]),
  );
}

/** A reference to the criteria of a conditional interaction with a type. */
export function buildCriteriaRef(type: string): ReferenceObject {
  return buildComponentRef('parameters', `criteria.${type}`);
}

/** The criteria in the query of a conditional interaction (https://hl7.org/fhir/R4/http.html#cond-update). */
function criteriaParameter(type: string): ParameterObject {
  return {
    name: 'criteria',
    in: 'query',
    description: 'Search parameters that match at most one resource. Each is a parameter of the query.',
    required: true,
    style: 'form',
    explode: true,
    schema: searchForm(type),
  };
}

/** A search parameter as one type has it. */
interface OfType {
  readonly type: string;
  readonly parameter: SearchParameter;
}

/** `search.individual-birthdate`; with the type behind it where types describe the parameter differently. */
function componentName({ type, parameter: { url } }: OfType): string {
  const last = url.slice(url.lastIndexOf('/') + 1);
  descriptions ??= descriptionsByUrl();
  return (descriptions.get(url)?.size ?? 0) > 1 ? `search.${last}.${type}` : `search.${last}`;
}

let descriptions: ReadonlyMap<string, ReadonlySet<string>> | undefined;

function descriptionsByUrl(): ReadonlyMap<string, ReadonlySet<string>> {
  const byUrl = Map.groupBy(everyParameter(resourceTypesWithEndpoint), ({ parameter }) => parameter.url);
  return new Map([...byUrl].map(([url, those]) => [url, new Set(those.map(({ parameter }) => parameter.description))]));
}

function everyParameter(types: readonly string[]): readonly OfType[] {
  return types.flatMap((type) => servedParameters(type).map((parameter) => ({ type, parameter })));
}

/** Every search parameter of the types, those that several share once. */
function registryParameters(types: readonly string[]): readonly [string, ParameterObject][] {
  const named = everyParameter(types).map((each): [string, ParameterObject] => {
    const { code, description, type } = each.parameter;
    const parameter = buildParameter('query', code, description, buildSchemaRef(kindSchema(type)));
    const example = makeSearchExample(each.type, code);
    return [componentName(each), { ...parameter, ...(example === undefined ? {} : { example: [example] }) }];
  });
  return [...new Map(named)].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** What every search takes beside the registry. */
const generalParameters = describeAll({
  _filter: [
    'A filter expression: https://hl7.org/fhir/R4/search_filter.html',
    buildTextSchema('birthdate ge 1990 and not (gender eq female)'),
  ],
  _list: ['The id of a List: what it names is searched.', { type: 'string' }],
});

/** How results are shown and paged: https://hl7.org/fhir/R4/search.html#return */
const resultParameters = describeAll({
  _sort: [
    'Search parameters, separated by commas; a leading hyphen sorts downwards. Resources without the value come last.',
    buildTextSchema('-_lastUpdated'),
  ],
  _count: [
    `Rows of a page: at most that of the type, from ${Math.min(...pageSizes())} to ${Math.max(...pageSizes())}. 0 asks for the total only.`,
    { type: 'integer', minimum: 0 },
  ],
  page: ['Number of the page, from 1. The links of the answer reach any depth.', { type: 'integer', minimum: 1 }],
  _cursor: ['Where the page begins: comes with the links of an answer.', { type: 'string' }],
  _total: ['How exactly Bundle.total has to be known.', { type: 'string', enum: totals }],
  _summary: ['What of each resource is returned.', { type: 'string', enum: summaries }],
  _elements: ['Elements of each resource to return, separated by commas.', { type: 'string' }],
  _include: [
    'Also what the matches refer to: Type:parameter, Type:parameter:target or *. `_include:iterate` goes on.',
    buildSchemaRef('search.include'),
  ],
  _revinclude: [
    'Also what refers to the matches: Type:parameter. `_revinclude:iterate` goes on.',
    buildSchemaRef('search.include'),
  ],
});

/** Name of the component of `_format` where the answer is a list. */
export const formatOfLists = '_format.lists';

/** The form of an answer: https://hl7.org/fhir/R4/http.html#parameters */
const formParameters: Readonly<Record<string, ParameterObject>> = {
  ...describeAll({
    _format: ['The format of the answer; comes before Accept.', { type: 'string', enum: ['json', 'xml'] }],
    _pretty: ['Lines and indentation for people.', { type: 'boolean' }],
  }),
  [formatOfLists]: buildParameter('query', '_format', 'The format of the answer; comes before Accept.', {
    type: 'string',
    enum: ['json', 'xml', 'ndjson'],
  }),
};

/** Components of what says how a list is shown. */
const listParameters = [...Object.keys(resultParameters), formatOfLists, '_pretty'];

const ofSystem = describeAll({
  _type: ['The types to search, separated by commas.', buildTextSchema('Patient,Practitioner')],
});

function describeAll(
  texts: Readonly<Record<string, readonly [description: string, schema: Schema]>>,
): Readonly<Record<string, ParameterObject>> {
  const described = Object.entries(texts).map(([name, text]) => [name, buildParameter('query', name, ...text)]);
  return Object.fromEntries(described);
}

function pageSizes(): readonly number[] {
  return resourceTypesWithEndpoint.map(getPageRowsMax);
}

/** The parameters above as components, with the search parameters of these types. */
export function searchParameterComponents(types: readonly string[]): Readonly<Record<string, ParameterObject>> {
  const criteria = types.filter(isWritable).map((type) => [`criteria.${type}`, criteriaParameter(type)] as const);
  const others = Object.fromEntries([...criteria, ...registryParameters(types)]);
  return { ...ofSystem, ...generalParameters, ...resultParameters, ...formParameters, ...others };
}

/** Values of `_include` and `_revinclude`. */
export const includeSchema: Readonly<Record<string, Schema>> = {
  'search.include': { type: 'array', items: { type: 'string' }, examples: [['Encounter:subject']] },
};
