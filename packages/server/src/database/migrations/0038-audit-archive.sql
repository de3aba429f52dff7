-- Archives of the audit ledger (docs/decisions/0299): what was moved out of a ledger into files, by whole seals from its beginning.
-- The owner role alone adds rows here and removes those of the ledger; the server reads where a ledger begins.

CREATE TABLE audit_archive (
  at bigint NOT NULL,
  from_at bigint NOT NULL,
  until_at bigint NOT NULL,
  rows bigint NOT NULL,
  row_xid xid8 NOT NULL,
  row_seq bigint NOT NULL,
  firm int NOT NULL,
  number int NOT NULL CHECK (number > 0),
  row_epoch int NOT NULL,
  first_seal int NOT NULL,
  last_seal int NOT NULL,
  moved_seal int NOT NULL,
  late int,
  file text COLLATE "C" NOT NULL,
  digest bytea NOT NULL,
  head bytea NOT NULL,
  signature bytea NOT NULL,
  PRIMARY KEY (firm, number)
);
COMMENT ON TABLE audit_archive IS 'Archives of audit_event, numbered from 1 without gaps: the ledger begins after the last of them, at (row_epoch, row_xid, row_seq)';
COMMENT ON COLUMN audit_archive.from_at IS 'Time of the earliest row that was moved';
COMMENT ON COLUMN audit_archive.until_at IS 'Time of the latest row that was moved, by this archive or one before';
COMMENT ON COLUMN audit_archive.rows IS 'Rows that were moved by this archive';
COMMENT ON COLUMN audit_archive.first_seal IS 'First seal in the file';
COMMENT ON COLUMN audit_archive.last_seal IS 'Last seal in the file';
COMMENT ON COLUMN audit_archive.moved_seal IS 'Seal up to which rows and seals are no longer in the database; below last_seal while that is under way, or was interrupted';
COMMENT ON COLUMN audit_archive.late IS 'Rows that were left behind the place though they are not later than until_at; NULL: not all seals are moved yet';
COMMENT ON COLUMN audit_archive.digest IS 'SHA-256 of the file';
COMMENT ON COLUMN audit_archive.head IS 'Head of the seal moved_seal, to which the next one is chained';
COMMENT ON COLUMN audit_archive.signature IS 'Ed25519 over all of it and the signature of the archive before, by a key that is not in the database';

ALTER TABLE audit_archive ENABLE ROW LEVEL SECURITY;
CREATE POLICY firm_only ON audit_archive TO praxis_runtime
  USING (firm = (NULLIF(current_setting('praxis.firm', true), ''))::int);
GRANT SELECT ON audit_archive TO praxis_runtime;
