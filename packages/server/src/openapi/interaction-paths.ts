/**
 * Paths of the interactions: one for each shape of a path that the service knows, with the methods that it takes there
 * (engine/fhir-target.ts; https://hl7.org/fhir/R4/http.html#summary).
 */
import { compartments } from '@praxis/fhir';
import { type FhirTarget, methods, type TargetName } from '../engine/fhir-target.ts';
import { listMemberTypes } from '../engine/search/compartment.ts';
import { isWritable } from '../engine/write/read-only-types.ts';
import { isIntakeType } from '../practice/intake/proposing.ts';
import { buildAllRefusalRefs } from './error-answers.ts';
import { type DescribedInteraction, interactionTexts } from './interaction-texts.ts';
import {
  type DescribedMethod,
  describedMethods,
  type OperationObject,
  type ParameterObject,
  type PathItem,
  type Paths,
  type ReferenceObject,
  type RequestBody,
} from './openapi.ts';
import { buildFormBody, requestBodyRef } from './request-bodies.ts';
import { buildHeaderParameterRefs, buildHistoryRefs, buildPathParameterRefs } from './request-parameters.ts';
import {
  buildCriteriaRef,
  buildResultParameterRefs,
  openSearchForm,
  openSearchRefs,
  searchForm,
  searchParameterRefs,
} from './search-parameters.ts';
import { buildSuccessRef } from './success-answers.ts';

type Shape = FhirTarget['shape'];

interface ShapeText {
  /** Below the FHIR base; `{Type}` stands for a type. */
  readonly path: string;
  /** Ends operationIds, where one interaction is asked for at several paths. */
  readonly suffix: string;
}

/** Shapes of the base, of each type, of compartments; `metadata` and operations are described elsewhere. */
const systemShapes = {
  system: { path: '/', suffix: '' },
  'system-search': { path: '/_search', suffix: 'ByForm' },
  'system-history': { path: '/_history', suffix: '' },
} as const satisfies Partial<Record<Shape, ShapeText>>;

const typeShapes = {
  type: { path: '/{Type}', suffix: '' },
  search: { path: '/{Type}/_search', suffix: 'ByForm' },
  'type-history': { path: '/{Type}/_history', suffix: '' },
  instance: { path: '/{Type}/{id}', suffix: '' },
  history: { path: '/{Type}/{id}/_history', suffix: '' },
  version: { path: '/{Type}/{id}/_history/{versionId}', suffix: '' },
} as const satisfies Partial<Record<Shape, ShapeText>>;

const compartmentShapes = {
  compartment: { path: '/{Type}/{id}/{type}', suffix: 'Compartment' },
  'compartment-search': { path: '/{Type}/{id}/{type}/_search', suffix: 'CompartmentByForm' },
  'compartment-types': { path: '/{Type}/{id}/*', suffix: 'CompartmentTypes' },
  'compartment-types-search': { path: '/{Type}/{id}/*/_search', suffix: 'CompartmentTypesByForm' },
} as const satisfies Partial<Record<Shape, ShapeText>>;

type DescribedShape = keyof typeof systemShapes | keyof typeof typeShapes | keyof typeof compartmentShapes;

/** A shape of fhir-target.ts that is in none of these tables does not compile. */
type Undescribed = Exclude<Shape, DescribedShape | 'metadata' | 'operation'>;
const shapes: Readonly<Record<DescribedShape | Undescribed, ShapeText>> = {
  ...systemShapes,
  ...typeShapes,
  ...compartmentShapes,
};

/** Tag of what is asked of no single type. */
export const systemTag = 'System';

/** What an operation of a path is about. */
interface Place {
  readonly shape: DescribedShape;
  /** '' for the base. */
  readonly type: string;
}

/** The paths of the base. */
export function buildSystemPaths(): Paths {
  return pathsOf(Object.keys(systemShapes).map((shape) => ({ shape: shapeNamed(shape), type: '' })));
}

/** The paths of a type and, where it has one, of its compartment. */
export function buildTypePaths(type: string): Paths {
  const own = [...Object.keys(typeShapes), ...(compartments.has(type) ? Object.keys(compartmentShapes) : [])];
  return pathsOf(own.map((shape) => ({ shape: shapeNamed(shape), type })));
}

function shapeNamed(name: string): DescribedShape {
  if (isDescribed(name)) return name;
  throw new TypeError(`${name} is no shape of a path`);
}

function isDescribed(name: string): name is DescribedShape {
  return Object.hasOwn(shapes, name);
}

function pathsOf(places: readonly Place[]): Paths {
  return Object.fromEntries(places.map((place) => [templateOf(place), pathItem(place)]));
}

function templateOf({ shape, type }: Place): string {
  return shapes[shape].path.replace('{Type}', type);
}

function pathItem(place: Place): PathItem {
  const operations = describedMethods.flatMap((method) => {
    const interaction = methods[place.shape][method.toUpperCase()];
    return interaction === undefined || !isOffered(interaction, place.type)
      ? []
      : [[method, operationOf(place, method, interaction)] as const];
  });
  const own = buildPathParameterRefs(templateOf(place).replace('{type}', ''));
  const parameters = [...own, ...(place.shape.startsWith('compartment') ? compartmentTypes(place) : [])];
  return { ...(parameters.length > 0 ? { parameters } : {}), ...Object.fromEntries(operations) };
}

/** The types that can be in the compartment, where the path names one. */
function compartmentTypes({ shape, type }: Place): readonly ParameterObject[] {
  if (!shapes[shape].path.includes('{type}')) return [];
  const schema = { type: 'string', enum: [...new Set([type, ...listMemberTypes(type)])].sort() };
  return [{ name: 'type', in: 'path', description: 'The type to search.', required: true, schema }];
}

function isOffered(interaction: TargetName, type: string): interaction is DescribedInteraction {
  return interaction !== 'operation' && (type === '' || isWritable(type) || !changes(interaction));
}

function changes(interaction: DescribedInteraction): boolean {
  const { takes, verb } = interactionTexts[interaction];
  return takes !== undefined || /delete$/i.test(verb);
}

function operationOf(place: Place, method: DescribedMethod, interaction: DescribedInteraction): OperationObject {
  const {
    verb,
    summary,
    takes,
    descriptions = {},
    refusals: refused,
    answers,
    ...text
  } = interactionTexts[interaction];
  const { type } = place;
  const description = descriptions[type] ?? text.description;
  const body = requestBody(place, method, interaction);
  return {
    operationId: `${verb}${type === '' && interaction !== 'bundle' ? systemTag : type}${shapes[place.shape].suffix}`,
    summary: summaryOf(place, summary),
    ...(description === undefined ? {} : { description }),
    tags: [type === '' ? systemTag : type],
    parameters: parametersOf(place, method, interaction),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, name]) => [status, buildSuccessRef(name, type)])),
      ...(isIntakeType(type) && takes !== undefined ? { 202: buildSuccessRef('waiting', type) } : {}),
      ...buildAllRefusalRefs(refused),
    },
  };
}

function summaryOf({ shape, type }: Place, summary: string): string {
  if (shape === 'compartment' || shape === 'compartment-search') return `Search a type in the compartment of ${type}`;
  if (shape.startsWith('compartment')) return `Search the compartment of ${type}`;
  return summary.replace('{Type}', type);
}

function parametersOf(
  place: Place,
  method: DescribedMethod,
  interaction: DescribedInteraction,
): readonly (ParameterObject | ReferenceObject)[] {
  const { headers, history = [], shown } = interactionTexts[interaction];
  const refs = [...buildResultParameterRefs(shown), ...buildHistoryRefs(history), ...buildHeaderParameterRefs(headers)];
  if (interaction.startsWith('conditional-')) return [buildCriteriaRef(place.type), ...refs];
  if (!interaction.startsWith('search-') || method !== 'get') return refs;
  const search =
    place.shape === 'type' ? searchParameterRefs(place.type) : openSearchRefs(interaction === 'search-system');
  return [...search, ...refs];
}

function requestBody(
  { shape, type }: Place,
  method: DescribedMethod,
  interaction: DescribedInteraction,
): RequestBody | ReferenceObject | undefined {
  if (interaction.startsWith('search-') && method === 'post') {
    return buildFormBody(shape === 'search' ? searchForm(type) : openSearchForm);
  }
  const { takes } = interactionTexts[interaction];
  return takes === undefined ? undefined : requestBodyRef(takes, type);
}
