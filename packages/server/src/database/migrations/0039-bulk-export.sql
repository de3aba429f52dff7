-- Bulk exports (docs/decisions/0306). A row says what was asked for, of which moment, and how far its files are planned. No resource
-- is copied: a file names the versions that it holds, which are read when it is fetched.

CREATE TABLE bulk_export (
  created bigint NOT NULL,
  transaction_time bigint NOT NULL,
  place_lu bigint NOT NULL DEFAULT 0,
  place_seq bigint NOT NULL DEFAULT 0,
  firm int NOT NULL,
  application int NOT NULL,
  order_epoch int NOT NULL,
  files int NOT NULL DEFAULT 0,
  open_bytes int NOT NULL DEFAULT 0,
  place_type smallint NOT NULL DEFAULT 0,
  id uuid NOT NULL,
  snapshot pg_snapshot NOT NULL,
  policy text COLLATE "C" NOT NULL,
  asked jsonb NOT NULL CHECK (jsonb_typeof(asked) = 'object'),
  open_ids text[] COLLATE "C" NOT NULL DEFAULT '{}',
  open_vids int[] NOT NULL DEFAULT '{}',
  gone_ids text[] COLLATE "C" NOT NULL DEFAULT '{}',
  PRIMARY KEY (firm, id)
);
COMMENT ON TABLE bulk_export IS 'Exports of a firm that an application has begun, each of one moment: https://hl7.org/fhir/uv/bulkdata/export.html';
COMMENT ON COLUMN bulk_export.created IS 'When it was begun, in milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN bulk_export.transaction_time IS 'All that was last updated before is in the moment, in milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN bulk_export.snapshot IS 'The transactions of the order epoch that had ended at the moment; all of earlier epochs had';
COMMENT ON COLUMN bulk_export.policy IS 'Fingerprint of the rights that it was begun under: with others it has ended';
COMMENT ON COLUMN bulk_export.asked IS 'The parameters, and the URL of the request';
COMMENT ON COLUMN bulk_export.place_type IS 'Where planning has come to: the position of the type among those that are exported, then the last version that was looked at; as many as there are types: it has ended';
COMMENT ON COLUMN bulk_export.files IS 'Files that are complete';
COMMENT ON COLUMN bulk_export.open_ids IS 'The resources of the next file so far, with the versions and bytes beside it; gone_ids: what the next file of deletions tells of';

CREATE TABLE bulk_export_file (
  firm int NOT NULL,
  number int NOT NULL,
  rtype smallint NOT NULL,
  export uuid NOT NULL,
  ids text[] COLLATE "C" NOT NULL,
  vids int[],
  PRIMARY KEY (firm, export, number),
  FOREIGN KEY (firm, export) REFERENCES bulk_export (firm, id) ON DELETE CASCADE
);
COMMENT ON TABLE bulk_export_file IS 'Files of a bulk export';
COMMENT ON COLUMN bulk_export_file.ids IS 'The resources';
COMMENT ON COLUMN bulk_export_file.vids IS 'Their versions; NULL: the file tells that they are gone';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['bulk_export', 'bulk_export_file'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, DELETE, UPDATE (place_type, place_lu, place_seq, files, open_bytes, open_ids, open_vids, gone_ids) ON bulk_export TO praxis_runtime;
GRANT SELECT, INSERT, DELETE ON bulk_export_file TO praxis_runtime;
