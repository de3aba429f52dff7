-- Attempts to reach endpoints, as practices, vendors and operators see them, replays and lanes of subscriptions (docs/decisions/0322,
-- 0323), and what becomes of an import that has ended.

ALTER TABLE subscription
  ADD COLUMN tries bigint NOT NULL DEFAULT 0,
  ADD COLUMN replays int NOT NULL DEFAULT 0,
  ADD COLUMN vendor_suspended boolean NOT NULL DEFAULT false,
  ADD COLUMN lane_places bigint[];
COMMENT ON COLUMN subscription.tries IS 'Attempts to reach the endpoint so far';
COMMENT ON COLUMN subscription.replays IS 'How often events were told again because somebody asked for it: they have another webhook-id then';
COMMENT ON COLUMN subscription.vendor_suspended IS 'As suspended, by the vendor of the application: each takes back its own alone';
COMMENT ON COLUMN subscription.lane_places IS 'Of events up to batch_end that are told in lanes: number of the last event of each lane that was delivered; NULL: none is under way';
GRANT UPDATE (tries, replays, vendor_suspended, lane_places) ON subscription TO praxis_runtime;

CREATE TABLE subscription_attempt (
  number bigint NOT NULL,
  at bigint NOT NULL,
  retry bigint,
  first_event bigint,
  last_event bigint,
  firm int NOT NULL,
  took int NOT NULL,
  status smallint,
  place smallint NOT NULL,
  subscription text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('handshake', 'heartbeat', 'event-notification')),
  reason text COLLATE "C",
  PRIMARY KEY (firm, subscription, place),
  FOREIGN KEY (firm, subscription) REFERENCES subscription (firm, id) ON DELETE CASCADE
);
COMMENT ON TABLE subscription_attempt IS 'The last attempts to reach the endpoint of each subscription: a new one takes the place of the oldest';
COMMENT ON COLUMN subscription_attempt.number IS 'As subscription.tries was';
COMMENT ON COLUMN subscription_attempt.status IS 'Of the answer; NULL: there was none, and reason says why, in words of the service';
COMMENT ON COLUMN subscription_attempt.took IS 'In milliseconds';
COMMENT ON COLUMN subscription_attempt.retry IS 'When it is tried again; NULL: it need not be, or is not';

ALTER TABLE subscription_attempt ENABLE ROW LEVEL SECURITY;
CREATE POLICY firm_only ON subscription_attempt TO praxis_runtime
  USING (firm = (NULLIF(current_setting('praxis.firm', true), ''))::int);
GRANT SELECT, INSERT, DELETE, UPDATE (number, at, retry, first_event, last_event, took, status, kind, reason)
  ON subscription_attempt TO praxis_runtime;

ALTER TABLE import_run
  ADD COLUMN stored bigint NOT NULL DEFAULT 0,
  ADD COLUMN skipped bigint NOT NULL DEFAULT 0,
  ADD COLUMN refused bigint NOT NULL DEFAULT 0,
  ADD COLUMN cancelled boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN import_run.stored IS 'Resources, when it has ended, as skipped and refused; before that its ranges tell';
COMMENT ON COLUMN import_run.cancelled IS 'Somebody has ended it before it was done; what it had stored stays';
GRANT UPDATE (stored, skipped, refused, cancelled) ON import_run TO praxis_runtime;
