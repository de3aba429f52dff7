/**
 * Access epochs: one number per firm × application that every data statement reads beside its rows. Raising it in the
 * transaction that takes a right away makes the next statement of every node see that its cached rights are old
 * (docs/integrate/contract.md#credentials).
 *
 * Every change of a right goes through `changeRights`, which raises what the change touches; nothing else may update the
 * tables that rights are read from. A trigger could do the same, but would hide the effect from the reader of the statement
 * and is not available for reference tables of a distributed database.
 */
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';

/**
 * Whose cached rights become old: everybody in an environment, all firms of an application, all applications at a firm, a
 * whole realm, or one pair.
 */
export type Affected =
  | { readonly environment: number }
  | { readonly application: number }
  | { readonly firm: number }
  | { readonly realm: string }
  | { readonly pair: { readonly firm: number; readonly application: number } };

/**
 * Runs `work` and raises the epochs of `affected` in one transaction: both happen or neither does. When the promise
 * resolves, no later data statement runs with rights read before the change.
 */
export async function changeRights<T>(
  database: Database,
  affected: Affected,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  return await database.transaction(undefined, async (tx) => {
    const result = await work(tx);
    await raiseEpochs(tx, affected);
    return result;
  });
}

/** Raises the epochs of `affected` in the transaction `tx`, for changes that need more of it than `changeRights` gives. */
export async function raiseEpochs(tx: Queryable, affected: Affected): Promise<void> {
  // An authorisation makes the pair's row, so raising by application or firm finds a row for every right that exists.
  const statement =
    'pair' in affected
      ? sql`
        INSERT INTO access_epoch (firm, application, epoch) VALUES (${affected.pair.firm}, ${affected.pair.application}, 1)
        ON CONFLICT (firm, application) DO UPDATE SET epoch = access_epoch.epoch + 1`
      : sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE ${touchedBy(affected)}`;
  await tx.query(statement);
}

function touchedBy(affected: Exclude<Affected, { readonly pair: unknown }>): Sql {
  if ('environment' in affected) return sql`firm IN (SELECT id FROM firm WHERE environment = ${affected.environment})`;
  if ('application' in affected) return sql`application = ${affected.application}`;
  if ('firm' in affected) return sql`firm = ${affected.firm}`;
  return sql`application IN (
    SELECT a.id FROM application a JOIN environment e ON e.id = a.environment WHERE e.realm = ${affected.realm})`;
}
