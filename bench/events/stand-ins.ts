/** What a bench makes in the database by itself: thousands of subscriptions, and a transaction that lasts. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Ground } from '../service/nodes.ts';
import { patientId } from '../service/prepare.ts';

/** Of the subscriptions as many are told of a patient each; the others name what nobody has. */
const matchingMax = 10;

/**
 * Makes as many subscriptions as those that stand, of four kinds: filters of a topic by an id and by a reference, and criteria of R4 by a
 * token and by a reference. Their rows are written rather than asked for: a handshake each would take minutes.
 */
export async function multiplySubscriptions({ settings }: Ground, count: number): Promise<void> {
  await withOwner(settings['DATABASE_URL'] ?? '', async (client) => {
    const matching = Array.from({ length: matchingMax }, (_, at) => patientId(at));
    await client.query(
      `INSERT INTO subscription (created, sent, firm, application, admits, id, status, policy, entries, definition)
       SELECT s.created, s.sent, s.firm, s.application, true, 'many-' || n, 'active', s.policy, s.entries,
         CASE WHEN n <= cardinality($2::text[]) THEN s.definition || jsonb_build_object('filters', jsonb_build_array(
             jsonb_build_array('_id', jsonb_build_array(($2::text[])[n]))))
           WHEN n % 4 = 0 THEN s.definition || jsonb_build_object('filters', jsonb_build_array(
             jsonb_build_array('_id', jsonb_build_array('nobody-' || n))))
           WHEN n % 4 = 1 THEN s.definition || jsonb_build_object('filters', jsonb_build_array(
             jsonb_build_array('general-practitioner', jsonb_build_array('Practitioner/nobody-' || n))))
           WHEN n % 4 = 2 THEN s.definition - 'topic' || jsonb_build_object('filters', '[]'::jsonb, 'criteria',
             jsonb_build_array(jsonb_build_array('identifier', 'nobody-' || n)))
           ELSE s.definition - 'topic' || jsonb_build_object('filters', '[]'::jsonb, 'type', 'Appointment', 'criteria',
             jsonb_build_array(jsonb_build_array('patient', 'Patient/nobody-' || n))) END
       FROM subscription s CROSS JOIN generate_series(1, $1::int) n WHERE s.status = 'active'`,
      [count, matching],
    );
    await client.query(
      `INSERT INTO subscription_due (due, firm, application, id)
       SELECT ${Number.MAX_SAFE_INTEGER}, firm, application, id FROM subscription ON CONFLICT DO NOTHING`,
    );
    await client.query(
      'UPDATE subscription_feed SET revision = revision + 1, admitting = (SELECT count(*) FROM subscription WHERE admits)',
    );
    await client.query('ANALYZE subscription, subscription_due');
  });
}

/** A transaction that writes and lasts so long: no event of what is written meanwhile may be told before it has ended. */
export async function holdTransaction({ settings }: Ground, ms: number): Promise<void> {
  await withOwner(settings['DATABASE_URL'] ?? '', async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT pg_current_xact_id()');
    await delay(ms);
    await client.query('COMMIT');
  });
}

async function withOwner(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
