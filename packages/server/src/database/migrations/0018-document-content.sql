-- Content of documents (docs/decisions/0192, 0193): what an application may upload by a one-time URL, what it has uploaded, and
-- which resources hold it. The bytes themselves lie in the content store under object_key.

CREATE TABLE document_content (
  created bigint NOT NULL,
  expires bigint NOT NULL,
  size_max bigint NOT NULL CHECK (size_max > 0),
  size bigint CHECK (size BETWEEN 0 AND size_max),
  uploaded bigint,
  firm int NOT NULL,
  application int NOT NULL,
  held boolean NOT NULL DEFAULT false,
  id text COLLATE "C" NOT NULL,
  announced_type text COLLATE "C",
  media_type text COLLATE "C",
  object_key text COLLATE "C",
  sha256 bytea CHECK (octet_length(sha256) = 32),
  sha1 bytea CHECK (octet_length(sha1) = 20),
  PRIMARY KEY (firm, id),
  CONSTRAINT document_content_whole CHECK (num_nulls(size, uploaded, media_type, object_key, sha256, sha1) IN (0, 6)),
  CONSTRAINT document_content_held CHECK (NOT held OR object_key IS NOT NULL)
);
CREATE INDEX document_content_hash ON document_content (firm, sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX document_content_loose ON document_content (firm, application, created) WHERE NOT held;
COMMENT ON TABLE document_content IS 'Content that may be uploaded once until expires, or was; times in milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN document_content.announced_type IS 'Media type that the application said when it asked for the URL; NULL: it said none';
COMMENT ON COLUMN document_content.object_key IS 'Name in the content store; NULL: nothing was uploaded yet';
COMMENT ON COLUMN document_content.held IS 'Whether a resource refers to it; others are removed a day after they were asked for';

CREATE TABLE content_holder (
  firm int NOT NULL,
  content text COLLATE "C" NOT NULL,
  holder text COLLATE "C" NOT NULL,
  patient text COLLATE "C",
  PRIMARY KEY (firm, content, holder)
);
COMMENT ON TABLE content_holder IS 'Resources, of whatever version, that refer to content';
COMMENT ON COLUMN content_holder.holder IS 'Type/id';
COMMENT ON COLUMN content_holder.patient IS 'Reference of the subject as Type/id; NULL: it has none';

CREATE TABLE content_discard (
  since bigint NOT NULL,
  firm int NOT NULL,
  object_key text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, object_key)
);
CREATE INDEX content_discard_since ON content_discard (firm, since);
COMMENT ON TABLE content_discard IS 'Objects of the content store that no content names, not yet or no more: removed from there an hour later';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['document_content', 'content_holder', 'content_discard'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, DELETE, UPDATE (size, uploaded, media_type, object_key, sha256, sha1, held) ON document_content TO praxis_runtime;
GRANT SELECT, INSERT, UPDATE (patient) ON content_holder TO praxis_runtime;
GRANT SELECT, INSERT, DELETE ON content_discard TO praxis_runtime;
