/**
 * From a resource to its rows in the index tables, by all search parameters of its type, the firm's own among them.
 * https://hl7.org/fhir/R4/searchparameter-registry.html
 */
import {
  type Budget,
  type BudgetedWork,
  compileExtractor,
  type Extract,
  type JsonObject,
  openAllotment,
  type StepBudget,
  type TypedValue,
} from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { FirmSearchParameters } from '../../tenancy/search-parameters.ts';
import { type IndexContext, type IndexingContext, makeAll, type Parameter, type RowParts } from '../kinds/kind.ts';
import { getStandardParameters, listIndexedParameters } from '../parameters.ts';
import { CostlyParameters, computeStepsMax, type FailedParameter } from './costly-parameters.ts';
import { IndexRowBuilder, type IndexRows } from './index-row-builder.ts';

export type { IndexContext } from '../kinds/kind.ts';
export { type IndexRows, makeIndexRows } from './index-row-builder.ts';

export interface ResourceContext extends IndexContext {
  /** Search parameters of the firm's own. */
  readonly searchParameters: FirmSearchParameters;
  /** Length of the resource's JSON text: the firm's own parameters may cost in proportion to it. */
  readonly characters: number;
}

interface Indexer {
  readonly parameter: Parameter;
  readonly extract: Extract<TypedValue[]>;
}

const indexersByType = new Map<string, readonly Indexer[]>();

interface OwnIndexer extends Indexer {
  /** Of the firm's parameter. */
  readonly id: number;
}

type OwnContext = ResourceContext & IndexingContext;

/** What the rows of R4's and the practices' parameters cost, for the sender of the resource. */
const indexing: BudgetedWork = {
  what: 'Indexing the resource',
  cheaper: 'send fewer elements, or several resources',
};

/** Index rows of one resource by one search parameter, at most: each costs every later version of the resource as well. */
export const rowsOfParameterMax = 10_000;

/** Index rows of one resource by all search parameters together, at most. */
export const rowsOfResourceMax = 30_000;

/**
 * The index rows of a valid resource; every row is different from every other one. Others go on while those of a large one
 * are made.
 * @param type its resource type
 * @param budget a step for each element that a search parameter looks at
 * @throws CostlyParameters, PraxisError `too-costly`
 */
export async function indexResource(
  type: string,
  resource: JsonObject,
  context: ResourceContext,
  budget: Budget,
): Promise<IndexRows> {
  const builder = new IndexRowBuilder();
  try {
    await makeInSlices(allRows(builder, type, resource, { ...context, budget, work: indexing }), budget);
  } catch (error) {
    if (error instanceof TooManyRows) refuseRows(error);
    throw error;
  }
  return builder.rows;
}

/** The rows of some parameters of the firm's own alone: those that were defined after the resource was stored. @throws as `indexResource` */
export async function indexByOwn(
  type: string,
  resource: JsonObject,
  context: ResourceContext,
  budget: Budget,
): Promise<IndexRows> {
  const builder = new IndexRowBuilder();
  try {
    await makeInSlices(ownRows(builder, type, resource, { ...context, budget, work: indexing }), budget);
  } catch (error) {
    if (!(error instanceof TooManyRows)) throw error;
    // The resource is stored, so it is the parameter that cannot be.
    const reason = `On a ${type} there are ${error.message}`;
    throw new CostlyParameters(context.searchParameters.map(({ id }) => ({ id, reason })));
  }
  return builder.rows;
}

/**
 * The rows of its elements, without those of its words and of the firm's own parameters: enough to test criteria on, in a
 * third of the time. They are not stored, so their number is not limited.
 * @param codes of the parameters whose rows are wanted; absent: all
 * @throws PraxisError `too-costly`
 */
export function indexElements(
  type: string,
  resource: JsonObject,
  context: IndexContext,
  budget: StepBudget,
  codes?: ReadonlySet<string>,
): IndexRows {
  const builder = new IndexRowBuilder();
  const indexers = indexersOf(type).filter(
    ({ parameter: { kind, code } }) => !kind.whole && (codes?.has(code) ?? true),
  );
  makeAll(rowsOf(builder, indexers, resource, { ...context, budget, work: indexing }, 'unlimited'));
  return builder.rows;
}

/** Parts, or 64 characters of text each, between two looks at the clock: a millisecond or two, and more than a small resource has. */
const partsPerBreath = 256;
const charactersPerPart = 64;

async function makeInSlices(parts: RowParts, budget: Budget): Promise<void> {
  let untilBreath = partsPerBreath;
  for (const characters of parts) {
    untilBreath -= 1 + characters / charactersPerPart;
    if (untilBreath > 0) continue;
    untilBreath = partsPerBreath;
    await budget.breathe(indexing);
  }
}

function* allRows(builder: IndexRowBuilder, type: string, resource: JsonObject, context: OwnContext): RowParts {
  yield* rowsOf(builder, indexersOf(type), resource, context, 'limited');
  yield* ownRows(builder, type, resource, context);
}

/** Makes the rows of some parameters while it is walked. @throws TooManyRows */
function* rowsOf(
  builder: IndexRowBuilder,
  indexers: readonly Indexer[],
  resource: JsonObject,
  context: IndexingContext,
  limits: 'limited' | 'unlimited',
): RowParts {
  for (const { parameter, extract } of indexers) {
    const before = builder.count;
    for (const value of extract(resource, context.budget, context.work)) {
      for (const characters of partsOf(value, parameter, context, builder)) {
        if (limits === 'limited') requireFewRows(builder.count, before, parameter, value.path);
        yield characters;
      }
    }
  }
}

function partsOf(value: TypedValue, parameter: Parameter, context: IndexingContext, builder: IndexRowBuilder) {
  const { kind } = parameter;
  if (kind.indexInParts !== undefined && typeof value.value === 'object')
    return kind.indexInParts(value, parameter, context, builder);
  kind.index(value, parameter, context, builder);
  return typeof value.value === 'string' ? [value.value.length] : noCharacters;
}

const noCharacters: readonly number[] = [0];

/** @throws TooManyRows */
function requireFewRows(count: number, before: number, { code }: Parameter, path: string): void {
  if (count - before > rowsOfParameterMax) throw new TooManyRows(code, path, rowsOfParameterMax, 'for it');
  if (count > rowsOfResourceMax) throw new TooManyRows(code, path, rowsOfResourceMax, 'for it and those before it');
}

/** The values of one resource fill more rows of the index than they may. */
class TooManyRows extends Error {
  readonly path: string;

  constructor(code: string, path: string, max: number, of: string) {
    super(`more values for the search parameter ${code} than the index takes: ${max} rows at most ${of}`);
    this.path = path;
  }
}

/** @throws PraxisError `too-costly` */
function refuseRows({ message, path }: TooManyRows): never {
  const element = path.replaceAll(/\[\d+\]/g, '');
  return fail('too-costly', {
    diagnostics: `${element} has ${message}. Nothing was changed. To make it cheaper: send fewer elements, or several resources`,
    expression: [element],
  });
}

/** Tells a parameter that has used up what it may cost from a request that has. */
class OwnStepsExceeded extends Error {}

/** Each parameter has steps of its own, so that a definition that costs too much refuses nobody's write. */
function* ownRows(builder: IndexRowBuilder, type: string, resource: JsonObject, context: OwnContext): RowParts {
  const failed: FailedParameter[] = [];
  for (const own of ownIndexersOf(type, context.searchParameters)) {
    const steps = computeStepsMax(context.characters);
    const budget = openAllotment(context.budget, steps, () => new OwnStepsExceeded());
    try {
      yield* rowsOf(builder, [own], resource, { ...context, budget }, 'limited');
    } catch (error) {
      if (!(error instanceof OwnStepsExceeded)) throw error;
      failed.push({
        id: own.id,
        reason: `Its expression is too costly: on a ${type} it took more than the ${steps} steps that a resource of that size allows. Let criteria look at the element itself, not at %resource`,
      });
    }
  }
  if (failed.length > 0) throw new CostlyParameters(failed);
}

function indexersOf(type: string): readonly Indexer[] {
  const known = indexersByType.get(type);
  if (known) return known;
  const indexers = [...getStandardParameters(type).values()].flatMap((parameter) => indexerOf(parameter) ?? []);
  indexersByType.set(type, indexers);
  return indexers;
}

const ownIndexers = new WeakMap<FirmSearchParameters, Map<string, readonly OwnIndexer[]>>();

function ownIndexersOf(type: string, own: FirmSearchParameters): readonly OwnIndexer[] {
  if (own.length === 0) return [];
  const ofList = ownIndexers.get(own) ?? new Map<string, readonly OwnIndexer[]>();
  ownIndexers.set(own, ofList);
  const known = ofList.get(type);
  if (known) return known;
  const indexers = listIndexedParameters(type, own).flatMap(({ id, parameter }) => {
    const indexer = indexerOf(parameter);
    return indexer === undefined ? [] : [{ id, ...indexer }];
  });
  ofList.set(type, indexers);
  return indexers;
}

/** Undefined for parameters whose values stand in the `resource` table itself. */
function indexerOf(parameter: Parameter): Indexer | undefined {
  if (parameter.kind.table === 'resource') return undefined;
  const { expression, components } = parameter.definition;
  const selects =
    expression === undefined || components !== undefined ? undefined : compileExtractor(parameter.type, expression);
  return { parameter, extract: selects ?? itself };
}

/** What parameters without an expression read, and composites, which select tuples by themselves. */
function itself(resource: JsonObject): TypedValue[] {
  const type = String(resource['resourceType']);
  return [{ type, value: resource, path: type }];
}
