-- Storage of resources: current rows, versions, index rows, the audit ledger, and the one function that writes them.
-- Every key begins with the firm, and every table is closed by row-level security to all firms but the session's
-- (setting praxis.firm); a session that set none sees nothing. Content is the JSON text as it is returned: it is never
-- parsed here. Wide columns stand first, so that no row is padded.

CREATE SEQUENCE resource_order AS bigint;
COMMENT ON SEQUENCE resource_order IS 'Numbers resources (rid) and the changes inside a transaction (seq); gaps mean nothing';
GRANT USAGE ON SEQUENCE resource_order TO praxis_runtime;

CREATE TABLE order_epoch (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  epoch int NOT NULL CHECK (epoch > 0)
);
COMMENT ON TABLE order_epoch IS 'One row for the database. Raised after a restore, fail-over or shard move, when transaction ids may start again: changes are ordered by (epoch, xid, seq)';
INSERT INTO order_epoch (epoch) VALUES (1);
GRANT SELECT ON order_epoch TO praxis_runtime;

CREATE TABLE resource (
  rid bigint NOT NULL,
  lu bigint NOT NULL,
  firm int NOT NULL,
  vid int NOT NULL,
  rtype smallint NOT NULL,
  id text COLLATE "C" NOT NULL,
  content text,
  PRIMARY KEY (firm, rtype, id),
  UNIQUE (firm, rid)
);
CREATE INDEX resource_updated ON resource (firm, rtype, lu, rid) WHERE content IS NOT NULL;
COMMENT ON TABLE resource IS 'The current version of every resource, of deleted ones too; no free space is kept for updates: lu is indexed, so none stays in its page';
COMMENT ON COLUMN resource.rid IS 'Number of the resource in index tables and page order; kept for life, also through deletion and revival';
COMMENT ON COLUMN resource.lu IS 'meta.lastUpdated in milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN resource.vid IS 'meta.versionId; counts on through deletion and revival';
COMMENT ON COLUMN resource.rtype IS 'Number of the resource type (search/numbers.ts)';
COMMENT ON COLUMN resource.content IS 'Full JSON text including id and meta; NULL: deleted';

CREATE TABLE resource_version (
  lu bigint NOT NULL,
  xid xid8 NOT NULL,
  seq bigint NOT NULL,
  firm int NOT NULL,
  vid int NOT NULL,
  epoch int NOT NULL,
  application int NOT NULL,
  rtype smallint NOT NULL,
  method "char" NOT NULL,
  id text COLLATE "C" NOT NULL,
  content text,
  PRIMARY KEY (firm, rtype, id, vid)
);
CREATE INDEX resource_version_order ON resource_version (firm, epoch, xid, seq);
COMMENT ON TABLE resource_version IS 'Every version of every resource, the current one and deletions included; rows are never changed. Read as a change feed in the order (epoch, xid, seq), never past pg_snapshot_xmin(pg_current_snapshot())';
COMMENT ON COLUMN resource_version.method IS 'First letter of the interaction: create, update, patch or delete';
COMMENT ON COLUMN resource_version.content IS 'NULL: this version is the deletion';

CREATE TABLE index_token (
  rid bigint NOT NULL,
  system bigint NOT NULL,
  firm int NOT NULL,
  param int NOT NULL,
  code text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, param, code, rid, system)
);
CREATE INDEX index_token_rid ON index_token (firm, rid, param);
COMMENT ON TABLE index_token IS 'Values of token and uri search parameters; system 0: none';

CREATE TABLE index_reference (
  rid bigint NOT NULL,
  firm int NOT NULL,
  param int NOT NULL,
  target_rtype smallint NOT NULL,
  target_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, param, target_rtype, target_id, rid)
);
CREATE INDEX index_reference_rid ON index_reference (firm, rid, param);
COMMENT ON TABLE index_reference IS 'Values of reference search parameters; target_rtype 0: target_id is not an id of this server but the reference as sent';

CREATE TABLE index_date (
  rid bigint NOT NULL,
  lo bigint NOT NULL,
  hi bigint NOT NULL,
  firm int NOT NULL,
  param int NOT NULL,
  PRIMARY KEY (firm, param, lo, hi, rid)
);
CREATE INDEX index_date_rid ON index_date (firm, rid, param);
-- The few ranges longer than 25 h: they may begin long before the day that a search asks for (decision 0032).
CREATE INDEX index_date_wide ON index_date (firm, param, lo, hi, rid) WHERE lo < hi - 90000000000;
COMMENT ON TABLE index_date IS 'Values of date search parameters as [lo, hi) in microseconds since 1970-01-01T00:00:00Z';

CREATE TABLE index_string (
  rid bigint NOT NULL,
  firm int NOT NULL,
  param int NOT NULL,
  value text COLLATE "C" NOT NULL,
  original text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, param, value, rid, original)
);
CREATE INDEX index_string_rid ON index_string (firm, rid, param);
COMMENT ON TABLE index_string IS 'Values of string search parameters: folded for comparison, and as sent for :exact (empty: not to be found by it)';

-- double precision, not numeric: PostgreSQL may use a comparison as an index condition under row-level security only when
-- it is marked leakproof, and those of numeric are not.
CREATE TABLE index_number (
  rid bigint NOT NULL,
  system bigint NOT NULL,
  lo double precision NOT NULL,
  hi double precision NOT NULL,
  firm int NOT NULL,
  param int NOT NULL,
  code text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, param, lo, hi, rid, system, code)
);
CREATE INDEX index_number_rid ON index_number (firm, rid, param);
COMMENT ON TABLE index_number IS 'Values of number and quantity search parameters as [lo, hi], closed at both ends; system 0 and code empty: no unit';

CREATE TABLE audit_event (
  at bigint NOT NULL,
  xid xid8 NOT NULL,
  seq bigint NOT NULL,
  firm int NOT NULL,
  epoch int NOT NULL,
  application int NOT NULL,
  vid int,
  rtype smallint,
  outcome smallint NOT NULL,
  interaction text COLLATE "C" NOT NULL,
  id text COLLATE "C",
  subject text COLLATE "C",
  token_id text COLLATE "C",
  request_id text COLLATE "C",
  PRIMARY KEY (firm, seq)
);
COMMENT ON TABLE audit_event IS 'Who did what, written in the transaction that did it; the server can add rows and read them, never change or remove them';
COMMENT ON COLUMN audit_event.at IS 'Milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN audit_event.outcome IS 'Code of http://hl7.org/fhir/R4/valueset-audit-event-outcome.html: 0 success, 4 minor failure, 8 serious failure, 12 major failure';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['resource', 'resource_version', 'index_token', 'index_reference', 'index_date',
                                      'index_string', 'index_number', 'audit_event'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;

GRANT SELECT, INSERT, UPDATE (lu, vid, content) ON resource TO praxis_runtime;
GRANT SELECT, INSERT ON resource_version, audit_event TO praxis_runtime;
GRANT SELECT, INSERT, DELETE ON index_token, index_reference, index_date, index_string, index_number TO praxis_runtime;

-- Long contents are compressed by lz4 where the server was built with it: it decompresses several times faster.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
    ALTER TABLE resource ALTER COLUMN content SET COMPRESSION lz4;
    ALTER TABLE resource_version ALTER COLUMN content SET COMPRESSION lz4;
  END IF;
END $$;

-- Writes resources of one firm: current rows, version rows, audit rows and index rows, all in the caller's transaction.
-- Returns one row per given resource, in order: ('written', its new version) or ('conflict', the current version or NULL
-- where there is none); what conflicts changes nothing, the others are written. When the access epoch differs from
-- in_access_epoch, nothing is written and the only row is ('stale', NULL).
--
-- in_expected: 0 = no row may exist, not even of a deleted resource; n = version n must be the current one, deleted or not.
-- in_content: NULL = delete. The index rows of all resources stand one after another in the arrays of their kind, those of
-- one resource together; …_row is the position of the resource they belong to. The rows of one resource must be distinct,
-- since creates insert them without looking for others (ON CONFLICT would make the function a sixth slower).
-- Updates delete the index rows that are gone and insert those that are new: what stays is not touched.
--
-- Plans are generic and by index always, because they are made while tables are new and kept for the life of a
-- connection: each statement names whole keys of an index. NOT IN (rather than NOT EXISTS) is hashed whatever the planner
-- believes about sizes, so a resource with thousands of index rows stays linear.
CREATE FUNCTION praxis_write(
  in_firm int, in_application int, in_access_epoch bigint,
  in_rtype smallint[], in_id text[], in_expected int[], in_lu bigint[], in_content text[],
  audit_at bigint[], audit_interaction text[], audit_subject text[], audit_token_id text[], audit_request_id text[],
  token_row int[], token_param int[], token_system bigint[], token_code text[],
  reference_row int[], reference_param int[], reference_target_rtype smallint[], reference_target_id text[],
  date_row int[], date_param int[], date_lo bigint[], date_hi bigint[],
  string_row int[], string_param int[], string_value text[], string_original text[],
  number_row int[], number_param int[], number_lo double precision[], number_hi double precision[],
  number_system bigint[], number_code text[]
) RETURNS TABLE (outcome text, vid int)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
#variable_conflict use_column
DECLARE
  one record;
  new_rid bigint;
  new_seq bigint;
  new_vid int;
  now_xid xid8;
  now_epoch int;
  -- By position: the rid whose index rows are still to be inserted; NULL where there is nothing to insert.
  created bigint[] := '{}';
  overtaken int;
  place int;
  -- Bounds of a resource's rows in the arrays of a kind; NULL where it has none, and a slice by NULL is empty.
  first_row int;
  last_row int;
BEGIN
  IF (SELECT e.epoch FROM access_epoch e WHERE e.firm = in_firm AND e.application = in_application)
      IS DISTINCT FROM in_access_epoch THEN
    outcome := 'stale';
    RETURN NEXT;
    RETURN;
  END IF;
  now_xid := pg_current_xact_id();
  now_epoch := (SELECT o.epoch FROM order_epoch o);

  FOR one IN
    SELECT * FROM unnest(in_rtype, in_id, in_expected, in_lu, in_content,
        audit_at, audit_interaction, audit_subject, audit_token_id, audit_request_id)
      WITH ORDINALITY AS n(rtype, id, expected, lu, content, at, interaction, subject, token_id, request_id, place)
  LOOP
    new_seq := nextval('resource_order');
    new_vid := one.expected + 1;
    IF one.expected = 0 THEN
      INSERT INTO resource (rid, lu, firm, vid, rtype, id, content)
        VALUES (new_seq, one.lu, in_firm, new_vid, one.rtype, one.id, one.content)
        ON CONFLICT (firm, rtype, id) DO NOTHING
        RETURNING rid INTO new_rid;
    ELSE
      UPDATE resource SET lu = one.lu, vid = new_vid, content = one.content
        WHERE firm = in_firm AND rtype = one.rtype AND id = one.id AND vid = one.expected
        RETURNING rid INTO new_rid;
    END IF;

    IF new_rid IS NULL THEN
      created := created || NULL::bigint;
      outcome := 'conflict';
      vid := (SELECT r.vid FROM resource r WHERE r.firm = in_firm AND r.rtype = one.rtype AND r.id = one.id);
      RETURN NEXT;
      CONTINUE;
    END IF;

    INSERT INTO resource_version (lu, xid, seq, firm, vid, epoch, application, rtype, method, id, content)
      VALUES (one.lu, now_xid, new_seq, in_firm, new_vid, now_epoch, in_application, one.rtype, one.interaction::"char",
        one.id, one.content);
    INSERT INTO audit_event (at, xid, seq, firm, epoch, application, vid, rtype, outcome, interaction, id,
        subject, token_id, request_id)
      VALUES (one.at, now_xid, new_seq, in_firm, now_epoch, in_application, new_vid, one.rtype, 0, one.interaction, one.id,
        one.subject, one.token_id, one.request_id);

    IF one.expected = 0 THEN
      created := created || new_rid;
    ELSE
      created := created || NULL::bigint;
      place := one.place;
      -- Created earlier in this very call: only the rows of its last version may be inserted.
      overtaken := array_position(created, new_rid);
      IF overtaken IS NOT NULL THEN
        created[overtaken] := NULL;
      END IF;

      first_row := array_position(token_row, place);
      last_row := first_row + cardinality(array_positions(token_row, place)) - 1;
      DELETE FROM index_token t
        WHERE t.firm = in_firm AND t.rid = new_rid AND (t.param, t.system, t.code) NOT IN (
          SELECT * FROM unnest(token_param[first_row:last_row], token_system[first_row:last_row],
            token_code[first_row:last_row]));
      IF first_row IS NOT NULL THEN
        INSERT INTO index_token (rid, system, firm, param, code)
          SELECT new_rid, n.system, in_firm, n.param, n.code
          FROM unnest(token_param[first_row:last_row], token_system[first_row:last_row],
            token_code[first_row:last_row]) AS n(param, system, code)
          WHERE (n.param, n.system, n.code) NOT IN (
            SELECT t.param, t.system, t.code FROM index_token t WHERE t.firm = in_firm AND t.rid = new_rid);
      END IF;

      first_row := array_position(reference_row, place);
      last_row := first_row + cardinality(array_positions(reference_row, place)) - 1;
      DELETE FROM index_reference t
        WHERE t.firm = in_firm AND t.rid = new_rid AND (t.param, t.target_rtype, t.target_id) NOT IN (
          SELECT * FROM unnest(reference_param[first_row:last_row], reference_target_rtype[first_row:last_row],
            reference_target_id[first_row:last_row]));
      IF first_row IS NOT NULL THEN
        INSERT INTO index_reference (rid, firm, param, target_rtype, target_id)
          SELECT new_rid, in_firm, n.param, n.target_rtype, n.target_id
          FROM unnest(reference_param[first_row:last_row], reference_target_rtype[first_row:last_row],
            reference_target_id[first_row:last_row]) AS n(param, target_rtype, target_id)
          WHERE (n.param, n.target_rtype, n.target_id) NOT IN (
            SELECT t.param, t.target_rtype, t.target_id FROM index_reference t WHERE t.firm = in_firm AND t.rid = new_rid);
      END IF;

      first_row := array_position(date_row, place);
      last_row := first_row + cardinality(array_positions(date_row, place)) - 1;
      DELETE FROM index_date t
        WHERE t.firm = in_firm AND t.rid = new_rid AND (t.param, t.lo, t.hi) NOT IN (
          SELECT * FROM unnest(date_param[first_row:last_row], date_lo[first_row:last_row], date_hi[first_row:last_row]));
      IF first_row IS NOT NULL THEN
        INSERT INTO index_date (rid, lo, hi, firm, param)
          SELECT new_rid, n.lo, n.hi, in_firm, n.param
          FROM unnest(date_param[first_row:last_row], date_lo[first_row:last_row], date_hi[first_row:last_row]) AS n(param, lo, hi)
          WHERE (n.param, n.lo, n.hi) NOT IN (
            SELECT t.param, t.lo, t.hi FROM index_date t WHERE t.firm = in_firm AND t.rid = new_rid);
      END IF;

      first_row := array_position(string_row, place);
      last_row := first_row + cardinality(array_positions(string_row, place)) - 1;
      DELETE FROM index_string t
        WHERE t.firm = in_firm AND t.rid = new_rid AND (t.param, t.value, t.original) NOT IN (
          SELECT * FROM unnest(string_param[first_row:last_row], string_value[first_row:last_row],
            string_original[first_row:last_row]));
      IF first_row IS NOT NULL THEN
        INSERT INTO index_string (rid, firm, param, value, original)
          SELECT new_rid, in_firm, n.param, n.value, n.original
          FROM unnest(string_param[first_row:last_row], string_value[first_row:last_row],
            string_original[first_row:last_row]) AS n(param, value, original)
          WHERE (n.param, n.value, n.original) NOT IN (
            SELECT t.param, t.value, t.original FROM index_string t WHERE t.firm = in_firm AND t.rid = new_rid);
      END IF;

      first_row := array_position(number_row, place);
      last_row := first_row + cardinality(array_positions(number_row, place)) - 1;
      DELETE FROM index_number t
        WHERE t.firm = in_firm AND t.rid = new_rid AND (t.param, t.lo, t.hi, t.system, t.code) NOT IN (
          SELECT * FROM unnest(number_param[first_row:last_row], number_lo[first_row:last_row], number_hi[first_row:last_row],
            number_system[first_row:last_row], number_code[first_row:last_row]));
      IF first_row IS NOT NULL THEN
        INSERT INTO index_number (rid, system, lo, hi, firm, param, code)
          SELECT new_rid, n.system, n.lo, n.hi, in_firm, n.param, n.code
          FROM unnest(number_param[first_row:last_row], number_lo[first_row:last_row], number_hi[first_row:last_row],
            number_system[first_row:last_row], number_code[first_row:last_row]) AS n(param, lo, hi, system, code)
          WHERE (n.param, n.lo, n.hi, n.system, n.code) NOT IN (
            SELECT t.param, t.lo, t.hi, t.system, t.code FROM index_number t WHERE t.firm = in_firm AND t.rid = new_rid);
      END IF;
    END IF;

    outcome := 'written';
    vid := new_vid;
    RETURN NEXT;
  END LOOP;

  IF cardinality(token_row) > 0 THEN
    INSERT INTO index_token (rid, system, firm, param, code)
      SELECT created[n.place], n.system, in_firm, n.param, n.code
      FROM unnest(token_row, token_param, token_system, token_code) AS n(place, param, system, code)
      WHERE created[n.place] IS NOT NULL;
  END IF;
  IF cardinality(reference_row) > 0 THEN
    INSERT INTO index_reference (rid, firm, param, target_rtype, target_id)
      SELECT created[n.place], in_firm, n.param, n.target_rtype, n.target_id
      FROM unnest(reference_row, reference_param, reference_target_rtype, reference_target_id) AS n(place, param, target_rtype, target_id)
      WHERE created[n.place] IS NOT NULL;
  END IF;
  IF cardinality(date_row) > 0 THEN
    INSERT INTO index_date (rid, lo, hi, firm, param)
      SELECT created[n.place], n.lo, n.hi, in_firm, n.param
      FROM unnest(date_row, date_param, date_lo, date_hi) AS n(place, param, lo, hi)
      WHERE created[n.place] IS NOT NULL;
  END IF;
  IF cardinality(string_row) > 0 THEN
    INSERT INTO index_string (rid, firm, param, value, original)
      SELECT created[n.place], in_firm, n.param, n.value, n.original
      FROM unnest(string_row, string_param, string_value, string_original) AS n(place, param, value, original)
      WHERE created[n.place] IS NOT NULL;
  END IF;
  IF cardinality(number_row) > 0 THEN
    INSERT INTO index_number (rid, system, lo, hi, firm, param, code)
      SELECT created[n.place], n.system, n.lo, n.hi, in_firm, n.param, n.code
      FROM unnest(number_row, number_param, number_lo, number_hi, number_system, number_code) AS n(place, param, lo, hi, system, code)
      WHERE created[n.place] IS NOT NULL;
  END IF;
END $function$;
COMMENT ON FUNCTION praxis_write IS 'The only writer of resources: checks the access epoch and the expected versions, writes rows, versions, audit and index rows';
REVOKE EXECUTE ON FUNCTION praxis_write FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_write TO praxis_runtime;
