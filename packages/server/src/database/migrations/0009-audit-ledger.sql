-- The audit ledger in full: who did or was refused what, about which patients, by which entries, and the seals over it
-- (docs/decisions/0153 to 0157). The ledger of a firm holds the rows of its number; number 0, which no firm has, is the
-- service's own ledger: token requests, calls that never entered a firm, administration.

ALTER TABLE audit_event RENAME TO audit_event_before;
ALTER TABLE audit_event_before RENAME CONSTRAINT audit_event_pkey TO audit_event_before_pkey;

CREATE TABLE audit_event (
  at bigint NOT NULL,
  xid xid8 NOT NULL,
  seq bigint NOT NULL,
  firm int NOT NULL,
  epoch int NOT NULL,
  application int NOT NULL,
  vid int,
  shown int,
  times int,
  rtype smallint,
  outcome smallint NOT NULL,
  interaction text COLLATE "C" NOT NULL,
  id text COLLATE "C",
  subject text COLLATE "C",
  token_id text COLLATE "C",
  request_id text COLLATE "C",
  flow text COLLATE "C",
  elements text COLLATE "C",
  entries text COLLATE "C",
  reason text COLLATE "C",
  patients text COLLATE "C",
  proof bytea,
  PRIMARY KEY (firm, at, seq)
);
COMMENT ON TABLE audit_event IS 'Who did what or was refused: writes in their own transaction, all else in batches; the server can add rows and read them, never change or remove them';
COMMENT ON COLUMN audit_event.at IS 'Milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN audit_event.application IS '0: no application is known';
COMMENT ON COLUMN audit_event.shown IS 'Resources that the answer showed; NULL: a write';
COMMENT ON COLUMN audit_event.times IS 'Equal refusals that this row stands for; NULL: one';
COMMENT ON COLUMN audit_event.outcome IS 'Code of http://hl7.org/fhir/R4/valueset-audit-event-outcome.html: 0 success, 4 minor failure, 8 serious failure, 12 major failure';
COMMENT ON COLUMN audit_event.interaction IS 'Code of http://hl7.org/fhir/R4/valueset-type-restful-interaction.html, $name of an operation, or what the service itself did: authenticate, token, administer';
COMMENT ON COLUMN audit_event.elements IS 'all, or a fingerprint in audit_elements; NULL: nothing was shown';
COMMENT ON COLUMN audit_event.entries IS 'Access entries that allowed it, or of which one is missing, separated by spaces';
COMMENT ON COLUMN audit_event.reason IS 'Error code of a refusal';
COMMENT ON COLUMN audit_event.proof IS 'That the server wrote the row: 8 random bytes, then an HMAC over them and the row by a key that is not in the database; NULL: written before there were proofs';
COMMENT ON COLUMN audit_event.patients IS 'Ids of the patients concerned, separated by spaces; + at the end: and others';

INSERT INTO audit_event (at, xid, seq, firm, epoch, application, vid, rtype, outcome, interaction, id, subject, token_id, request_id)
  SELECT at, xid, seq, firm, epoch, application, vid, rtype, outcome, interaction, id, subject, token_id, request_id
  FROM audit_event_before;
DROP TABLE audit_event_before;
CREATE INDEX audit_event_order ON audit_event (firm, epoch, xid, seq);
CREATE INDEX audit_event_application ON audit_event (firm, application, at, seq);

CREATE TABLE audit_patient (
  at bigint NOT NULL,
  seq bigint NOT NULL,
  firm int NOT NULL,
  patient text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, patient, at, seq)
);
COMMENT ON TABLE audit_patient IS 'audit_event by patient: one row for each id in its column patients';

CREATE TABLE audit_elements (
  firm int NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  elements text NOT NULL,
  PRIMARY KEY (firm, fingerprint)
);
COMMENT ON TABLE audit_elements IS 'Lists of elements that answers showed, each kept once: names separated by spaces; the fingerprint is made of them';

CREATE TABLE audit_seal (
  at bigint NOT NULL,
  row_xid xid8 NOT NULL,
  row_seq bigint NOT NULL,
  firm int NOT NULL,
  number int NOT NULL CHECK (number > 0),
  row_epoch int NOT NULL,
  rows int NOT NULL,
  marks bytea NOT NULL,
  head bytea NOT NULL,
  signature bytea NOT NULL,
  PRIMARY KEY (firm, number)
);
COMMENT ON TABLE audit_seal IS 'Seals over audit_event, numbered from 1 without gaps: each covers the rows after those of the one before it, up to (row_epoch, row_xid, row_seq)';
COMMENT ON COLUMN audit_seal.marks IS 'For each row that it covers, in order: seq, then 16 bytes of a SHA-256 over the row';
COMMENT ON COLUMN audit_seal.head IS 'SHA-256 over the head before it, the facts of this seal and its marks';
COMMENT ON COLUMN audit_seal.signature IS 'Ed25519 over the head, by a key that is not in the database';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['audit_event', 'audit_patient', 'audit_elements', 'audit_seal'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT ON audit_event, audit_patient, audit_elements, audit_seal TO praxis_runtime;

-- Adds rows that are no writes to the ledger of one firm, in the order given, and lists of elements that are not there yet.
CREATE FUNCTION praxis_audit(
  in_firm int, in_at bigint[], in_application int[], in_vid int[], in_shown int[], in_times int[], in_rtype smallint[],
  in_outcome smallint[], in_interaction text[], in_id text[], in_subject text[], in_token_id text[], in_request_id text[],
  in_flow text[], in_elements text[], in_entries text[], in_reason text[], in_patients text[], in_proof bytea[],
  in_fingerprint text[], in_list text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
BEGIN
  IF cardinality(in_fingerprint) > 0 THEN
    INSERT INTO audit_elements (firm, fingerprint, elements)
      SELECT in_firm, n.fingerprint, n.elements FROM unnest(in_fingerprint, in_list) AS n(fingerprint, elements)
      ON CONFLICT (firm, fingerprint) DO NOTHING;
  END IF;
  WITH added AS (
    INSERT INTO audit_event (at, xid, seq, firm, epoch, application, vid, shown, times, rtype, outcome, interaction, id,
        subject, token_id, request_id, flow, elements, entries, reason, patients, proof)
      SELECT n.at, pg_current_xact_id(), nextval('resource_order'), in_firm, (SELECT o.epoch FROM order_epoch o),
        n.application, n.vid, n.shown, n.times, n.rtype, n.outcome, n.interaction, n.id, n.subject, n.token_id,
        n.request_id, n.flow, n.elements, n.entries, n.reason, n.patients, n.proof
      FROM unnest(in_at, in_application, in_vid, in_shown, in_times, in_rtype, in_outcome, in_interaction, in_id, in_subject,
          in_token_id, in_request_id, in_flow, in_elements, in_entries, in_reason, in_patients, in_proof)
        AS n(at, application, vid, shown, times, rtype, outcome, interaction, id, subject, token_id, request_id, flow,
          elements, entries, reason, patients, proof)
      RETURNING at, seq, patients)
  INSERT INTO audit_patient (at, seq, firm, patient)
    SELECT a.at, a.seq, in_firm, p.patient FROM added a
    CROSS JOIN LATERAL unnest(string_to_array(a.patients, ' ')) AS p(patient)
    WHERE p.patient <> '+';
END $function$;
COMMENT ON FUNCTION praxis_audit IS 'Adds rows that are no writes to the audit ledger of one firm';
REVOKE EXECUTE ON FUNCTION praxis_audit FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_audit TO praxis_runtime;

DROP FUNCTION praxis_write;

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
  audit_flow text[], audit_entries text[], audit_patients text[], audit_proof bytea[],
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
        audit_at, audit_interaction, audit_subject, audit_token_id, audit_request_id, audit_flow, audit_entries, audit_patients,
        audit_proof)
      WITH ORDINALITY AS n(rtype, id, expected, lu, content, at, interaction, subject, token_id, request_id, flow, entries,
        patients, proof, place)
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
        subject, token_id, request_id, flow, elements, entries, patients, proof)
      VALUES (one.at, now_xid, new_seq, in_firm, now_epoch, in_application, new_vid, one.rtype, 0, one.interaction, one.id,
        one.subject, one.token_id, one.request_id, one.flow, 'all', one.entries, one.patients, one.proof);
    IF one.patients IS NOT NULL THEN
      INSERT INTO audit_patient (at, seq, firm, patient)
        SELECT one.at, new_seq, in_firm, p.patient FROM unnest(string_to_array(one.patients, ' ')) AS p(patient)
        WHERE p.patient <> '+';
    END IF;

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
