/**
 * What the database knows of content: who may upload it until when, what was uploaded, and which resources hold it
 * (docs/decisions/0192, 0193). The bytes lie in the content store (content/content-store.ts).
 */
import { boundedRead } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { buildInserts, type StatementOptions, type StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';

/** A URL that content may be uploaded by, once. */
export interface UploadOffer {
  readonly id: string;
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly sizeMax: number;
  /** Media type; undefined: the file itself says what it is. */
  readonly announcedType: string | undefined;
}

/** What was uploaded. */
export interface UploadedFile {
  readonly name: string;
  readonly size: number;
  readonly mediaType: string;
  readonly sha256: Buffer;
  readonly sha1: Buffer;
}

/** Content as resources may refer to it. */
export interface KnownContent extends Omit<UploadedFile, 'name'> {
  readonly id: string;
  /** Number of the application that has uploaded it. */
  readonly application: number;
}

/** That a resource holds content, or a copy of it. */
export interface ContentHolder {
  /** Id of the content. */
  readonly content: string;
  readonly sha256: Buffer;
  /** Type/id */
  readonly holder: string;
  /** Reference of its subject. */
  readonly patient: string | undefined;
}

/** What is needed to send content. */
export interface ShownContent extends Omit<UploadedFile, 'sha1'> {
  readonly patient: string | undefined;
}

/** Columns of content: a statement reads some of them. */
interface ContentRow {
  readonly id: string | null;
  readonly application: number;
  readonly created: number;
  readonly expires: number;
  readonly size_max: number;
  readonly announced_type: string | null;
  readonly used: boolean;
  readonly object_key: string;
  readonly size: number;
  readonly media_type: string;
  readonly sha256: Buffer;
  readonly sha1: Buffer;
  readonly patient: string | null;
}

type HolderRow = Omit<ContentHolder, 'holder' | 'patient'> & { holder: string | null; patient: string | null };

const reading: StatementOptions = boundedRead;

/** Offers an upload to the application; false when `looseMax` contents of it are held by no resource. */
export async function offerUpload(
  store: StatementRunner,
  scope: TenantScope,
  { id, createdMs, expiresMs, sizeMax, announcedType }: UploadOffer,
  looseMax: number,
): Promise<boolean> {
  const { firm, application } = scope;
  const counting = sql`
    SELECT e.epoch, (SELECT count(*)::int FROM (
      SELECT FROM document_content WHERE firm = ${firm} AND application = ${application} AND NOT held LIMIT ${looseMax}) l) AS loose
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<{ readonly loose: number }>(scope, counting, reading);
  if (row === undefined || row.loose >= looseMax) return false;
  const offered = sql`
    INSERT INTO document_content (firm, id, application, created, expires, size_max, announced_type)
    VALUES (${firm}, ${id}, ${application}, ${createdMs}, ${expiresMs}, ${sizeMax}, ${announcedType ?? null})`;
  await store.change(scope, [offered]);
  return true;
}

/** The offer, where it was made to the application; `isUsed`: content was uploaded by it. */
export async function findUploadOffer(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
): Promise<(UploadOffer & { readonly isUsed: boolean }) | undefined> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, c.id, c.created, c.expires, c.size_max, c.announced_type, c.object_key IS NOT NULL AS used
    FROM access_epoch e LEFT JOIN document_content c ON c.firm = ${firm} AND c.id = ${id} AND c.application = ${application}
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<ContentRow>(scope, statement, reading);
  if (row === undefined || row.id === null) return undefined;
  const { created, expires, size_max: sizeMax, announced_type: announced, used: isUsed } = row;
  return { id, createdMs: created, expiresMs: expires, sizeMax, announcedType: announced ?? undefined, isUsed };
}

/** Notes that an object is about to be stored: whatever happens, it does not stay without content that names it. */
export async function announceObject(
  store: StatementRunner,
  scope: TenantScope,
  name: string,
  nowMs: number,
): Promise<void> {
  const announced = sql`INSERT INTO content_discard (firm, object_key, since) VALUES (${scope.firm}, ${name}, ${nowMs})`;
  await store.change(scope, [announced]);
}

/** Uses the offer up; false when it was used or has ended meanwhile. Of several at once exactly one succeeds. */
export async function keepUpload(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  { name, size, mediaType, sha256, sha1 }: UploadedFile,
  nowMs: number,
): Promise<boolean> {
  const { firm, application } = scope;
  const kept = sql`
    UPDATE document_content SET object_key = ${name}, size = ${size}, uploaded = ${nowMs}, media_type = ${mediaType},
      sha256 = ${sha256}, sha1 = ${sha1}
    WHERE firm = ${firm} AND id = ${id} AND application = ${application} AND object_key IS NULL
      AND expires > ${nowMs}::bigint AND size_max >= ${size}::bigint
    RETURNING 1 AS kept`;
  const named = sql`
    DELETE FROM content_discard WHERE firm = ${firm} AND object_key = ${name}
      AND EXISTS (SELECT FROM document_content WHERE firm = ${firm} AND id = ${id} AND object_key = ${name})`;
  return (await store.change(scope, [kept, named])).length === 1;
}

/** Which of the contents were uploaded. */
export async function findUploaded(
  store: StatementRunner,
  scope: TenantScope,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, c.id FROM access_epoch e LEFT JOIN LATERAL (
      SELECT id FROM document_content WHERE firm = ${firm} AND id = ANY (${ids}::text[]) AND object_key IS NOT NULL OFFSET 0) c ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const rows = await store.run<Pick<ContentRow, 'id'>>(scope, statement, reading);
  return new Set(rows.flatMap(({ id }) => id ?? []));
}

/** Keeps content that came from elsewhere under its id. Where there is some under the id, that stays. */
export async function adoptContent(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  { name, size, mediaType, sha256, sha1 }: UploadedFile,
  nowMs: number,
): Promise<void> {
  const { firm, application } = scope;
  const kept = sql`
    INSERT INTO document_content (firm, id, application, created, expires, size_max, object_key, size, uploaded, media_type, sha256, sha1)
    VALUES (${firm}, ${id}, ${application}, ${nowMs}, ${nowMs}, ${Math.max(size, 1)}, ${name}, ${size}, ${nowMs}, ${mediaType}, ${sha256}, ${sha1})
    ON CONFLICT (firm, id) DO NOTHING`;
  const named = sql`
    DELETE FROM content_discard WHERE firm = ${firm} AND object_key = ${name}
      AND EXISTS (SELECT FROM document_content WHERE firm = ${firm} AND id = ${id} AND object_key = ${name})`;
  await store.change(scope, [kept, named]);
}

/**
 * Those of the contents that were uploaded. Inside a transaction, which then is alone in having resources hold them or
 * copies of them: of two that would hold the same bytes for a patient, one sees what the other did.
 */
export async function lockContents(
  store: StatementRunner,
  scope: TenantScope,
  ids: readonly string[],
): Promise<readonly KnownContent[]> {
  const statement = sql`
    WITH locked AS MATERIALIZED (
      SELECT id, application, size, media_type, sha256, sha1 FROM document_content
      WHERE firm = ${scope.firm} AND sha256 = ANY (ARRAY(
        SELECT sha256 FROM document_content WHERE firm = ${scope.firm} AND id = ANY (${ids}::text[]) AND sha256 IS NOT NULL))
      ORDER BY id FOR UPDATE)
    SELECT e.epoch, l.* FROM access_epoch e LEFT JOIN locked l ON true
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}`;
  const rows = await store.run<ContentRow>(scope, statement);
  return rows.flatMap(({ id, application, size, media_type: mediaType, sha256, sha1 }) =>
    id !== null && ids.includes(id) ? [{ id, application, size, mediaType, sha256, sha1 }] : [],
  );
}

/** Holders that are told of at most. */
const holdersMax = 200;

/** Which resources hold the contents or copies of them. */
export async function findContentHolders(
  store: StatementRunner,
  scope: TenantScope,
  ids: readonly string[],
): Promise<readonly ContentHolder[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, h.* FROM access_epoch e LEFT JOIN LATERAL (
      SELECT h.content, c.sha256, h.holder, h.patient FROM document_content c JOIN content_holder h ON h.firm = ${firm} AND h.content = c.id
      WHERE c.firm = ${firm} AND c.sha256 = ANY (ARRAY(
        SELECT sha256 FROM document_content WHERE firm = ${firm} AND id = ANY (${ids}::text[]) AND sha256 IS NOT NULL))
      ORDER BY c.created, c.id, h.holder LIMIT ${holdersMax} OFFSET 0) h ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const rows = await store.run<HolderRow>(scope, statement, reading);
  return rows.flatMap(({ content, holder, patient, sha256 }) =>
    holder === null ? [] : [{ content, sha256, holder, patient: patient ?? undefined }],
  );
}

/** Notes that the resource holds the contents; in the transaction that writes it. */
export async function holdContents(
  store: StatementRunner,
  scope: TenantScope,
  ids: readonly string[],
  holder: string,
  patient: string | undefined,
): Promise<void> {
  const { firm } = scope;
  const holding = buildInserts(
    sql`content_holder (firm, content, holder, patient)`,
    ids.map((id) => sql`(${firm}, ${id}, ${holder}, ${patient ?? null})`),
    sql`ON CONFLICT (firm, content, holder) DO UPDATE SET patient = EXCLUDED.patient`,
  );
  const held = sql`UPDATE document_content SET held = true WHERE firm = ${firm} AND id = ANY (${ids}::text[]) AND NOT held`;
  await store.change(scope, [...holding, held]);
}

/** Content of a live resource that holds it, while the firm's authorisation of the application lasts. */
export async function findShownContent(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  holder: string,
  nowMs: number,
): Promise<ShownContent | undefined> {
  const { firm, application } = scope;
  const [type = '', resource = ''] = holder.split('/');
  const statement = sql`
    SELECT e.epoch, c.* FROM access_epoch e LEFT JOIN LATERAL (
      SELECT c.id, c.object_key, c.size, c.media_type, c.sha256, h.patient
      FROM document_content c JOIN content_holder h ON h.firm = ${firm} AND h.content = c.id AND h.holder = ${holder}
      JOIN resource r ON r.firm = ${firm} AND r.rtype = ${getTypeNumber(type)} AND r.id = ${resource} AND r.content IS NOT NULL
      JOIN authorisation z ON z.firm = ${firm} AND z.application = ${application} AND z.state = 'active'
        AND (z.expires_at IS NULL OR z.expires_at > to_timestamp(${nowMs}::bigint / 1000.0))
      WHERE c.firm = ${firm} AND c.id = ${id} AND c.object_key IS NOT NULL OFFSET 0) c ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<ContentRow>(scope, statement, reading);
  if (row === undefined || row.id === null) return undefined;
  const { object_key: name, size, media_type: mediaType, sha256, patient } = row;
  return { name, size, mediaType, sha256, patient: patient ?? undefined };
}
