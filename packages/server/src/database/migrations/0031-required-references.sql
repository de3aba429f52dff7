-- A firm may have writes refused that refer to what does not exist (docs/decisions/0247).

ALTER TABLE firm ADD COLUMN requires_references boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN firm.requires_references IS 'Whether writes are refused that refer to a resource of the firm that does not exist';
GRANT UPDATE (requires_references) ON firm TO praxis_runtime;
