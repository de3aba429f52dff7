/** How long events are kept for a replay. */
import { sql } from '../../database/sql.ts';
import type { DeclaredJob } from '../../jobs/declared-job.ts';
import { forEachFirm } from '../../storage/for-each-firm.ts';
import type { FeatureServices } from '../feature.ts';
import { eventsKeptMs } from './delivering/due.ts';
import { forgetTokens } from './sockets/binding-store.ts';

/** Events that one statement removes at most. */
const rowsMax = 5_000;
const pauseMs = 3_600_000;

/** Removes events that were delivered, or belong to a run that has ended or to no subscription at all, and binding tokens, when their time is over. */
export const eventExpiryJob: DeclaredJob<Pick<FeatureServices, 'database' | 'clock'>> = {
  worstCase: { harmless: 'removes rows whose time is over, a bounded number at a time' },
  open: ({ database, clock }) => ({
    name: 'removal of old events',
    pauseMs,
    run: () =>
      forEachFirm(database, async (firm) => {
        const before = clock.now() - eventsKeptMs;
        await forgetTokens(database.forFirm(firm), firm, clock.now());
        const gone = await database.forFirm(firm).query(sql`
          DELETE FROM subscription_event v USING (
            SELECT e.subscription, e.number FROM subscription_event e LEFT JOIN subscription s ON s.firm = ${firm} AND s.id = e.subscription
            WHERE e.firm = ${firm} AND e.at < ${before} AND (s.id IS NULL OR e.number <= s.delivered) ORDER BY e.at LIMIT ${rowsMax}) old
          WHERE v.firm = ${firm} AND v.subscription = old.subscription AND v.number = old.number RETURNING v.number`);
        return gone.length === rowsMax;
      }),
  }),
};
