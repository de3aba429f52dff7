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
  buildParameterRefs,
  buildPathParameter,
  type DescribedMethod,
  describedMethods,
  type OperationObject,
  type ParameterObject,
  type PathItem,
  type Paths,
  type ReferenceObject,
} from './openapi.ts';
import { buildFormBody, requestBodyRef } from './request-bodies.ts';
import { buildHeaderParameterRefs, buildPathParameterRefs } from './request-parameters.ts';
import {
  buildCriteriaRef,
  openSearchForm,
  openSearchRefs,
  searchForm,
  searchParameterRefs,
} from './search-parameters.ts';
import { buildSuccessRef } from './success-answers.ts';

/** `metadata` and operations are described elsewhere. */
type DescribedShape = Exclude<FhirTarget['shape'], 'metadata' | 'operation'>;

interface ShapeText {
  /** What it is a path of. */
  readonly of: 'base' | 'type' | 'compartment';
  /** Below the FHIR base; `{Type}` stands for a type. */
  readonly path: string;
  /** Ends operationIds, where one interaction is asked for at several paths. */
  readonly suffix: string;
}

const shapes: Readonly<Record<DescribedShape, ShapeText>> = {
  system: { of: 'base', path: '/', suffix: '' },
  'system-search': { of: 'base', path: '/_search', suffix: 'ByForm' },
  'system-history': { of: 'base', path: '/_history', suffix: '' },
  type: { of: 'type', path: '/{Type}', suffix: '' },
  search: { of: 'type', path: '/{Type}/_search', suffix: 'ByForm' },
  'type-history': { of: 'type', path: '/{Type}/_history', suffix: '' },
  instance: { of: 'type', path: '/{Type}/{id}', suffix: '' },
  history: { of: 'type', path: '/{Type}/{id}/_history', suffix: '' },
  version: { of: 'type', path: '/{Type}/{id}/_history/{versionId}', suffix: '' },
  compartment: { of: 'compartment', path: '/{Type}/{id}/{type}', suffix: 'Compartment' },
  'compartment-search': { of: 'compartment', path: '/{Type}/{id}/{type}/_search', suffix: 'CompartmentByForm' },
  'compartment-types': { of: 'compartment', path: '/{Type}/{id}/*', suffix: 'CompartmentTypes' },
  'compartment-types-search': { of: 'compartment', path: '/{Type}/{id}/*/_search', suffix: 'CompartmentTypesByForm' },
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
  return pathsOf('', ['base']);
}

/** The paths of a type and, where it has one, of its compartment. */
export function buildTypePaths(type: string): Paths {
  return pathsOf(type, compartments.has(type) ? ['type', 'compartment'] : ['type']);
}

function pathsOf(type: string, wanted: readonly ShapeText['of'][]): Paths {
  const own = Object.keys(shapes)
    .filter(isDescribed)
    .filter((shape) => wanted.includes(shapes[shape].of));
  return Object.fromEntries(own.map((shape) => [templateOf({ shape, type }), pathItem({ shape, type })]));
}

function isDescribed(name: string): name is DescribedShape {
  return Object.hasOwn(shapes, name);
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
  return [buildPathParameter('type', 'The type to search.', schema)];
}

function isOffered(interaction: TargetName, type: string): interaction is DescribedInteraction {
  if (interaction === 'operation') return false;
  const { takes, verb } = interactionTexts[interaction];
  return type === '' || isWritable(type) || (takes === undefined && !/delete$/i.test(verb));
}

function operationOf(place: Place, method: DescribedMethod, interaction: DescribedInteraction): OperationObject {
  const text = interactionTexts[interaction];
  const { type } = place;
  const description = text.descriptions?.[type] ?? text.description;
  const body = requestBody(place, method, interaction);
  return {
    operationId: `${text.verb}${type === '' && interaction !== 'bundle' ? systemTag : type}${shapes[place.shape].suffix}`,
    summary: summaryOf(place, text.summary),
    ...(description === undefined ? {} : { description }),
    tags: [type === '' ? systemTag : type],
    parameters: parametersOf(place, method, interaction),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(
        Object.entries(text.answers).map(([status, name]) => [status, buildSuccessRef(name, type)]),
      ),
      ...(isIntakeType(type) && text.takes !== undefined ? { 202: buildSuccessRef('waiting', type) } : {}),
      ...buildAllRefusalRefs(text.refusals),
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
): readonly ReferenceObject[] {
  const { headers, history = [], shown } = interactionTexts[interaction];
  const refs = [...buildParameterRefs([...shown, ...history]), ...buildHeaderParameterRefs(headers)];
  if (interaction.startsWith('conditional-')) return [buildCriteriaRef(place.type), ...refs];
  if (!interaction.startsWith('search-') || method !== 'get') return refs;
  const search =
    place.shape === 'type' ? searchParameterRefs(place.type) : openSearchRefs(interaction === 'search-system');
  return [...search, ...refs];
}

function requestBody({ shape, type }: Place, method: DescribedMethod, interaction: DescribedInteraction) {
  if (interaction.startsWith('search-') && method === 'post') {
    return buildFormBody(shape === 'search' ? searchForm(type) : openSearchForm);
  }
  const { takes } = interactionTexts[interaction];
  return takes === undefined ? undefined : requestBodyRef(takes, type);
}
