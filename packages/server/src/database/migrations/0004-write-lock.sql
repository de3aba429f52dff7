-- Locks of conditional writes (https://hl7.org/fhir/R4/http.html#ccreate): a row exists only inside the transaction that
-- holds it, and waiting for its key is waiting for that transaction. Rows instead of advisory locks, since a row routes to
-- the firm's shard of a distributed database.
CREATE TABLE write_lock (
  firm int NOT NULL,
  key bytea NOT NULL, -- SHA-256 of what is locked
  PRIMARY KEY (firm, key)
);
ALTER TABLE write_lock ENABLE ROW LEVEL SECURITY;
CREATE POLICY write_lock_of_firm ON write_lock TO praxis_runtime
  USING (firm = NULLIF(current_setting('praxis.firm', true), '')::int);
GRANT SELECT, INSERT, UPDATE, DELETE ON write_lock TO praxis_runtime;
