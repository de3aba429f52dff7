/** From resources to the writes of one transaction: validated as the API validates, each on top of the version before. */
import { type JsonObject, resourceTypesWithEndpoint } from '@praxis/fhir';
import { forgetValue } from '../../access/disclosure.ts';
import { type ErrorIssue, PraxisError } from '../../base/errors.ts';
import { type BuildWriteContext, buildWrite, requireResource, requireValidId } from '../../engine/write/build-write.ts';
import { findNewBreaches, findOwnBreaches, toInvariantIssue } from '../../engine/write/invariants.ts';
import { listCodesOutsideBinding } from '../../practice/value-sets/binding.ts';
import { readKeptCodes } from '../../practice/value-sets/store.ts';
import { firmValueSets } from '../../practice/value-sets/table.ts';
import type { CurrentVersion, ResourceWrite } from '../../storage/store.ts';
import { type Loader, withRights } from './loader.ts';
import { describeProblem, type ImportProblem, makeProblem } from './problem.ts';

/** A resource to store, with its id and where it came from (`patients.ndjson:17`). */
export interface ImportItem {
  readonly resource: JsonObject;
  readonly origin: string;
  /** Bytes of its text, about: they bound the memory of a batch. Absent: small. */
  readonly size?: number;
  /** `Patient/123`, where it is known without the resource. */
  readonly name?: string;
  /** Lets the resource go, which is read again when it is asked for. Absent: it stays. */
  forget?(): void;
}

export interface PlannedItem {
  readonly item: ImportItem;
  readonly write: ResourceWrite;
}

export interface ImportPlan {
  /** What it was made of, whatever became of it: with one of them less the others may be other versions. */
  readonly given: readonly ImportItem[];
  readonly items: readonly PlannedItem[];
  readonly problems: readonly ImportProblem[];
  /** Items whose id is there already, where such are passed over. */
  readonly skipped: number;
  /** What is stored nevertheless: words, with how often. */
  readonly notes: Readonly<Record<string, number>>;
}

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/** `Patient/123` */
export function getResourceName(item: ImportItem): string {
  if (item.name !== undefined) return item.name;
  const { resource } = item;
  return `${String(resource.resourceType)}/${String(resource.id)}`;
}

/** Why the resource cannot be stored at any firm; undefined: it can. */
export function findProblem({ rules, context }: Loader, { resource, origin }: ImportItem): ImportProblem | undefined {
  if (!rules.validate) return undefined;
  try {
    const type = String(resource.resourceType);
    requireResource(resource, type, context.budget);
    requireValidId(typeof resource.id === 'string' ? resource.id : '');
    if (served.has(type)) return undefined;
    return describeProblem(origin, 'type-unknown', `${type}: is not stored, since it has no endpoint to read it from`);
  } catch (error) {
    if (!(error instanceof PraxisError)) throw error;
    return makeProblem(origin, error);
  }
}

/** Plans in a row of which nothing is there, after which the next are taken to be as new: most imports fill a firm. */
const newPlansMin = 3;

/**
 * The writes of valid resources, at most `batchMax`, of which the same may occur twice: later ones on top of earlier ones. Where all
 * were new for a while, nobody looks what is there: the database refuses the plan where something is, and `expectOld` is called.
 */
export async function planBatch(loader: Loader, items: readonly ImportItem[]): Promise<ImportPlan> {
  if (loader.newPlans < newPlansMin) return await makePlan(loader, items, true);
  const plan = await makePlan(loader, items, false);
  // A version that is there may excuse what was refused.
  return plan.problems.length === 0 ? plan : await makePlan(loader, items, true);
}

/** From now on each plan is made on top of what is there. */
export function expectOld(loader: Loader): void {
  loader.newPlans = Number.NEGATIVE_INFINITY;
}

async function makePlan(loader: Loader, items: readonly ImportItem[], looks: boolean): Promise<ImportPlan> {
  return await withRights(loader, async (context) => {
    const current = looks ? await readCurrent(loader, context, items) : [];
    const there = new Map(current.map((row) => [`${row.type}/${row.id}`, row]));
    const drafts = new Drafts(items, there);
    for (const item of items) await planItem(loader, context, drafts, item);
    await noteStrangeCodes(loader, context, drafts);
    // Plans wait for the database: as texts they take a fraction of the memory, and of the time of the garbage collector.
    for (const item of items) item.forget?.();
    for (const { write } of drafts.items) if (write.content !== null) forgetValue(write.content);
    return drafts;
  });
}

async function readCurrent(
  loader: Loader,
  { scope }: BuildWriteContext,
  items: readonly ImportItem[],
): Promise<readonly CurrentVersion[]> {
  const unique = new Map(items.map((item) => [getResourceName(item), item]));
  const keys = [...unique.values()].map(({ resource }) => ({
    type: String(resource.resourceType),
    id: String(resource.id),
  }));
  const current = keys.length === 0 ? [] : await loader.platform.store.currentVersions(scope, keys);
  if (current.length > 0) expectOld(loader);
  else loader.newPlans += 1;
  return current;
}

class Drafts implements ImportPlan {
  readonly given: readonly ImportItem[];
  readonly items: PlannedItem[] = [];
  readonly problems: ImportProblem[] = [];
  skipped = 0;
  readonly notes: Record<string, number> = {};
  readonly #stored: ReadonlyMap<string, CurrentVersion>;
  readonly #writes = new Map<string, ResourceWrite>();

  constructor(given: readonly ImportItem[], stored: ReadonlyMap<string, CurrentVersion>) {
    this.given = given;
    this.#stored = stored;
  }

  /** The version before, of the same plan or stored. */
  find(key: string): Pick<CurrentVersion, 'versionId' | 'deleted'> | undefined {
    const write = this.#writes.get(key);
    if (write === undefined) return this.#stored.get(key);
    return { versionId: write.expectedVersion + 1, deleted: false };
  }

  /** The version before that is of the same plan. */
  findWrite(key: string): ResourceWrite | undefined {
    return this.#writes.get(key);
  }

  add(planned: PlannedItem): void {
    const { type, id } = planned.write;
    this.items.push(planned);
    this.#writes.set(`${type}/${id}`, planned.write);
  }

  note({ diagnostics }: ErrorIssue): void {
    const words = diagnostics.replaceAll(/\[\d+\]/g, '');
    this.notes[words] = (this.notes[words] ?? 0) + 1;
  }
}

async function planItem(loader: Loader, context: BuildWriteContext, drafts: Drafts, item: ImportItem): Promise<void> {
  const { resource, origin } = item;
  const type = String(resource.resourceType);
  const id = String(resource.id);
  const before = drafts.find(`${type}/${id}`);
  if (before !== undefined && loader.rules.mode === 'skip-existing') {
    drafts.skipped += 1;
    return;
  }
  if (before !== undefined && loader.rules.mode === 'create') {
    const fact = before.deleted ? 'was deleted, so its id is in use' : 'is there already, so its id is in use';
    drafts.problems.push(describeProblem(origin, 'duplicate', `${type}/${id} ${fact}`, `${type}.id`));
    return;
  }
  try {
    const expectedVersion = before?.versionId ?? 0;
    const interaction = expectedVersion === 0 ? 'create' : 'update';
    const write = await buildWrite(context, interaction, type, id, resource, expectedVersion);
    const broken = await judgeInvariants(loader, context, drafts, write);
    if (broken === undefined) drafts.add({ item, write });
    else drafts.problems.push(makeProblem(origin, broken));
  } catch (error) {
    if (!(error instanceof PraxisError) || error.code === 'stale-access' || error.code === 'unavailable') throw error;
    drafts.problems.push(makeProblem(origin, error));
  }
}

/** The error of the invariants that the write breaks and the version before did not; undefined: there are none. */
async function judgeInvariants(
  { rules, platform }: Loader,
  { scope, budget }: BuildWriteContext,
  drafts: Drafts,
  { type, id, expectedVersion, breaches = [] }: ResourceWrite,
): Promise<Pick<PraxisError, 'code' | 'issues'> | undefined> {
  if (breaches.length === 0) return undefined;
  if (rules.lenientInvariants) {
    for (const breach of breaches) drafts.note(toInvariantIssue(breach));
    return undefined;
  }
  const draft = drafts.findWrite(`${type}/${id}`);
  const read = async () => (expectedVersion === 0 ? undefined : await platform.store.read(scope, type, id));
  const own =
    draft === undefined
      ? await findOwnBreaches(breaches, await read(), budget)
      : findNewBreaches(draft.breaches ?? [], breaches);
  const issues = own.map(toInvariantIssue);
  return issues.length === 0 ? undefined : { code: 'invariant-broken', issues };
}

/** Who brings records along brings their codes (docs/decisions/0205): they are told, not refused. */
async function noteStrangeCodes(
  { platform, rules }: Loader,
  context: BuildWriteContext,
  drafts: Drafts,
): Promise<void> {
  if (!rules.validate) return;
  const ids = firmValueSets.map(({ id }) => id);
  const all = await readKeptCodes(platform.store, context.scope, ids);
  if (all.size === 0) return;
  const codes = { keptCodes: async () => all, maySeeCodes: true, budget: context.budget };
  for (const { item } of drafts.items) {
    const { resource } = item;
    for (const issue of await listCodesOutsideBinding(codes, String(resource.resourceType), undefined, resource))
      drafts.note(issue);
  }
}
