/**
 * What a request leaves behind: log lines, rows of the audit ledger, changed tables, its answer. Nothing secret may stand in
 * any of them.
 */
import assert from 'node:assert/strict';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import type { CapturedLog } from '../support/captured-log.ts';
import type { Answer, TestService } from '../support/service.ts';
import { everyTable } from '../support/tenant-rows.ts';

/** What is counted of requests, refused ones too, a little later. */
const counts: ReadonlySet<string> = new Set(['rate_counter', 'legacy_use', 'legacy_use_writer', 'legacy_agent']);

/** Every row of every table but the ledger and the counts, condensed; that a credential was used is no change. */
async function everything(owner: Database): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const table of (await everyTable(owner)).filter((name) => !name.startsWith('audit_') && !counts.has(name))) {
    const [row] = await owner.query<{ digest: string }>(sql`
      SELECT md5(COALESCE(string_agg(line, E'\n' ORDER BY line), '')) AS digest
      FROM (SELECT (to_jsonb(t) - 'last_used_at')::text AS line FROM ${sql.identifier(table)} t) lines`);
    found[table] = row?.digest ?? '';
  }
  return found;
}

async function auditRows(service: TestService): Promise<readonly string[]> {
  const { owner } = service.database;
  await service.service.parts.ledger.flush();
  const tables = (await everyTable(owner)).filter((name) => name.startsWith('audit_') && name !== 'audit_event');
  const rows = await Promise.all(
    [...tables, 'audit_ledger'].map((table) =>
      owner.query<{ row: string }>(sql`SELECT t::text AS row FROM ${sql.identifier(table)} t`),
    ),
  );
  return rows.flat().map(({ row }) => row);
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;
export type Send = (headers: Headers) => Promise<Answer>;

export interface Outcome {
  readonly answer: Answer;
  /** Tables whose rows are others now. */
  readonly changed: readonly string[];
  /** What the audit ledger says of the request. */
  readonly noted: readonly string[];
}

export interface Traces {
  /**
   * Sends a request and looks for secrets in all that it leaves.
   * @param repeats what the answer, which goes back to the sender, may repeat
   */
  send(make: Send, repeats?: string): Promise<Outcome>;
}

/** @param secrets looked for; may grow */
export function traces(service: TestService, captured: CapturedLog, secrets: ReadonlySet<string>): Traces {
  const { owner } = service.database;
  let sent = 0;
  const send = async (make: Send, repeats?: string): Promise<Outcome> => {
    sent += 1;
    const id = `traced-${sent}`;
    const before = await everything(owner);
    const first = captured.lines.length;
    const answer = await make({ 'x-request-id': id });
    const now = await everything(owner);
    const rows = await auditRows(service);
    const lines = captured.lines.slice(first);
    const told = [...lines, ...rows, answer.text.replaceAll(repeats ?? '\0', ''), ...answer.headers.values()];
    for (const text of told) for (const each of secrets) assert.equal(text.includes(each), false, `${each} in ${text}`);
    assert.ok(
      lines.some((line) => line.includes(`"${id}"`) && line.includes(`"status":${answer.status}`)),
      'it is logged',
    );
    return {
      answer,
      // The service itself writes its probe every few seconds.
      changed: Object.keys(now).filter((table) => table !== 'write_probe' && now[table] !== before[table]),
      noted: rows.filter((row) => row.split(/[,()]/).includes(id)),
    };
  };
  return { send };
}
