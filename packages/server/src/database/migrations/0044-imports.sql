-- Imports (docs/decisions/0315). A row of import_range is committed with the resources that it speaks of: a program that was killed
-- goes on with what no row speaks of.

CREATE TABLE import_run (
  begun bigint NOT NULL,
  finished bigint,
  firm int NOT NULL,
  files int NOT NULL,
  bytes bigint NOT NULL,
  id uuid NOT NULL,
  holder uuid NOT NULL,
  fingerprint bytea NOT NULL,
  PRIMARY KEY (firm, id)
);
CREATE UNIQUE INDEX import_run_unfinished ON import_run (firm, fingerprint) WHERE finished IS NULL;
COMMENT ON TABLE import_run IS 'Imports of files at a firm';
COMMENT ON COLUMN import_run.begun IS 'Milliseconds since 1970-01-01T00:00:00Z, as finished';
COMMENT ON COLUMN import_run.holder IS 'The process that may write for it: whoever continues it puts itself in the place of another';
COMMENT ON COLUMN import_run.fingerprint IS 'SHA-256 of what is imported and how: the same files in the same mode continue the import';

CREATE TABLE import_range (
  from_byte bigint NOT NULL,
  to_byte bigint NOT NULL,
  firm int NOT NULL,
  file int NOT NULL,
  from_entry int NOT NULL,
  to_entry int NOT NULL,
  to_line int NOT NULL,
  stored int NOT NULL,
  skipped int NOT NULL,
  refused int NOT NULL,
  run uuid NOT NULL,
  problems text COLLATE "C" NOT NULL,
  notes text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, run, file, from_byte, from_entry),
  FOREIGN KEY (firm, run) REFERENCES import_run (firm, id) ON DELETE CASCADE
);
COMMENT ON TABLE import_range IS 'What of a file is imported, from one place up to another that it does not hold. They end with the import';
COMMENT ON COLUMN import_range.from_byte IS 'Where the line begins, or 0 for a file that is one document; from_entry: which of its resources, from 0';
COMMENT ON COLUMN import_range.to_line IS 'Number of the line at to_byte';
COMMENT ON COLUMN import_range.problems IS 'OperationOutcomes of what was refused, an array in JSON; not of all where they are many';
COMMENT ON COLUMN import_range.notes IS 'What was stored nevertheless, an object in JSON: words, with how often';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['import_run', 'import_range'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, DELETE, UPDATE (holder, finished) ON import_run TO praxis_runtime;
GRANT SELECT, INSERT, DELETE ON import_range TO praxis_runtime;

-- Writes first versions of resources of one firm that does not have them: current rows, version rows, audit rows and index rows, each
-- table by one statement, all in the caller's transaction. What an import writes is mostly new, and this takes half of the time of
-- praxis_write_resources, which looks at each resource by itself (docs/decisions/0315). Returns whether they are written: false where
-- the access epoch differs from in_access_epoch. A resource that is there, even deleted, is a violation of resource_pkey.
--
-- Arrays are those of praxis_write_resources. No resource may occur twice.
CREATE FUNCTION praxis_create_resources(
  in_firm int, in_application int, in_access_epoch bigint,
  in_rtype smallint[], in_id text[], in_lu bigint[], in_content text[], in_rules int[],
  audit_rows audit_row[], audit_new json,
  token_row int[], token_param int[], token_system bigint[], token_code text[],
  reference_row int[], reference_param int[], reference_target_rtype smallint[], reference_target_id text[],
  date_row int[], date_param int[], date_lo bigint[], date_hi bigint[],
  string_row int[], string_param int[], string_value text[], string_original text[],
  number_row int[], number_param int[], number_lo double precision[], number_hi double precision[],
  number_system bigint[], number_code text[]
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
#variable_conflict use_column
DECLARE
  seqs bigint[];
  now_xid xid8;
  now_epoch int;
BEGIN
  IF (SELECT e.epoch FROM access_epoch e WHERE e.firm = in_firm AND e.application = in_application)
      IS DISTINCT FROM in_access_epoch THEN
    RETURN false;
  END IF;
  now_xid := pg_current_xact_id();
  now_epoch := (SELECT o.epoch FROM order_epoch o WHERE o.only_row);
  seqs := ARRAY(SELECT nextval('resource_order') FROM generate_series(1, cardinality(in_id)));

  INSERT INTO resource (rid, lu, firm, vid, rtype, index_rules, id, content)
    SELECT seqs[n.place], n.lu, in_firm, 1, n.rtype, n.rules, n.id, n.content
    FROM unnest(in_rtype, in_id, in_lu, in_content, in_rules) WITH ORDINALITY AS n(rtype, id, lu, content, rules, place);
  INSERT INTO resource_version (lu, xid, seq, firm, vid, epoch, application, rtype, method, id, content)
    SELECT n.lu, now_xid, seqs[n.place], in_firm, 1, now_epoch, in_application, n.rtype, 'c', n.id, n.content
    FROM unnest(in_rtype, in_id, in_lu, in_content) WITH ORDINALITY AS n(rtype, id, lu, content, place);

  IF audit_new IS NOT NULL THEN
    PERFORM praxis_audit_dimensions(in_firm, audit_new);
  END IF;
  IF EXISTS (SELECT FROM (SELECT DISTINCT n.caller FROM unnest(audit_rows) n) n
        WHERE NOT EXISTS (SELECT FROM audit_caller c WHERE c.firm = in_firm AND c.key = n.caller))
      OR EXISTS (SELECT FROM (SELECT DISTINCT n.action FROM unnest(audit_rows) n) n
        WHERE NOT EXISTS (SELECT FROM audit_action w WHERE w.firm = in_firm AND w.key = n.action)) THEN
    RAISE EXCEPTION 'the ledger lacks a caller or an action' USING ERRCODE = 'PX001';
  END IF;
  INSERT INTO audit_event (at, xid, seq, caller, action, firm, epoch, vid, patient_key, resource_uuid, request_uuid, patient_uuid,
      id, request_id, patients, patient_uuids, proof)
    SELECT n.at, now_xid, seqs[n.place], n.caller, n.action, in_firm, now_epoch, 1, hashtext(n.patient), n.resource_uuid,
      n.request_uuid, n.patient_uuid, n.id, n.request_id, n.patients, n.patient_uuids, n.proof
    FROM unnest(audit_rows) WITH ORDINALITY AS n(at, caller, action, vid, shown, times, resource_uuid, id, request_uuid, request_id,
      patient, patient_uuid, patient_uuids, patients, listed, proof, place);
  INSERT INTO audit_patient_key (at, seq, patient_key, firm)
    SELECT k.at, seqs[k.place], k.patient_key, in_firm FROM (
      SELECT DISTINCT hashtext(l.patient) AS patient_key, n.at, n.place
      FROM unnest(audit_rows) WITH ORDINALITY AS n(at, caller, action, vid, shown, times, resource_uuid, id, request_uuid, request_id,
        patient, patient_uuid, patient_uuids, patients, listed, proof, place)
      CROSS JOIN LATERAL unnest(n.listed) AS l(patient)) k;

  INSERT INTO index_token (rid, system, firm, param, code)
    SELECT seqs[n.place], n.system, in_firm, n.param, n.code
    FROM unnest(token_row, token_param, token_system, token_code) AS n(place, param, system, code);
  INSERT INTO index_reference (rid, firm, param, target_rtype, target_id)
    SELECT seqs[n.place], in_firm, n.param, n.target_rtype, n.target_id
    FROM unnest(reference_row, reference_param, reference_target_rtype, reference_target_id) AS n(place, param, target_rtype, target_id);
  INSERT INTO index_date (rid, lo, hi, firm, param)
    SELECT seqs[n.place], n.lo, n.hi, in_firm, n.param
    FROM unnest(date_row, date_param, date_lo, date_hi) AS n(place, param, lo, hi);
  INSERT INTO index_string (rid, firm, param, value, original)
    SELECT seqs[n.place], in_firm, n.param, n.value, n.original
    FROM unnest(string_row, string_param, string_value, string_original) AS n(place, param, value, original);
  INSERT INTO index_number (rid, system, lo, hi, firm, param, code)
    SELECT seqs[n.place], n.system, n.lo, n.hi, in_firm, n.param, n.code
    FROM unnest(number_row, number_param, number_lo, number_hi, number_system, number_code) AS n(place, param, lo, hi, system, code);
  RETURN true;
END $function$;
COMMENT ON FUNCTION praxis_create_resources IS 'Writes first versions of many resources at once: checks the access epoch, writes rows, versions, audit and index rows';
REVOKE EXECUTE ON FUNCTION praxis_create_resources FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_create_resources TO praxis_runtime;
