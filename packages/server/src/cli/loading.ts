/**
 * Storing many resources from outside the API: imports and synthetic practices. Batches of writes share a statement; a
 * resource is stored whole or not at all, and one that fails does not stop the others.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type Budget, type InvariantBreach, type JsonObject, resourceTypesWithEndpoint } from '@praxis/fhir';
import type { Platform } from '../app.ts';
import { type ErrorIssue, PraxisError } from '../base/errors.ts';
import { makeUuid } from '../base/ids.ts';
import { StatementError } from '../database/sqlstate.ts';
import { type BuildWriteContext, buildWrite, requireResource, requireValidId } from '../engine/write/build-write.ts';
import { buildBaseUrl, openOrigins } from '../http/origins.ts';
import { openOperatorBudget } from '../limits/budgets.ts';
import { requestBackfill } from '../practice/booking/backfill-statements.ts';
import { listCodesOutsideBinding } from '../practice/value-sets/binding.ts';
import { readKeptCodes } from '../practice/value-sets/store.ts';
import { firmValueSets } from '../practice/value-sets/table.ts';
import { CostlyParameters } from '../search/index/costly-parameters.ts';
import type { ResourceWrite, WriteOutcome } from '../storage/store.ts';
import type { Firm } from '../tenancy/firms.ts';
import { openOperatorScope } from '../tenancy/operator.ts';

/** Resources written by one statement, at most. */
const batchSize = 200;
/** Bytes of their texts, about; a resource larger than this is a batch of its own. */
const batchBytesMax = 8 * 1024 * 1024;
/** Times that a write is tried on top of what others have written in between. */
const attemptsMax = 4;

/** A resource to store, with its id and where it came from (`patients.ndjson:17`). */
export interface LoadItem {
  readonly resource: JsonObject;
  readonly origin: string;
  /** Bytes of its text, about: they bound the memory of a batch. Absent: small. */
  readonly size?: number;
}

/** Why one resource was not stored. */
export interface LoadProblem {
  readonly origin: string;
  readonly diagnostics: string;
  /** What else is wrong with it. */
  readonly more?: readonly string[];
}

interface LoadOptions {
  /** False only for what this program made itself and its tests validate. */
  readonly validate: boolean;
  /** After each batch: resources stored so far. */
  readonly onProgress?: (stored: number) => void;
  /** Once for each resource that is not stored. */
  readonly onProblem: (problem: LoadProblem) => void;
  /**
   * Once for each code that is not in use in the value set that the firm keeps for its element: it is stored
   * nevertheless.
   */
  readonly onStrangeCode?: (issue: ErrorIssue) => void;
  /** Once for each invariant of R4 that a resource breaks (docs/decisions/0255): it is stored nevertheless. */
  readonly onBreach?: (breach: InvariantBreach) => void;
}

/**
 * Stores `items` at `firm` as new versions under their own ids. Returns how many were stored. Items with the same type and
 * id are stored in their order. While one batch is being written the next is read, validated and indexed; three are in
 * memory at most.
 * @throws PraxisError `unavailable` when the database is lost; what `onProgress` has told is stored
 */
export async function loadResources(
  platform: Platform,
  firm: Firm,
  items: AsyncIterable<LoadItem> | Iterable<LoadItem>,
  options: LoadOptions,
): Promise<number> {
  const loader: Loader = { platform, firm, options, context: await loadingContext(platform, firm) };
  let stored = 0;
  let writing = Promise.resolve(0);
  const written = async (): Promise<void> => {
    stored += await writing;
    writing = Promise.resolve(0);
    options.onProgress?.(stored);
  };
  try {
    for await (const batch of batchesOf(items, options, loader.context.budget)) {
      const writes = await plan(loader, batch);
      await tellStrangeCodes(loader, batch);
      for (const { breaches = [] } of writes) for (const breach of breaches) options.onBreach?.(breach);
      await written();
      writing = store(loader, batch, writes);
      writing.catch(() => undefined); // `written` gets it
      await turn(); // the statement leaves for the database before the next batch keeps this thread busy
    }
    await written();
  } finally {
    await writing.catch(() => undefined);
    // Appointments were agreed elsewhere: they take their time once the job has seen them (docs/decisions/0190).
    await platform.database.transaction(firm.id, (tx) => requestBackfill(tx, firm.id));
  }
  return stored;
}

/** Who brings records along brings their codes (docs/decisions/0205): they are told, not refused. */
async function tellStrangeCodes(loader: Loader, batch: readonly LoadItem[]): Promise<void> {
  const { onStrangeCode } = loader.options;
  if (onStrangeCode === undefined) return;
  const ids = firmValueSets.map(({ id }) => id);
  const all = await withRights(loader, ({ scope }) => readKeptCodes(loader.platform.store, scope, ids));
  const codes = { keptCodes: async () => all, maySeeCodes: true, budget: loader.context.budget };
  for (const { resource } of batch)
    for (const issue of await listCodesOutsideBinding(codes, String(resource.resourceType), undefined, resource))
      onStrangeCode(issue);
}

interface Loader {
  readonly platform: Platform;
  readonly firm: Firm;
  readonly options: LoadOptions;
  /** Read again when the operator's rights have changed. */
  context: BuildWriteContext;
}

async function loadingContext(platform: Platform, firm: Firm): Promise<BuildWriteContext> {
  const { config, clock, database } = platform;
  const scope = await openOperatorScope(database, clock, firm);
  const origins = openOrigins(config, () => `http://${config.host}:${config.port}`);
  const baseUrl = buildBaseUrl(origins, { environment: firm.environment, firm: firm.prefix, product: scope.product });
  const caller = { flow: 'client', tokenId: makeUuid(), subject: 'praxis', requestId: makeUuid() } as const;
  return { scope, clock, caller, baseUrl, budget: openOperatorBudget() };
}

async function* batchesOf(
  items: AsyncIterable<LoadItem> | Iterable<LoadItem>,
  options: LoadOptions,
  budget: Budget,
): AsyncGenerator<LoadItem[]> {
  let batch: LoadItem[] = [];
  let bytes = 0;
  for await (const item of items) {
    if (options.validate && !isStorable(item, options, budget)) continue;
    const { size = 0 } = item;
    if (batch.length === batchSize || (batch.length > 0 && bytes + size > batchBytesMax)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

function isStorable({ resource, origin }: LoadItem, options: LoadOptions, budget: Budget): boolean {
  try {
    const type = String(resource.resourceType);
    requireResource(resource, type, budget);
    requireValidId(typeof resource.id === 'string' ? resource.id : '');
    if (served.has(type)) return true;
    options.onProblem({ origin, diagnostics: `${type}: is not stored, since it has no endpoint to read it from` });
    return false;
  } catch (error) {
    if (!(error instanceof PraxisError)) throw error;
    const [first, ...more] = error.issues.map((issue) => issue.diagnostics);
    options.onProblem({ origin, diagnostics: first ?? error.message, more });
    return false;
  }
}

/**
 * What `work` gives with the operator's present rights. When an epoch was raised in between (a firm was suspended and
 * resumed, for instance), the statement was refused before it did anything, so it is repeated.
 */
async function withRights<T>(loader: Loader, work: (context: BuildWriteContext) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(loader.context);
    } catch (error) {
      // A definition of the firm's that costs too much stops no import.
      if (error instanceof CostlyParameters)
        await loader.platform.store.failParameters(loader.context.scope, error.failed);
      const isStale = error instanceof PraxisError && error.code === 'stale-access';
      if (!isStale || attempt === attemptsMax) throw error;
      loader.context = await loadingContext(loader.platform, loader.firm);
    }
  }
}

/** The writes of a batch, each on top of the current version or of its predecessor in the batch. */
async function plan(loader: Loader, items: readonly LoadItem[]): Promise<ResourceWrite[]> {
  const keys = items.map(({ resource }) => ({ type: String(resource.resourceType), id: String(resource.id) }));
  const unique = [...new Map(keys.map((key) => [`${key.type}/${key.id}`, key])).values()];
  const current = await withRights(loader, ({ scope }) => loader.platform.store.currentVersions(scope, unique));
  const versions = new Map(current.map((row) => [`${row.type}/${row.id}`, row.versionId]));
  const planned = items.map(({ resource }, index) => {
    const { type, id } = keys[index] ?? { type: '', id: '' };
    const expectedVersion = versions.get(`${type}/${id}`) ?? 0;
    versions.set(`${type}/${id}`, expectedVersion + 1);
    return { type, id, resource, expectedVersion };
  });
  return await withRights(loader, async (context) => {
    const writes: ResourceWrite[] = [];
    for (const { type, id, resource, expectedVersion } of planned) {
      const interaction = expectedVersion === 0 ? 'create' : 'update';
      writes.push(await buildWrite(context, interaction, type, id, resource, expectedVersion));
    }
    return writes;
  });
}

/** Writes a planned batch; what lost a race against another writer is tried again on top of the newer version. */
async function store(loader: Loader, batch: readonly LoadItem[], planned: readonly ResourceWrite[]): Promise<number> {
  let waiting = batch;
  let writes = planned;
  let stored = 0;
  for (let attempt = 1; ; attempt += 1) {
    const results = await write(loader, waiting, writes);
    stored += results.filter((result) => result === 'written').length;
    waiting = waiting.filter((_, index) => results[index] === 'conflict');
    if (waiting.length === 0) return stored;
    if (attempt === attemptsMax) break;
    writes = await plan(loader, waiting);
  }
  for (const { origin } of waiting)
    loader.options.onProblem({ origin, diagnostics: 'others were changing the resource at the same time' });
  return stored;
}

/** What became of each write. One that the database refuses is searched out by halving, so that it stops no other. */
async function write(
  loader: Loader,
  items: readonly LoadItem[],
  writes: readonly ResourceWrite[],
): Promise<(WriteOutcome['outcome'] | 'refused')[]> {
  try {
    const outcomes = await withRights(loader, ({ scope }) => loader.platform.store.writeMany(scope, writes));
    return outcomes.map(({ outcome }) => outcome);
  } catch (error) {
    // The database is well and something about the statement's values is not.
    const isRefusal =
      error instanceof StatementError || (error instanceof PraxisError && error.code === 'statement-timeout');
    if (!isRefusal) throw error;
    const [only] = items;
    if (only !== undefined && items.length === 1) {
      loader.options.onProblem({ origin: only.origin, diagnostics: error.message });
      return ['refused'];
    }
    const middle = items.length >> 1;
    const before = await write(loader, items.slice(0, middle), writes.slice(0, middle));
    return [...before, ...(await write(loader, items.slice(middle), writes.slice(middle)))];
  }
}
