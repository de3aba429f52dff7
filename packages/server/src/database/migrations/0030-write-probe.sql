-- One row that every process writes again every few seconds, so that readiness tells when writes fail (docs/decisions/0246).

CREATE TABLE write_probe (
  written_at timestamptz NOT NULL DEFAULT now(),
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row)
) WITH (fillfactor = 10); -- updates stay in the page
COMMENT ON TABLE write_probe IS 'When a process last tried whether writes succeed';
INSERT INTO write_probe DEFAULT VALUES;
GRANT SELECT, UPDATE (written_at) ON write_probe TO praxis_runtime;
