/**
 * The data keys of the installation: in the table `data_key`, wrapped by the secret key. The table says by which, so a
 * database knows the secret key that it belongs to (docs/decisions/0230). All run as the owner role.
 */
import { existsSync } from 'node:fs';
import type { SecretKey } from '../base/secret-key.ts';
import { assembleDataKeys, type DataKeys, makeDataKeys, type Purpose, purposes } from '../base/secrets.ts';
import { StartError } from '../base/start-error.ts';
import type { Database, Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { buildNextPath, type GivenKeys, takeNextKey } from './secret-keys.ts';
import { holdsMadeThings, wasMadeWith, wasSealedWith } from './witnesses.ts';

/** The keys that a process works with. */
export interface Keys {
  readonly given: GivenKeys;
  /** The given key that the database belongs to. */
  readonly owning: SecretKey;
  readonly dataKeys: DataKeys;
}

/** Key of the advisory lock: the ASCII bytes of "keys". */
const lockKey = 0x6b657973;

/** Makes others who would change the keys wait until the end of the transaction. */
export async function lockKeys(tx: Queryable): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(${lockKey})`);
}

/**
 * The data keys of the database, making those that it lacks: random ones in a new database, those derived from the secret key
 * in one from before there were data keys. Safe when several processes do so at once.
 * @throws StartError when the database belongs to a secret key that is not given
 */
export async function openKeys(owner: Database, given: GivenKeys): Promise<Keys> {
  const keys = await owner.transaction(undefined, (tx) => keysOf(tx, given));
  return (await finishRotation(owner, given)) ? { ...keys, given: { ...given, current: keys.owning } } : keys;
}

/**
 * Refuses a database that belongs to another key, as far as a schema that is not up to date yet tells: `openKeys` knows more,
 * but the database has been upgraded by then.
 * @throws StartError when the database belongs to a secret key that is not given
 */
export async function requireOwningKey(owner: Pick<Queryable, 'query'>, given: GivenKeys): Promise<void> {
  const keys = [given.current, ...given.others];
  const [has] = await owner.query<{ dataKeys: boolean; signingKeys: boolean }>(sql`
    SELECT to_regclass('data_key') IS NOT NULL AS "dataKeys", to_regclass('signing_key') IS NOT NULL AS "signingKeys"`);
  if (has?.dataKeys === true) {
    const [row] = await readRows(owner);
    if (row === undefined || keys.some(({ fingerprint }) => fingerprint === row.under)) return;
    if (await holdsMadeThings(owner)) throw otherKey(given, row.under);
  } else if (has?.signingKeys === true) {
    const isMadeWith = await Promise.all(keys.map(async (key) => await wasSealedWith(owner, key.deriveDataKeys())));
    if (isMadeWith.every((isIt) => isIt === false)) throw otherKey(given, undefined);
  }
}

/**
 * Puts the key that waits in its file in place, where the database belongs to it: at the end of a rotation, and at the next
 * start when the process that rotated was killed before. Returns whether it did.
 */
export async function finishRotation(owner: Database, { file, next }: GivenKeys): Promise<boolean> {
  if (file === undefined || next === undefined) return false;
  return await owner.transaction(undefined, async (tx) => {
    await lockKeys(tx);
    if (!(await isWrappedBy(tx, next))) return false;
    if (existsSync(buildNextPath(file))) takeNextKey(file);
    return true;
  });
}

async function keysOf(tx: Queryable, given: GivenKeys): Promise<Keys> {
  await lockKeys(tx);
  const rows = await readRows(tx);
  if (rows.length === 0) return await makeFirst(tx, given);
  const owning = [given.current, ...given.others].find((key) => rows.every(({ under }) => under === key.fingerprint));
  if (owning !== undefined) return { given, owning, dataKeys: await complete(tx, rows, owning) };
  if (await holdsMadeThings(tx)) throw otherKey(given, rows[0]?.under);
  // Nothing was made with the keys that it has: the database takes the key given, as if it were new.
  return { given, owning: given.current, dataKeys: await replaceDataKeys(tx, makeDataKeys(), given.current) };
}

/** Puts these keys in place of those that the database has. Returns them. */
export async function replaceDataKeys(tx: Queryable, dataKeys: DataKeys, key: SecretKey): Promise<DataKeys> {
  await tx.query(sql`DELETE FROM data_key`);
  await addRows(tx, purposes, dataKeys, key);
  return dataKeys;
}

/** Whether the database belongs to this key: every row is wrapped by it, unless a hand has changed one. */
export async function isWrappedBy(tx: Pick<Queryable, 'query'>, { fingerprint }: SecretKey): Promise<boolean> {
  const rows = await readRows(tx);
  return rows.length > 0 && rows.every(({ under }) => under === fingerprint);
}

interface KeyRow {
  readonly purpose: string;
  readonly wrapped: Buffer;
  readonly under: string;
}

async function readRows(tx: Pick<Queryable, 'query'>): Promise<KeyRow[]> {
  return await tx.query<KeyRow>(sql`SELECT purpose, wrapped, wrapped_under AS under FROM data_key ORDER BY purpose`);
}

async function makeFirst(tx: Queryable, given: GivenKeys): Promise<Keys> {
  // Whoever has opened a database has made its environments.
  const [used] = await tx.query(sql`SELECT FROM environment LIMIT 1`);
  if (used === undefined)
    return { given, owning: given.current, dataKeys: await replaceDataKeys(tx, makeDataKeys(), given.current) };
  for (const key of [given.current, ...given.others]) {
    const dataKeys = key.deriveDataKeys();
    if ((await wasMadeWith(tx, dataKeys)) !== false)
      return { given, owning: key, dataKeys: await replaceDataKeys(tx, dataKeys, key) };
  }
  throw otherKey(given, undefined);
}

/** All keys, those of purposes that came with a later version made now. */
async function complete(tx: Queryable, rows: readonly KeyRow[], key: SecretKey): Promise<DataKeys> {
  const made = makeDataKeys();
  const found = new Map(rows.map((row) => [row.purpose, row.wrapped]));
  const missing = purposes.filter((purpose) => !found.has(purpose));
  await addRows(tx, missing, made, key);
  return assembleDataKeys((purpose) => {
    const wrapped = found.get(purpose);
    if (wrapped === undefined) return made[purpose];
    const dataKey = key.unwrap(purpose, wrapped);
    if (dataKey !== undefined) return dataKey;
    throw new StartError(
      `the key for ${purpose} in the table data_key was changed by hand, and cannot be opened: restore a backup`,
    );
  });
}

async function addRows(tx: Queryable, added: readonly Purpose[], dataKeys: DataKeys, key: SecretKey): Promise<void> {
  if (added.length === 0) return;
  const wrapped = added.map((purpose) => key.wrap(purpose, dataKeys[purpose]).toString('hex'));
  await tx.query(sql`
    INSERT INTO data_key (purpose, wrapped, wrapped_under)
    SELECT purpose, decode(wrapped, 'hex'), ${key.fingerprint}
    FROM unnest(${[...added]}::text[], ${wrapped}::text[]) AS given (purpose, wrapped)`);
}

function otherKey({ current, place }: GivenKeys, expected: string | undefined): StartError {
  const known =
    expected === undefined ? '' : ` (it has the fingerprint ${expected}, the one given ${current.fingerprint})`;
  return new StartError(
    `the key in ${place} is not the one that the database was made with${known}: put that key in ${place}; to change the key, see praxis secret rotate`,
  );
}
