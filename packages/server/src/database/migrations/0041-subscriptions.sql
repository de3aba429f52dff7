-- Subscriptions (docs/decisions/0308): how each stands, the events that it was given and has not been forgotten, how far each firm's
-- changes were looked at, and when something is to be done for which subscription.

CREATE TABLE subscription (
  created bigint NOT NULL,
  events bigint NOT NULL DEFAULT 0 CHECK (events >= 0),
  delivered bigint NOT NULL DEFAULT 0,
  batch_end bigint,
  sent bigint NOT NULL DEFAULT 0,
  failing bigint,
  retry bigint,
  ends bigint,
  ended bigint,
  previous_secret_ends bigint,
  firm int NOT NULL,
  application int NOT NULL,
  secret int NOT NULL DEFAULT 1 CHECK (secret > 0),
  attempts int NOT NULL DEFAULT 0,
  admits boolean NOT NULL DEFAULT false,
  suspended boolean NOT NULL DEFAULT false,
  id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('requested', 'active', 'error', 'off')),
  reason text COLLATE "C",
  policy text COLLATE "C",
  entries text[] COLLATE "C",
  definition jsonb NOT NULL CHECK (jsonb_typeof(definition) = 'object'),
  PRIMARY KEY (firm, id),
  CHECK (delivered <= events)
);
CREATE INDEX subscription_admitting ON subscription (firm) WHERE admits;
COMMENT ON TABLE subscription IS 'How the subscriptions of applications stand; what they ask for is the resource Subscription';
COMMENT ON COLUMN subscription.created IS 'In milliseconds since 1970-01-01T00:00:00Z, as all moments here';
COMMENT ON COLUMN subscription.events IS 'Number of the last event';
COMMENT ON COLUMN subscription.delivered IS 'Number of the last event that was delivered: all before were, too, or belong to an earlier run';
COMMENT ON COLUMN subscription.batch_end IS 'Number of the last event of the notification that is being tried; it stays the same until it is delivered';
COMMENT ON COLUMN subscription.sent IS 'When the endpoint last accepted a notification';
COMMENT ON COLUMN subscription.failing IS 'Since when no notification was accepted; NULL: the last one was';
COMMENT ON COLUMN subscription.retry IS 'When to try again; NULL: at once';
COMMENT ON COLUMN subscription.ends IS 'Subscription.end';
COMMENT ON COLUMN subscription.ended IS 'Since when its status is error or off';
COMMENT ON COLUMN subscription.secret IS 'Which of its secrets is valid; the one before is, too, until previous_secret_ends';
COMMENT ON COLUMN subscription.attempts IS 'Attempts in a row that failed';
COMMENT ON COLUMN subscription.admits IS 'Whether changes become events of it';
COMMENT ON COLUMN subscription.suspended IS 'The practice or the operator has ended it: nothing is sent, whatever the application asks for';
COMMENT ON COLUMN subscription.policy IS 'Fingerprint of the rights that its run began under: with others it has ended';
COMMENT ON COLUMN subscription.entries IS 'Access entries of the token that asked for it; NULL: one of the legacy flow, which carries none';
COMMENT ON COLUMN subscription.definition IS 'What was read of the resource';

CREATE TABLE subscription_event (
  number bigint NOT NULL,
  at bigint NOT NULL,
  firm int NOT NULL,
  vid int NOT NULL,
  rtype smallint NOT NULL,
  subscription text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('create', 'update', 'delete')),
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, subscription, number),
  FOREIGN KEY (firm, subscription) REFERENCES subscription (firm, id) ON DELETE CASCADE
);
CREATE INDEX subscription_event_age ON subscription_event (firm, at);
COMMENT ON TABLE subscription_event IS 'Events of subscriptions, numbered once, when they are admitted; content is read when it is sent';
COMMENT ON COLUMN subscription_event.at IS 'lastUpdated of the version';
COMMENT ON COLUMN subscription_event.kind IS 'What the change is to who subscribed: a version that comes among those that it may see is a create';

CREATE TABLE subscription_feed (
  seq bigint NOT NULL,
  xid xid8 NOT NULL,
  revision bigint NOT NULL DEFAULT 1,
  firm int PRIMARY KEY,
  epoch int NOT NULL,
  admitting int NOT NULL DEFAULT 0,
  is_version boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE subscription_feed IS 'How far the changes of a firm were looked at for its subscriptions: a place in the order of changes';
COMMENT ON COLUMN subscription_feed.revision IS 'Raised with each change of which subscriptions admit what: what was looked at under another one is looked at again';
COMMENT ON COLUMN subscription_feed.admitting IS 'Subscriptions whose events are admitted; 0: changes are not looked at';

CREATE TABLE subscription_due (
  due bigint NOT NULL,
  leased bigint NOT NULL DEFAULT 0,
  firm int NOT NULL,
  application int NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, id)
);
CREATE INDEX subscription_due_time ON subscription_due (due);
COMMENT ON TABLE subscription_due IS 'When something is to be done for a subscription: a handshake, a delivery, a heartbeat, its end';
COMMENT ON COLUMN subscription_due.leased IS 'Until when a process has taken it; a process that dies leaves it to others then';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['subscription', 'subscription_event'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, DELETE, UPDATE (events, delivered, batch_end, sent, failing, retry, ends, ended, previous_secret_ends, secret,
  attempts, admits, suspended, status, reason, policy, entries, definition) ON subscription TO praxis_runtime;
GRANT SELECT, INSERT, DELETE ON subscription_event TO praxis_runtime;
GRANT SELECT, INSERT, UPDATE (epoch, xid, seq, is_version, revision, admitting) ON subscription_feed TO praxis_runtime;
GRANT SELECT, INSERT, DELETE, UPDATE (due, leased) ON subscription_due TO praxis_runtime;
