/** What operators are told of notifications: what came of them, how late events are, and how many endpoints fail. */
import type { Clock } from '../../../base/clock.ts';
import type { Metrics } from '../../../base/metrics.ts';
import type { Database } from '../../../database/database.ts';
import { sql } from '../../../database/sql.ts';
import type { MessageOutcome } from '../../../outbound/webhook.ts';
import { isKept } from '../../../tenancy/firms.ts';
import { computeAskedMs, computePauseMs } from './attempts.ts';

/** Subscriptions that fail, and such as are due, that are counted: what more would say nothing else. */
const failingMax = 10_000;
const dueMax = 10_000;

/** What has not been tried again by this time after its pause, another process tries. */
const graceMs = 60_000;

/** A notification that was sent. */
export interface Delivery {
  /** Of which subscription. */
  readonly due: { readonly environment: string; readonly firm: number; readonly id: string };
  readonly outcome: MessageOutcome;
  /** Attempts that had failed before. */
  readonly failedBefore: number;
  /** When the first change was made of which it tells; undefined: it tells of none. */
  readonly changedMs: number | undefined;
  /** It went to a client that had connected, and would not be tried again. */
  readonly isSocket: boolean;
}

export interface DeliveryMeter {
  note(delivery: Delivery): void;
}

export interface DeliveryMeterOptions {
  readonly metrics: Pick<Metrics, 'deliveries' | 'deliveryDelaySeconds' | 'subscriptionsFailing'>;
  readonly clock: Clock;
  readonly deliveryPauseMs: number;
}

/** Counts what this process sends. */
export function openDeliveryMeter({ metrics, clock, deliveryPauseMs }: DeliveryMeterOptions): DeliveryMeter {
  const failing = new Map<string, { readonly environment: string; readonly untilMs: number }>();
  metrics.subscriptionsFailing.readFrom(() => {
    const nowMs = clock.now();
    for (const [key, { untilMs }] of failing) if (untilMs < nowMs) failing.delete(key);
    const byEnvironment = Map.groupBy(failing.values(), ({ environment }) => environment);
    return [...byEnvironment].map(([environment, each]) => [{ environment }, each.length] as const);
  });
  return {
    note({ due: { environment, firm, id }, outcome, failedBefore, changedMs, isSocket }) {
      const nowMs = clock.now();
      const key = `${firm} ${id}`;
      const came = classify(outcome);
      metrics.deliveries.inc({ environment, outcome: came });
      if (came === 'accepted') {
        failing.delete(key);
        if (changedMs !== undefined)
          metrics.deliveryDelaySeconds.observe({ environment }, Math.max(0, nowMs - changedMs) / 1000);
        return;
      }
      if (isSocket || (failing.size >= failingMax && !failing.has(key))) return;
      const pauseMs = Math.max(computePauseMs(deliveryPauseMs, failedBefore + 1), computeAskedMs(outcome));
      failing.set(key, { environment, untilMs: nowMs + pauseMs + graceMs });
    },
  };
}

function classify(outcome: MessageOutcome): 'accepted' | 'refused' | 'failed' | 'unreachable' {
  if (outcome.kind !== 'answered') return 'unreachable';
  if (outcome.status >= 200 && outcome.status < 300) return 'accepted';
  return outcome.status >= 400 && outcome.status < 500 ? 'refused' : 'failed';
}

/** What waits in an environment for a process that sends it. */
export interface DueInEnvironment {
  readonly environment: string;
  readonly count: number;
  /** How long the one has waited that has waited longest, in ms. */
  readonly longestMs: number;
}

/** Subscriptions that are due and that no process has taken, of each environment. */
export async function countDue(database: Database, nowMs: number): Promise<readonly DueInEnvironment[]> {
  return await database.query<DueInEnvironment>(sql`
    SELECT e.name AS environment, count(d.firm)::int AS count, COALESCE(${nowMs}::bigint - min(d.due), 0) AS "longestMs"
    FROM environment e LEFT JOIN (
      SELECT q.firm, q.due, f.environment FROM subscription_due q JOIN firm f ON f.id = q.firm AND ${isKept}
      WHERE q.due <= ${nowMs} AND q.leased <= ${nowMs} ORDER BY q.due LIMIT ${dueMax}) d ON d.environment = e.id
    GROUP BY e.name ORDER BY e.name`);
}
