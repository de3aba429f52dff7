/**
 * Where ChargeItems came from: the application that recorded one, when, and its id of the transaction, which it gives to one
 * charge only (docs/decisions/0196).
 */
import { boxStored, type Stored } from '../../access/disclosure.ts';
import { sql } from '../../database/sql.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import type { StatementOptions, StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';

/** Who recorded a charge, and when. */
export interface ChargeSource {
  /** Number of the application. */
  readonly application: number;
  readonly receivedMs: number;
}

export interface ChargeNote extends ChargeSource {
  /** Id of the ChargeItem. */
  readonly charge: string;
  /** undefined: the application gave none. */
  readonly transaction: string | undefined;
}

/** Which charges are wanted; what is absent does not narrow. */
export interface ChargeFilter {
  /** Number of the application. */
  readonly application?: number | undefined;
  readonly transaction?: string;
  readonly status?: string;
  /** Id of the Patient. */
  readonly patient?: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface InboundCharge {
  readonly charge: string;
  /** Name of the application as it is now. */
  readonly application: string;
  readonly transaction: string | undefined;
  readonly receivedMs: number;
  readonly content: Stored<'ChargeItem'>;
}

/** Notes of charges are read by no statement of the writes that wait. */
const apart: StatementOptions = { standsApart: true };

interface InboundRow {
  readonly charge: string | null;
  readonly application: string;
  readonly transaction: string | null;
  readonly received: number;
  readonly content: string;
}

/** Takes the note of a charge away; undefined where there was none. Inside `transaction`, with the write of the charge. */
export async function releaseCharge(
  store: StatementRunner,
  scope: TenantScope,
  charge: string,
): Promise<ChargeSource | undefined> {
  const gone = sql`
    DELETE FROM inbound_charge WHERE firm = ${scope.firm} AND charge = ${charge}
    RETURNING application, received AS "receivedMs"`;
  return (await store.change<ChargeSource>(scope, [gone]))[0];
}

/**
 * Notes a charge, unless the application has given the id of the transaction to another one. Waits for a transaction that is
 * noting the same. Inside `transaction`, with the write of the charge.
 * @returns the id of that other one; undefined: it is noted
 */
export async function noteCharge(
  store: StatementRunner,
  scope: TenantScope,
  { charge, transaction, application, receivedMs }: ChargeNote,
): Promise<string | undefined> {
  const { firm } = scope;
  const noting = sql`
    INSERT INTO inbound_charge (firm, received, application, charge, transaction)
    VALUES (${firm}, ${receivedMs}, ${application}, ${charge}, ${transaction ?? null})
    ON CONFLICT DO NOTHING RETURNING 1 AS noted`;
  const noted = await store.change(scope, [noting]);
  if (noted.length === 1 || transaction === undefined) return undefined;
  // A statement of its own: that of the note does not see what it waited for.
  const holding = sql`
    SELECT e.epoch, c.charge
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT charge FROM inbound_charge
      WHERE firm = ${firm} AND application = ${application}::int AND transaction = ${transaction}::text OFFSET 0) c ON true
    WHERE e.firm = ${firm} AND e.application = ${scope.application}`;
  const [held] = await store.run<{ readonly charge: string | null }>(scope, holding, apart);
  const holder = held?.charge ?? undefined;
  return holder === charge ? undefined : holder;
}

/** Charges that applications have recorded and that are still there, newest first. */
export async function findInboundCharges(
  store: StatementRunner,
  scope: TenantScope,
  filter: ChargeFilter,
  limit: number,
): Promise<readonly InboundCharge[]> {
  const { firm, application } = scope;
  const { application: source = null, status = null, transaction = null, patient = null, fromMs, toMs } = filter;
  const statement = sql`
    SELECT e.epoch, d.charge, a.name AS application, d.transaction, d.received, d.content
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT c.charge, c.application, c.transaction, c.received, r.content
      FROM inbound_charge c JOIN resource r ON r.firm = ${firm} AND r.rtype = ${getTypeNumber('ChargeItem')} AND r.id = c.charge
      WHERE c.firm = ${firm} AND c.received >= ${fromMs}::bigint AND c.received < ${toMs}::bigint
        AND r.content IS NOT NULL
        AND (${source}::int IS NULL OR c.application = ${source}::int)
        AND (${transaction}::text IS NULL OR c.transaction = ${transaction}::text)
        AND (${status}::text IS NULL OR r.content::json ->> 'status' = ${status}::text)
        AND (${patient}::text IS NULL
          OR right('/' || split_part(r.content::json #>> '{subject,reference}', '/_history/', 1), length('/Patient/' || ${patient}::text))
            = '/Patient/' || ${patient}::text)
      ORDER BY c.received DESC, c.charge DESC LIMIT ${limit}) d ON true
    LEFT JOIN application a ON a.id = d.application
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY d.received DESC, d.charge DESC`;
  const rows = await store.run<InboundRow>(scope, statement, { idempotent: true });
  return rows.flatMap(({ charge, application: name, transaction, received: receivedMs, content }) => {
    if (charge === null) return [];
    const noted = { charge, application: name, transaction: transaction ?? undefined, receivedMs };
    return [{ ...noted, content: boxStored(content) }];
  });
}
