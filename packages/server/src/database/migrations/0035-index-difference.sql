-- Index rows by difference (docs/decisions/0286). A writer that knows the index rows of the version before, since it has made them
-- anew by the same rules, sends only those that differ: most updates change a few of some forty.

ALTER TABLE resource ADD COLUMN index_rules int;
COMMENT ON COLUMN resource.index_rules IS 'By which rules the index rows were made (search/index/index-rules.ts); NULL: by others than those of R4 and the practices alone';
GRANT UPDATE (index_rules) ON resource TO praxis_runtime;

DROP FUNCTION praxis_write;

-- Writes resources of one firm: current rows, version rows, audit rows and index rows, all in the caller's transaction.
-- Returns one row per given resource, in order: ('written', its new version); ('conflict', the current version or NULL
-- where there is none); or ('unindexed', the current version), where the index rows of the version before were made by other
-- rules than those of in_rules. What is not written changes nothing, the others are written. When the access epoch differs from
-- in_access_epoch, nothing is written and the only row is ('stale', NULL).
--
-- in_expected: 0 = no row may exist, not even of a deleted resource; n = version n must be the current one, deleted or not.
-- in_content: NULL = delete. The index rows of all resources stand one after another in the arrays of their kind, those of
-- one resource together; ..._row is the position of the resource they belong to. The rows of one resource must be distinct,
-- since creates insert them without looking for others (ON CONFLICT would make the function a sixth slower).
--
-- in_partial: the arrays hold only what differs from the version before. A position below 0 is that of a row which is gone;
-- these stand before all others. A resource with partial rows occurs once in a call. Otherwise all rows are given, and updates
-- delete those that are gone and insert those that are new. Either way what stays is not touched.
--
-- Plans are generic and by index always, because they are made while tables are new and kept for the life of a
-- connection: each statement names whole keys of an index. NOT IN (rather than NOT EXISTS) is hashed whatever the planner
-- believes about sizes, so a resource with thousands of index rows stays linear. Rows that are gone are looked up one by one,
-- by a subquery for each, and deleted by their places.
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
  number_system bigint[], number_code text[],
  in_rules int[] DEFAULT '{}', in_partial boolean[] DEFAULT '{}'
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
  -- By position: the rid whose index rows are still to be inserted, or deleted; NULL where there are none.
  inserted bigint[] := '{}';
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
  now_epoch := (SELECT o.epoch FROM order_epoch o WHERE o.only_row);

  FOR one IN
    SELECT * FROM unnest(in_rtype, in_id, in_expected, in_lu, in_content,
        audit_at, audit_interaction, audit_subject, audit_token_id, audit_request_id, audit_flow, audit_entries, audit_patients,
        audit_proof, in_rules, in_partial)
      WITH ORDINALITY AS n(rtype, id, expected, lu, content, at, interaction, subject, token_id, request_id, flow, entries,
        patients, proof, rules, partial, place)
  LOOP
    new_seq := nextval('resource_order');
    new_vid := one.expected + 1;
    IF one.expected = 0 THEN
      INSERT INTO resource (rid, lu, firm, vid, rtype, index_rules, id, content)
        VALUES (new_seq, one.lu, in_firm, new_vid, one.rtype, one.rules, one.id, one.content)
        ON CONFLICT (firm, rtype, id) DO NOTHING
        RETURNING rid INTO new_rid;
    ELSE
      UPDATE resource SET lu = one.lu, vid = new_vid, content = one.content, index_rules = one.rules
        WHERE firm = in_firm AND rtype = one.rtype AND id = one.id AND vid = one.expected
          AND (one.partial IS NOT TRUE OR index_rules = one.rules)
        RETURNING rid INTO new_rid;
    END IF;

    IF new_rid IS NULL THEN
      inserted := inserted || NULL::bigint;
      vid := (SELECT r.vid FROM resource r WHERE r.firm = in_firm AND r.rtype = one.rtype AND r.id = one.id);
      outcome := CASE WHEN one.partial AND vid = one.expected THEN 'unindexed' ELSE 'conflict' END;
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

    IF one.expected = 0 OR one.partial THEN
      inserted := inserted || new_rid;
    ELSE
      inserted := inserted || NULL::bigint;
      place := one.place;
      -- Created earlier in this very call: only the rows of its last version may be inserted.
      overtaken := array_position(inserted, new_rid);
      IF overtaken IS NOT NULL THEN
        inserted[overtaken] := NULL;
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

  IF token_row[1] < 0 THEN
    DELETE FROM index_token WHERE firm = in_firm AND ctid = ANY (ARRAY(
      SELECT (SELECT t.ctid FROM index_token t
        WHERE t.firm = in_firm AND t.param = n.param AND t.code = n.code AND t.rid = inserted[-n.place] AND t.system = n.system)
      FROM unnest(token_row, token_param, token_system, token_code) AS n(place, param, system, code)
      WHERE n.place < 0));
  END IF;
  IF cardinality(token_row) > 0 THEN
    INSERT INTO index_token (rid, system, firm, param, code)
      SELECT inserted[n.place], n.system, in_firm, n.param, n.code
      FROM unnest(token_row, token_param, token_system, token_code) AS n(place, param, system, code)
      WHERE inserted[n.place] IS NOT NULL;
  END IF;
  IF reference_row[1] < 0 THEN
    DELETE FROM index_reference WHERE firm = in_firm AND ctid = ANY (ARRAY(
      SELECT (SELECT t.ctid FROM index_reference t
        WHERE t.firm = in_firm AND t.param = n.param AND t.target_rtype = n.target_rtype AND t.target_id = n.target_id AND t.rid = inserted[-n.place])
      FROM unnest(reference_row, reference_param, reference_target_rtype, reference_target_id) AS n(place, param, target_rtype, target_id)
      WHERE n.place < 0));
  END IF;
  IF cardinality(reference_row) > 0 THEN
    INSERT INTO index_reference (rid, firm, param, target_rtype, target_id)
      SELECT inserted[n.place], in_firm, n.param, n.target_rtype, n.target_id
      FROM unnest(reference_row, reference_param, reference_target_rtype, reference_target_id) AS n(place, param, target_rtype, target_id)
      WHERE inserted[n.place] IS NOT NULL;
  END IF;
  IF date_row[1] < 0 THEN
    DELETE FROM index_date WHERE firm = in_firm AND ctid = ANY (ARRAY(
      SELECT (SELECT t.ctid FROM index_date t
        WHERE t.firm = in_firm AND t.param = n.param AND t.lo = n.lo AND t.hi = n.hi AND t.rid = inserted[-n.place])
      FROM unnest(date_row, date_param, date_lo, date_hi) AS n(place, param, lo, hi)
      WHERE n.place < 0));
  END IF;
  IF cardinality(date_row) > 0 THEN
    INSERT INTO index_date (rid, lo, hi, firm, param)
      SELECT inserted[n.place], n.lo, n.hi, in_firm, n.param
      FROM unnest(date_row, date_param, date_lo, date_hi) AS n(place, param, lo, hi)
      WHERE inserted[n.place] IS NOT NULL;
  END IF;
  IF string_row[1] < 0 THEN
    DELETE FROM index_string WHERE firm = in_firm AND ctid = ANY (ARRAY(
      SELECT (SELECT t.ctid FROM index_string t
        WHERE t.firm = in_firm AND t.param = n.param AND t.value = n.value AND t.rid = inserted[-n.place] AND t.original = n.original)
      FROM unnest(string_row, string_param, string_value, string_original) AS n(place, param, value, original)
      WHERE n.place < 0));
  END IF;
  IF cardinality(string_row) > 0 THEN
    INSERT INTO index_string (rid, firm, param, value, original)
      SELECT inserted[n.place], in_firm, n.param, n.value, n.original
      FROM unnest(string_row, string_param, string_value, string_original) AS n(place, param, value, original)
      WHERE inserted[n.place] IS NOT NULL;
  END IF;
  IF number_row[1] < 0 THEN
    DELETE FROM index_number WHERE firm = in_firm AND ctid = ANY (ARRAY(
      SELECT (SELECT t.ctid FROM index_number t
        WHERE t.firm = in_firm AND t.param = n.param AND t.lo = n.lo AND t.hi = n.hi AND t.rid = inserted[-n.place] AND t.system = n.system AND t.code = n.code)
      FROM unnest(number_row, number_param, number_lo, number_hi, number_system, number_code) AS n(place, param, lo, hi, system, code)
      WHERE n.place < 0));
  END IF;
  IF cardinality(number_row) > 0 THEN
    INSERT INTO index_number (rid, system, lo, hi, firm, param, code)
      SELECT inserted[n.place], n.system, n.lo, n.hi, in_firm, n.param, n.code
      FROM unnest(number_row, number_param, number_lo, number_hi, number_system, number_code) AS n(place, param, lo, hi, system, code)
      WHERE inserted[n.place] IS NOT NULL;
  END IF;
END $function$;
COMMENT ON FUNCTION praxis_write IS 'The only writer of resources: checks the access epoch and the expected versions, writes rows, versions, audit and index rows';
REVOKE EXECUTE ON FUNCTION praxis_write FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_write TO praxis_runtime;
