-- What API keys, firms and addresses have used in the running minute (limits/shared-counters.ts). Not logged: after a crash
-- everybody begins the minute anew.
CREATE UNLOGGED TABLE rate_counter (
  minute bigint NOT NULL, -- since 1970
  used bigint NOT NULL,
  subject text COLLATE "C" PRIMARY KEY
) WITH (fillfactor = 50); -- updates stay in the page
COMMENT ON TABLE rate_counter IS 'Units used in a minute by API keys, firms, and addresses and accounts as keyed hashes';
GRANT SELECT, INSERT, UPDATE, DELETE ON rate_counter TO praxis_runtime;
