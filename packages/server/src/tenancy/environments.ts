/**
 * Environments, their realms and products. An environment is a world of its own: its firms, applications, keys and tokens
 * are worth nothing in another one, even where two share a realm. Environments and products are only ever added.
 */
import { suggestName } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import { type Database, pointRead } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { requireSegment } from './names.ts';

export const environmentKinds = ['generic-sandbox', 'practice-sandbox', 'production'] as const;
export type EnvironmentKind = (typeof environmentKinds)[number];

export interface Environment {
  readonly id: number;
  /** First path segment, unique. */
  readonly name: string;
  /** The realm whose client-credentials tokens this environment takes. */
  readonly realm: string;
  readonly kind: EnvironmentKind;
  readonly products: ReadonlySet<string>;
}

export interface EnvironmentDraft extends Omit<Environment, 'id' | 'products'> {
  readonly products: readonly string[];
}

/** The environments of a new installation (contract 4.1: three environments; 4.3: two realms). */
export const defaultEnvironments: readonly EnvironmentDraft[] = [
  { name: 'sandbox', realm: 'sandbox', kind: 'generic-sandbox', products: ['pm'] },
  { name: 'training', realm: 'sandbox', kind: 'practice-sandbox', products: ['pm'] },
  { name: 'prod', realm: 'production', kind: 'production', products: ['pm'] },
];

/** Names that every installation has, so that they may be suggested to anybody; those that operators add are not. */
export const publishedEnvironments: readonly string[] = defaultEnvironments.map(({ name }) => name);
export const publishedRealms: readonly string[] = [...new Set(defaultEnvironments.map(({ realm }) => realm))];
export const publishedProducts: readonly string[] = [
  ...new Set(defaultEnvironments.flatMap(({ products }) => products)),
];

/** Path segments that begin other routes, so no environment may be called so. */
const reservedNames: ReadonlySet<string> = new Set([
  'auth',
  'health',
  'metrics',
  'admin',
  'docs',
  'openapi',
  'console',
]);

/**
 * Makes an environment with its products.
 * @throws PraxisError `rule-broken` for a malformed or reserved name, `duplicate` when the name is taken
 */
export async function createEnvironment(database: Database, draft: EnvironmentDraft): Promise<Environment> {
  requireSegment('environment', draft.name);
  requireSegment('realm', draft.realm);
  for (const product of draft.products) requireSegment('product', product);
  if (reservedNames.has(draft.name))
    fail('rule-broken', {
      diagnostics: `environment may not be called ${draft.name}: the path is taken`,
      expression: ['environment'],
    });
  if (!environmentKinds.includes(draft.kind))
    fail('rule-broken', { diagnostics: `kind must be one of ${environmentKinds.join(', ')}`, expression: ['kind'] });
  await database.transaction(undefined, async (tx) => {
    const made = await tx.query(sql`
      INSERT INTO environment (name, realm, kind) VALUES (${draft.name}, ${draft.realm}, ${draft.kind})
      ON CONFLICT (name) DO NOTHING RETURNING id`);
    if (made.length === 0)
      fail('duplicate', { diagnostics: `environment ${draft.name} exists`, expression: ['environment'] });
    for (const product of draft.products) {
      await tx.query(
        sql`INSERT INTO product (environment, name) SELECT id, ${product}::text FROM environment WHERE name = ${draft.name}`,
      );
    }
  });
  return await getEnvironment(database, draft.name);
}

/**
 * Adds a product to an environment; its paths work from the next request on.
 * @throws PraxisError `resource-not-found` for an unknown environment, `duplicate` when it has the product
 */
export async function createProduct(database: Database, environment: string, product: string): Promise<void> {
  requireSegment('product', product);
  const { id } = await getEnvironment(database, environment);
  const made = await database.query(
    sql`INSERT INTO product (environment, name) VALUES (${id}, ${product}) ON CONFLICT DO NOTHING RETURNING name`,
  );
  if (made.length === 0)
    fail('duplicate', { diagnostics: `environment ${environment} has product ${product}`, expression: ['product'] });
}

/** Makes those of `defaultEnvironments` that are missing; for a first start, also of several processes at once. */
export async function ensureDefaultEnvironments(database: Database): Promise<void> {
  const known = new Map((await listEnvironments(database)).map(({ name, products }) => [name, products]));
  const missing = defaultEnvironments.filter(
    ({ name, products }) => !products.every((product) => known.get(name)?.has(product)),
  );
  for (const draft of missing) {
    await database.transaction(undefined, async (tx) => {
      await tx.query(sql`
        INSERT INTO environment (name, realm, kind) VALUES (${draft.name}, ${draft.realm}, ${draft.kind}) ON CONFLICT (name) DO NOTHING`);
      for (const product of draft.products) {
        await tx.query(sql`
          INSERT INTO product (environment, name) SELECT id, ${product}::text FROM environment WHERE name = ${draft.name} ON CONFLICT DO NOTHING`);
      }
    });
  }
}

/** All environments by name. */
export async function listEnvironments(database: Database): Promise<Environment[]> {
  const rows = await database.query<EnvironmentRow>(sql`
    SELECT e.id, e.name, e.realm, e.kind, COALESCE(array_agg(p.name ORDER BY p.name) FILTER (WHERE p.name IS NOT NULL), '{}') AS products
    FROM environment e LEFT JOIN product p ON p.environment = e.id
    GROUP BY e.id ORDER BY e.name`);
  return rows.map(toEnvironment);
}

/** @throws PraxisError `resource-not-found` naming the environment */
export async function getEnvironment(database: Pick<Database, 'query'>, name: string): Promise<Environment> {
  return (
    (await findEnvironment(database, name)) ??
    fail('resource-not-found', {
      diagnostics: `environment ${name} does not exist${suggestName(name, publishedEnvironments)}`,
      expression: ['environment'],
    })
  );
}

/** @throws PraxisError `resource-not-found` when no environment is of the realm */
export async function requireRealm(database: Database, realm: string): Promise<void> {
  if (!(await isRealm(database, realm)))
    fail('resource-not-found', {
      diagnostics: `realm ${realm} does not exist${suggestName(realm, publishedRealms)}`,
      expression: ['realm'],
    });
}

/** Environments and realms as request paths name them, kept in memory. */
export interface EnvironmentDirectory {
  /** The environment that has `product`, or undefined (the path is unknown then: 404). */
  find(environment: string, product: string): Promise<Environment | undefined>;
  hasRealm(realm: string): Promise<boolean>;
}

/**
 * A directory that asks the database only for what it has not yet found: since environments and products are only ever
 * added, what was found stays true, and what is new is found at its first request.
 */
export function openEnvironmentDirectory(database: Database): EnvironmentDirectory {
  const environments = new Map<string, Environment>();
  const realms = new Set<string>();
  return {
    async find(name, product) {
      const known = environments.get(name);
      if (known?.products.has(product)) return known;
      const found = await findEnvironment(database, name);
      if (!found) return undefined;
      environments.set(name, found);
      return found.products.has(product) ? found : undefined;
    },
    async hasRealm(realm) {
      const isKnown = realms.has(realm) || (await isRealm(database, realm));
      if (isKnown) realms.add(realm);
      return isKnown;
    },
  };
}

async function isRealm(database: Database, realm: string): Promise<boolean> {
  const rows = await database.query(sql`SELECT 1 AS one FROM environment WHERE realm = ${realm} LIMIT 1`, pointRead);
  return rows.length > 0;
}

type EnvironmentRow = EnvironmentDraft & Pick<Environment, 'id'>;

async function findEnvironment(database: Pick<Database, 'query'>, name: string): Promise<Environment | undefined> {
  const [row] = await database.query<EnvironmentRow>(
    sql`
    SELECT e.id, e.name, e.realm, e.kind, ARRAY(SELECT p.name FROM product p WHERE p.environment = e.id ORDER BY p.name) AS products
    FROM environment e WHERE e.name = ${name}`,
    pointRead,
  );
  return row && toEnvironment(row);
}

function toEnvironment(row: EnvironmentRow): Environment {
  return { ...row, products: new Set(row.products) };
}
