/**
 * Group commit: single writes of an application at a firm that come while others of theirs are under way are sent together, as
 * one statement (docs/decisions/0285). Each write has the outcome that it would have alone; a write that comes while none is
 * under way waits for nothing.
 */
import { getStoredText } from '../access/disclosure.ts';
import { PraxisError } from '../base/errors.ts';
import { StatementError } from '../database/sqlstate.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { ResourceWrite, WriteOutcome } from './resources.ts';
import { withAllRows } from './writing.ts';

export interface GroupCommit {
  /** As `ResourceStore.write`. */
  write(scope: TenantScope, write: ResourceWrite): Promise<WriteOutcome>;
}

export interface GroupCommitOptions {
  /** As `ResourceStore.write`, by a statement of its own. */
  readonly sendAlone: (scope: TenantScope, write: ResourceWrite) => Promise<WriteOutcome>;
  /**
   * Sends the writes as one transaction; outcomes are in their order, undefined where the write has to be sent alone.
   * @param lockWaitMs how long it may wait for the locks of others
   */
  readonly sendTogether: (
    scope: TenantScope,
    writes: readonly ResourceWrite[],
    lockWaitMs: number,
  ) => Promise<readonly (WriteOutcome | undefined)[]>;
  /** @throws PraxisError `stale-access` when the rights of the scope have ended by time */
  readonly requireUnended: (scope: TenantScope) => void;
}

/** Statements of one application at one firm that are under way at once; further writes wait and become a group. */
const statementsMax = 2;

/** Nobody waits longer for a statement before: it waits for a lock, or the database is busy with others. */
const waitMaxMs = 25;

/** Writes of one group. */
const writesMax = 32;

/** Characters and index rows of a write that others may share a transaction with: none waits long for another. */
const charactersMax = 65_536;
const rowsMax = 1_000;

/** Of all writes of a group. */
const charactersOfGroupMax = 262_144;

/** How long a group waits for the lock of a row: then each of its writes is sent by itself, and waits for its own alone. */
const lockWaitMs = 50;

interface Waiting {
  readonly scope: TenantScope;
  readonly write: ResourceWrite;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Of one application at one firm, under one epoch of its rights. */
interface Lane {
  underWay: number;
  readonly waiting: Waiting[];
}

export function openGroupCommit(options: GroupCommitOptions): GroupCommit {
  const lanes = new Map<string, Lane>();

  const sendNext = async (key: string, lane: Lane): Promise<void> => {
    lane.underWay += 1;
    for (let group = takeGroup(lane.waiting); group.length > 0; group = takeGroup(lane.waiting))
      await forShort(settleGroup(options, group));
    lane.underWay -= 1;
    if (lane.underWay === 0) lanes.delete(key);
  };

  return {
    async write(scope, write) {
      if (!isShort(write)) return await options.sendAlone(scope, write);
      const key = `${scope.firm} ${scope.application} ${scope.epoch}`;
      const lane = lanes.get(key) ?? { underWay: 0, waiting: [] };
      lanes.set(key, lane);
      return await new Promise((resolve, reject) => {
        lane.waiting.push({ scope, write, resolve, reject });
        if (lane.underWay < statementsMax) void sendNext(key, lane);
      });
    },
  };
}

/** Resolves with the work, or after `waitMaxMs`; the work goes on. */
async function forShort(work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, waitMaxMs);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

function isShort({ content, index }: ResourceWrite): boolean {
  const { tokenParam, referenceParam, dateParam, stringParam, numberParam } = index;
  const rows = tokenParam.length + referenceParam.length + dateParam.length + stringParam.length + numberParam.length;
  return rows <= rowsMax && countCharacters(content) <= charactersMax;
}

function countCharacters(content: ResourceWrite['content']): number {
  return content === null ? 0 : getStoredText(content).length;
}

/** The next writes that go together, in the order in which they came. */
function takeGroup(waiting: Waiting[]): readonly Waiting[] {
  let characters = 0;
  let end = 0;
  for (const { write } of waiting) {
    characters += countCharacters(write.content);
    if (end === writesMax || (end > 0 && characters > charactersOfGroupMax)) break;
    end += 1;
  }
  return waiting.splice(0, end);
}

/** Never rejects: each write of the group is told what became of it. */
async function settleGroup(options: GroupCommitOptions, group: readonly Waiting[]): Promise<void> {
  const members = group.filter(({ scope, reject }) => {
    try {
      options.requireUnended(scope);
      return true;
    } catch (error) {
      reject(error);
      return false;
    }
  });
  const [first] = members;
  if (first === undefined) return;
  if (members.length === 1) return await settleAlone(options, first);
  // In one order everywhere: groups that change the same resources do not wait for each other in a circle.
  const ordered = members.toSorted((a, b) =>
    compareTexts(`${a.write.type}/${a.write.id}`, `${b.write.type}/${b.write.id}`),
  );
  const outcomes = await sendTogether(options, first.scope, ordered);
  await Promise.all(ordered.map((one, at) => settle(options, one, outcomes[at])));
}

/** What became of each: an outcome, an error, or neither, since it has to be sent alone. */
async function sendTogether(
  options: GroupCommitOptions,
  scope: TenantScope,
  group: readonly Waiting[],
): Promise<readonly (WriteOutcome | { readonly error: unknown } | undefined)[]> {
  const writes = group.map(({ write }) => write);
  try {
    return await options.sendTogether(scope, writes, lockWaitMs);
  } catch (error) {
    return group.map(() => (hadNoEffect(error) ? undefined : { error }));
  }
}

async function settle(
  options: GroupCommitOptions,
  one: Waiting,
  told: WriteOutcome | { readonly error: unknown } | undefined,
): Promise<void> {
  if (told === undefined) await settleAlone(options, { ...one, write: withAllRows(one.write) });
  else if ('error' in told) one.reject(told.error);
  else one.resolve(told);
}

async function settleAlone(
  { sendAlone }: GroupCommitOptions,
  { scope, write, resolve, reject }: Waiting,
): Promise<void> {
  try {
    resolve(await sendAlone(scope, write));
  } catch (error) {
    reject(error);
  }
}

/** Whether the statement was certainly undone, and one of its writes may be why: then each is sent by itself. */
function hadNoEffect(error: unknown): boolean {
  return error instanceof StatementError || (error instanceof PraxisError && ofOneWrite.has(error.code));
}

/** `conflict`: others hold the lock of a row for longer than a group waits. */
const ofOneWrite: ReadonlySet<string> = new Set(['conflict', 'too-costly', 'statement-timeout']);

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
