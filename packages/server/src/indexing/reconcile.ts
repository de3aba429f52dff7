/**
 * Brings the registered search parameters of a firm in line with its SearchParameter resources: what is new begins to be
 * indexed, what is changed as well, beside the definition that it follows, and what is gone is dropped.
 * https://hl7.org/fhir/R4/searchparameter.html
 */
import { isDeepStrictEqual } from 'node:util';
import { parseJsonObject, type StepBudget } from '@praxis/fhir';
import { PraxisError } from '../base/errors.ts';
import type { Queryable } from '../database/database.ts';
import { readFirmParameter } from '../search/index/firm-parameter.ts';
import { computeFirmParameterNumber, derivedSpaces, isStandardNumber } from '../search/numbers.ts';
import { raiseEpochs } from '../tenancy/epochs.ts';
import type { SearchParameterDefinition } from '../tenancy/search-parameters.ts';
import {
  drop,
  insert,
  type RegisteredParameter,
  remove,
  selectActiveResources,
  selectRegisteredParameters,
} from './registry.ts';

/** Parameters of one firm at most; each costs every write of its types. */
export const firmParametersMax = 100;

/** What one resource asks for: a definition, or why it cannot be. */
interface Wanted {
  readonly resourceId: string;
  readonly version: number;
  readonly url: string;
  readonly definition?: SearchParameterDefinition;
  readonly reason?: string;
}

/** Runs in a transaction as the firm. Statements that begin after it has ended know what it has registered. */
export async function reconcile(tx: Queryable, firm: number, budget: StepBudget): Promise<void> {
  const resources = await tx.query<{ id: string; version: number; content: string }>(selectActiveResources(firm));
  const rows = await tx.query<RegisteredParameter>(selectRegisteredParameters(firm));
  const asked = resources.map(({ id, version, content }) => wantedBy(id, version, content, budget));
  const wanted = withoutConflicts(asked, rows);
  const live = rows.filter(({ state }) => state !== 'dropping');
  const gone = live.filter((row) => !wanted.some((each) => isKept(row, each)));
  const added = wanted.filter((each) => !live.some((row) => asksFor(row, each)));
  for (const each of added) await register(tx, firm, each);
  const refused = gone.filter(({ state }) => state === 'refused').map(({ id }) => id);
  const dropped = gone.filter(({ state }) => state !== 'refused').map(({ id }) => id);
  await tx.query(remove(firm, refused));
  await tx.query(drop(firm, dropped));
  if (dropped.length > 0 || added.some(({ definition }) => definition !== undefined)) await raiseEpochs(tx, { firm });
}

function wantedBy(resourceId: string, version: number, content: string, budget: StepBudget): Wanted {
  const resource = parseJsonObject(content);
  const url = String(resource['url'] ?? '');
  try {
    const definition = readFirmParameter(resource, budget);
    return { resourceId, version, url, ...(definition === undefined ? {} : { definition }) };
  } catch (error) {
    if (!(error instanceof PraxisError)) throw error;
    return { resourceId, version, url, reason: error.issues[0]?.diagnostics ?? error.message };
  }
}

/** Who had a code first keeps it; those that are registered come before those that are not. */
function withoutConflicts(all: readonly Wanted[], rows: readonly RegisteredParameter[]): readonly Wanted[] {
  const registered = rows.filter(({ state }) => state === 'active' || state === 'indexing');
  const sinceOf = ({ resourceId }: Wanted): number =>
    registered.find((row) => row.resourceId === resourceId)?.id ?? Number.MAX_SAFE_INTEGER;
  const holders = new Map<string, string>();
  let count = 0;
  return all
    .toSorted((left, right) => sinceOf(left) - sinceOf(right))
    .map((each) => {
      if (each.definition === undefined) return each;
      const { code, base } = each.definition;
      const taken = base.find((type) => holders.has(`${type}.${code}`));
      const holder = holders.get(`${taken}.${code}`);
      if (holder !== undefined) return refused(each, `${taken} has ${code} of SearchParameter/${holder} already`);
      if (count === firmParametersMax)
        return refused(each, `the firm has ${firmParametersMax} active ones, the most there can be`);
      count += 1;
      for (const type of base) holders.set(`${type}.${code}`, each.resourceId);
      return each;
    });
}

function refused({ resourceId, version, url }: Wanted, reason: string): Wanted {
  return { resourceId, version, url, reason };
}

/** Whether the row is what the resource asks for. */
function asksFor(row: RegisteredParameter, each: Wanted): boolean {
  if (row.resourceId !== each.resourceId) return false;
  if (each.definition === undefined) return row.state === 'refused' && row.reason === each.reason;
  // What has failed does so again, until somebody has looked at it: the next version begins anew.
  if (row.state === 'failed' && row.failedVersion !== each.version) return false;
  return row.state !== 'refused' && row.url === each.url && isDeepStrictEqual(row.definition, each.definition);
}

/** Whether the row stays: also the definition in use while the one that follows it is being indexed. */
function isKept(row: RegisteredParameter, each: Wanted): boolean {
  if (asksFor(row, each)) return true;
  return row.resourceId === each.resourceId && row.state === 'active' && each.definition !== undefined;
}

/** Takes another id in the rare case that a number made from it is in use. */
async function register(tx: Queryable, firm: number, each: Wanted): Promise<void> {
  const { definition } = each;
  for (;;) {
    const id = await insert(tx, firm, each);
    if (definition === undefined || !listParameterNumbers(definition, id).some(isStandardNumber)) return;
    await tx.query(remove(firm, [id]));
  }
}

/** The numbers under which index rows of a parameter can lie. */
export function listParameterNumbers({ base }: SearchParameterDefinition, id: number): readonly number[] {
  const spaces = [undefined, ...derivedSpaces];
  return base.flatMap((type) => spaces.map((space) => computeFirmParameterNumber(type, id, space)));
}
