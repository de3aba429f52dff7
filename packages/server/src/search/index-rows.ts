/**
 * From a resource to its rows in the index tables, by all search parameters of its type.
 * https://hl7.org/fhir/R4/searchparameter-registry.html
 */
import { extractor, type JsonObject, type TypedValue } from '@praxis/fhir';
import { IndexRowBuilder, type IndexRows } from './index-row-builder.ts';
import type { IndexContext, Parameter } from './kind.ts';
import { parametersOf } from './parameters.ts';

export { emptyIndexRows, type IndexRows } from './index-row-builder.ts';
export type { IndexContext } from './kind.ts';

interface Indexer {
  readonly parameter: Parameter;
  readonly extract: (resource: JsonObject) => TypedValue[];
}

const indexersByType = new Map<string, readonly Indexer[]>();

/**
 * The index rows of a valid resource; every row is different from every other one.
 * @param type its resource type
 */
export function indexResource(type: string, resource: JsonObject, context: IndexContext): IndexRows {
  return rowsOf(indexersOf(type), resource, context);
}

/** The rows of its elements, without those of its words: enough to test criteria on, in a third of the time. */
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
  const indexers: Indexer[] = [];
  for (const parameter of parametersOf(type).values()) {
    const { expression, components } = parameter.definition;
    if (parameter.kind.table === 'resource') continue;
    const selects = expression === undefined || components !== undefined ? undefined : extractor(type, expression);
    indexers.push({ parameter, extract: selects ?? itself });
  }
  indexersByType.set(type, indexers);
  return indexers;
}

/** What parameters without an expression read, and composites, which select tuples by themselves. */
function itself(resource: JsonObject): TypedValue[] {
  const type = String(resource['resourceType']);
  return [{ type, value: resource, path: type }];
}
