/**
 * From a resource to its rows in the index tables, by all search parameters of its type, the firm's own among them.
 * https://hl7.org/fhir/R4/searchparameter-registry.html
 */
import { extractor, type JsonObject, type TypedValue } from '@praxis/fhir';
import type { FirmSearchParameters } from '../tenancy/search-parameters.ts';
import { IndexRowBuilder, type IndexRows } from './index-row-builder.ts';
import type { IndexContext, Parameter } from './kind.ts';
import { ownParametersOf, standardParametersOf } from './parameters.ts';

export { emptyIndexRows, type IndexRows } from './index-row-builder.ts';
export type { IndexContext } from './kind.ts';

export interface ResourceContext extends IndexContext {
  /** Search parameters of the firm's own. */
  readonly searchParameters: FirmSearchParameters;
}

interface Indexer {
  readonly parameter: Parameter;
  readonly extract: (resource: JsonObject) => TypedValue[];
}

const indexersByType = new Map<string, readonly Indexer[]>();

/**
 * The index rows of a valid resource; every row is different from every other one.
 * @param type its resource type
 */
export function indexResource(type: string, resource: JsonObject, context: ResourceContext): IndexRows {
  return rowsOf([...indexersOf(type), ...ownIndexersOf(type, context.searchParameters)], resource, context);
}

/** The rows of some parameters of the firm's own alone: those that were defined after the resource was stored. */
export function indexByOwn(type: string, resource: JsonObject, context: ResourceContext): IndexRows {
  return rowsOf(ownIndexersOf(type, context.searchParameters), resource, context);
}

/** The rows of its elements, without those of its words and of the firm's own parameters: enough to test criteria on, in a third of the time. */
export function indexElements(type: string, resource: JsonObject, context: IndexContext): IndexRows {
  return rowsOf(
    indexersOf(type).filter(({ parameter }) => !parameter.kind.whole),
    resource,
    context,
  );
}

function rowsOf(indexers: readonly Indexer[], resource: JsonObject, context: IndexContext): IndexRows {
  const builder = new IndexRowBuilder();
  for (const { parameter, extract } of indexers) {
    for (const value of extract(resource)) parameter.kind.index(value, parameter, context, builder);
  }
  return builder.rows;
}

function indexersOf(type: string): readonly Indexer[] {
  const known = indexersByType.get(type);
  if (known) return known;
  const indexers = [...standardParametersOf(type).values()].flatMap((parameter) => indexerOf(parameter) ?? []);
  indexersByType.set(type, indexers);
  return indexers;
}

const ownIndexers = new WeakMap<FirmSearchParameters, Map<string, readonly Indexer[]>>();

function ownIndexersOf(type: string, own: FirmSearchParameters): readonly Indexer[] {
  if (own.length === 0) return [];
  const ofList = ownIndexers.get(own) ?? new Map<string, readonly Indexer[]>();
  ownIndexers.set(own, ofList);
  const known = ofList.get(type);
  if (known) return known;
  const indexers = ownParametersOf(type, own).flatMap((parameter) => indexerOf(parameter) ?? []);
  ofList.set(type, indexers);
  return indexers;
}

/** Undefined for parameters whose values stand in the `resource` table itself. */
function indexerOf(parameter: Parameter): Indexer | undefined {
  if (parameter.kind.table === 'resource') return undefined;
  const { expression, components } = parameter.definition;
  const selects =
    expression === undefined || components !== undefined ? undefined : extractor(parameter.type, expression);
  return { parameter, extract: selects ?? itself };
}

/** What parameters without an expression read, and composites, which select tuples by themselves. */
function itself(resource: JsonObject): TypedValue[] {
  const type = String(resource['resourceType']);
  return [{ type, value: resource, path: type }];
}
