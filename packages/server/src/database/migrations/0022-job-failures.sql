-- Jobs that fail for a firm pause, and are parked after several failures (docs/decisions/0219).

CREATE TABLE job_failure (
  job text COLLATE "C" NOT NULL,
  firm int NOT NULL REFERENCES firm,
  failures int NOT NULL CHECK (failures > 0),
  reason text NOT NULL,
  failed_at bigint NOT NULL,
  retry_at bigint,
  PRIMARY KEY (job, firm)
);
COMMENT ON TABLE job_failure IS 'Jobs that failed for a firm, since they last succeeded for it';
COMMENT ON COLUMN job_failure.failures IS 'How often in a row';
COMMENT ON COLUMN job_failure.reason IS 'Code of the last error, without values of the firm';
COMMENT ON COLUMN job_failure.failed_at IS 'When it failed last, in milliseconds since 1970';
COMMENT ON COLUMN job_failure.retry_at IS 'When it is tried again, in milliseconds since 1970; NULL: it is parked until an operator releases it';
GRANT SELECT, INSERT, UPDATE, DELETE ON job_failure TO praxis_runtime;
