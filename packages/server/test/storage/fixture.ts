/**
 * Two firms, two applications and writes of made-up resources, for the tests of storage.
 */
import { createHash } from 'node:crypto';
import { boxStored, getStoredText } from '../../src/access/disclosure.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { type IndexRows, makeIndexRows } from '../../src/search/index/index-rows.ts';
import type { ResourceWrite, StoredResource } from '../../src/storage/store.ts';
import { openScope, type TenantScope } from '../../src/tenancy/scope.ts';
import { everyTable } from '../support/tenant-rows.ts';

export const nowMs = Date.UTC(2026, 10, 21, 9, 30);

/** Every table that holds rows of firms. */
export const tenantTables = [
  'resource',
  'resource_version',
  'index_token',
  'index_reference',
  'index_date',
  'index_string',
  'index_number',
  'audit_event',
  'audit_caller',
  'audit_action',
  'audit_patient_key',
] as const;

export interface Firms {
  /** The first application at the first firm. */
  readonly maple: TenantScope;
  /** The same application at the second firm. */
  readonly cedar: TenantScope;
  /** A second application at the first firm. */
  readonly mapleOther: TenantScope;
}

export async function makeFirms(owner: Database): Promise<Firms> {
  const [environment] = await owner.query<{ id: number }>(
    sql`INSERT INTO environment (name, realm, kind) VALUES ('sandbox', 'sandbox', 'generic-sandbox') RETURNING id`,
  );
  const firms = await owner.query<{ id: number }>(sql`
    INSERT INTO firm (environment, prefix, name, time_zone)
    SELECT ${environment?.id}, name, name, 'UTC' FROM unnest(${['maple', 'cedar']}::text[]) AS name RETURNING id`);
  const applications = await owner.query<{ id: number }>(sql`
    INSERT INTO application (environment, name)
    SELECT ${environment?.id}, name FROM unnest(${['one', 'two']}::text[]) AS name RETURNING id`);
  await owner.query(
    sql`INSERT INTO access_epoch (firm, application, epoch) SELECT f.id, a.id, 7 FROM firm f CROSS JOIN application a`,
  );
  const scope = (firm: number, application: number): TenantScope =>
    openScope({
      firm: firms[firm]?.id ?? 0,
      application: applications[application]?.id ?? 0,
      epoch: 7,
      environment: 'sandbox',
      firmPrefix: firm === 0 ? 'maple' : 'cedar',
      product: 'pm',
      timeZone: 'UTC',
      searchParameters: [],
    });
  return { maple: scope(0, 0), cedar: scope(1, 0), mapleOther: scope(0, 1) };
}

/** The content of a version, as `resourceWrite` makes it. */
export function contentText(type: string, id: string, versionId: number, note = ''): string {
  return JSON.stringify({ resourceType: type, id, meta: { versionId: String(versionId) }, note });
}

/** A write of `Patient`/`id` as version `expectedVersion + 1`; `note` ends up in the content. */
export function resourceWrite(
  id: string,
  expectedVersion = 0,
  options: Partial<ResourceWrite> & { readonly note?: string } = {},
): ResourceWrite {
  const { note, ...given } = options;
  const type = given.type ?? 'Patient';
  return {
    type,
    id,
    expectedVersion,
    lastUpdatedMs: nowMs + expectedVersion,
    content: boxStored(contentText(type, id, expectedVersion + 1, note)),
    index: makeIndexRows(),
    audit: {
      atMs: nowMs + expectedVersion,
      interaction: expectedVersion === 0 ? 'create' : 'update',
      subject: 'subject-1',
      tokenId: 'token-1',
      requestId: `request-${id}-${expectedVersion}`,
      flow: 'client',
      entries: ['acl/*'],
      patients: { ids: [id, `beside-${id}`], more: false },
    },
    ...given,
  };
}

/** A deletion of version `expectedVersion`. */
export function resourceDelete(id: string, expectedVersion: number): ResourceWrite {
  const write = resourceWrite(id, expectedVersion);
  return { ...write, content: null, audit: { ...write.audit, interaction: 'delete' } };
}

/** Index rows of every kind, one or two each; `mark` is in every value. */
export function indexRows(mark: string): IndexRows {
  return {
    tokenParam: [11, 12],
    tokenSystem: ['0', '-8923372036854775000'],
    tokenCode: [`code-${mark}`, `with "quotes", {braces} and \\ of ${mark}`],
    referenceParam: [21],
    referenceTargetType: [5],
    referenceTargetId: [`id-${mark}`],
    dateParam: [31],
    dateLo: ['-4611686018427387904'],
    dateHi: [1_795_253_400_000_000 + mark.length],
    stringParam: [41],
    stringValue: [`value ${mark}`],
    stringOriginal: [`Value ${mark}`],
    numberParam: [51],
    numberLo: ['5.395'],
    numberHi: [`5.40${mark.length}`],
    numberSystem: ['4'],
    numberCode: [mark],
  };
}

/** `rows` with the columns of `change` instead. */
export function changed(rows: IndexRows, change: Partial<IndexRows>): IndexRows {
  return { ...rows, ...change };
}

/** What can be compared of a stored resource: the box opened. */
export function opened(resource: StoredResource | undefined): Record<string, unknown> | undefined {
  return resource === undefined ? undefined : { ...resource, content: getStoredText(resource.content) };
}

/** A text that does not compress, the same each time: PostgreSQL compresses long keys before it measures them. */
export function incompressible(length: number): string {
  let text = '';
  while (text.length < length) text += createHash('sha512').update(text).digest('base64');
  return text.slice(0, length);
}

/** Every row of every table of the database, as text, system columns not included. */
export async function everything(owner: Database): Promise<Record<string, string[]>> {
  const tables = await everyTable(owner);
  const contents = await Promise.all(
    tables.map((table) =>
      owner.query<{ row: string }>(sql`SELECT t::text AS row FROM ${sql.identifier(table)} t ORDER BY 1`),
    ),
  );
  return Object.fromEntries(tables.map((table, index) => [table, contents[index]?.map(({ row }) => row) ?? []]));
}
