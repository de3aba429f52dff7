/**
 * A follower of the change feed, and its copy.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import type { Answer, Caller } from './service.ts';

export interface ToldEntry {
  readonly fullUrl: string;
  readonly resource?: {
    readonly resourceType: string;
    readonly id: string;
    readonly meta: { readonly versionId: string };
  };
  readonly request: { readonly method: string; readonly url: string };
  readonly response: { readonly status: string; readonly etag: string; readonly lastModified: string };
}

/** The link to the next page, which every page has. */
export function nextOf({ json, text }: Answer): string {
  const url = json?.link?.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  assert.equal(typeof url, 'string', text);
  return url;
}

/** Waits until all that is committed can be told: transactions of other tests hold it back, too. */
export async function untilTold(owner: Database): Promise<void> {
  const [last] = await owner.query<{ xid: string }>(
    sql`SELECT COALESCE(max(xid), '0'::xid8)::text AS xid FROM resource_version WHERE epoch = (SELECT epoch FROM order_epoch)`,
  );
  for (;;) {
    const [row] = await owner.query<{ passed: boolean }>(
      sql`SELECT pg_snapshot_xmin(pg_current_snapshot()) > ${last?.xid ?? '0'}::xid8 AS passed`,
    );
    if (row?.passed === true) return;
    await delay(5);
  }
}

export interface Following {
  /** What the next reading asks for. */
  readonly place: string;
  /** Entries of one page. */
  readPage(): Promise<readonly ToldEntry[]>;
  /** All that is told by now, page after page. */
  read(): Promise<readonly ToldEntry[]>;
}

/** A follower that begins with `path`: `$changes` or a link of before. */
export function openFollowing(caller: Caller, path: string): Following {
  let place = path;
  const readPage = async (): Promise<readonly ToldEntry[]> => {
    const answer = await caller.get(place);
    assert.equal(answer.status, 200, answer.text);
    place = nextOf(answer);
    return answer.json.entry ?? [];
  };
  return {
    get place() {
      return place;
    },
    readPage,
    async read() {
      const all: ToldEntry[] = [];
      for (let page = await readPage(); page.length > 0; page = await readPage()) all.push(...page);
      return all;
    },
  };
}

/** `Type/id` → the resource. */
export type Copy = Map<string, ToldEntry['resource'] & object>;

/** Does to the copy what the entries tell; versions of a resource must not go back. */
export function applyTo(copy: Copy, entries: readonly ToldEntry[], versions: Map<string, number>): void {
  for (const { fullUrl, resource, request, response } of entries) {
    const name = fullUrl.split('/fhir/v2/')[1] ?? '';
    const version = Number(response.etag.replaceAll(/\D/g, ''));
    assert.ok(version > (versions.get(name) ?? 0), `${name}: version ${version} after ${versions.get(name)}`);
    versions.set(name, version);
    if (request.method === 'DELETE') copy.delete(name);
    else if (resource !== undefined) copy.set(name, resource);
  }
}
