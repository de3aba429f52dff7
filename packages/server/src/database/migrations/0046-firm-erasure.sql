-- Erasure of firms (docs/decisions/0317): two operators agree on it, a job removes the rows, and what was removed stays told.

ALTER TABLE firm DROP CONSTRAINT firm_state_check;
ALTER TABLE firm ADD CONSTRAINT firm_state_check CHECK (state IN ('active', 'suspended', 'erasing', 'erased')) NOT VALID;
ALTER TABLE firm VALIDATE CONSTRAINT firm_state_check;
COMMENT ON COLUMN firm.state IS 'erasing: its rows are being removed; erased: this row alone is left, so that its number is never given to another firm';

ALTER TABLE administrator ADD COLUMN password_given_at timestamptz, ADD COLUMN password_own_since timestamptz;
COMMENT ON COLUMN administrator.password_given_at IS 'When somebody else has set the password last, also by making the administrator; NULL: before this column was';
COMMENT ON COLUMN administrator.password_own_since IS 'Since when the password is one that its owner alone has set; NULL: somebody else has set it';
GRANT UPDATE (password_given_at, password_own_since) ON administrator TO praxis_runtime;

CREATE TABLE firm_erasure (
  requested_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  confirmed_at bigint,
  cancelled_at bigint,
  finished_at bigint,
  confirmed_xid xid8,
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  firm int NOT NULL,
  order_epoch int,
  state text COLLATE "C" NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'cancelled', 'expired', 'confirmed', 'erased')),
  environment text COLLATE "C" NOT NULL,
  prefix text COLLATE "C" NOT NULL,
  name text NOT NULL,
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  requested_by text COLLATE "C" NOT NULL,
  confirmed_by text COLLATE "C",
  cancelled_by text COLLATE "C",
  counts jsonb NOT NULL CHECK (jsonb_typeof(counts) = 'object'),
  ledger jsonb CHECK (jsonb_typeof(ledger) = 'object'),
  erased jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(erased) = 'object'),
  proof text,
  signature bytea,
  CONSTRAINT firm_erasure_two CHECK (confirmed_by <> requested_by),
  CONSTRAINT firm_erasure_confirmed CHECK (state NOT IN ('confirmed', 'erased') OR (confirmed_by IS NOT NULL AND confirmed_at IS NOT NULL)),
  CONSTRAINT firm_erasure_proven CHECK ((state = 'erased') = (proof IS NOT NULL) AND (proof IS NULL) = (signature IS NULL))
);
CREATE UNIQUE INDEX firm_erasure_open ON firm_erasure (firm) WHERE state IN ('requested', 'confirmed');
COMMENT ON TABLE firm_erasure IS 'Erasures of firms, requested by one operator and confirmed by another; they outlive the firm';
COMMENT ON COLUMN firm_erasure.requested_at IS 'Milliseconds since 1970-01-01T00:00:00Z, as all moments here';
COMMENT ON COLUMN firm_erasure.confirmed_xid IS 'Transaction that confirmed it, in the order epoch beside it: rows are removed when none from before runs any more';
COMMENT ON COLUMN firm_erasure.counts IS 'What the firm held when it was requested';
COMMENT ON COLUMN firm_erasure.ledger IS 'The last seal of its audit ledger, noted before any row was removed';
COMMENT ON COLUMN firm_erasure.erased IS 'Rows removed so far, by table; written in the transactions that remove them';
COMMENT ON COLUMN firm_erasure.proof IS 'What was erased, in JSON, signed by the key of the seals';
GRANT SELECT, INSERT (firm, requested_at, expires_at, environment, prefix, name, reason, requested_by, counts) ON firm_erasure TO praxis_runtime;
GRANT UPDATE (state, confirmed_at, confirmed_by, confirmed_xid, order_epoch, cancelled_at, cancelled_by) ON firm_erasure TO praxis_runtime;
