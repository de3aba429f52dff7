-- Narrow rows of the audit ledger (docs/decisions/0296). What most rows of a firm repeat stands once in two dimension tables: who
-- called with which token, and what was done by which right. Ids that are UUIDs take 16 bytes. A row about one patient carries the
-- key that it is found by; only rows about several have rows of their own for that.
--
-- Nothing is rewritten: rows of before keep their columns, which are NULL in new ones, and the view audit_ledger shows both in
-- full. The release before goes on with its praxis_write and praxis_audit, in whose place praxis_write_resources and
-- praxis_audit_rows come.

CREATE TABLE audit_caller (
  key bigint NOT NULL,
  firm int NOT NULL,
  application int NOT NULL,
  subject text COLLATE "C",
  token_id text COLLATE "C",
  flow text COLLATE "C",
  PRIMARY KEY (firm, key)
);
COMMENT ON TABLE audit_caller IS 'Dimension of audit_event: who called, with which token. A process adds its own row the first time it meets a caller, under a random key, so several rows may say the same';
COMMENT ON COLUMN audit_caller.application IS '0: no application is known';

CREATE TABLE audit_action (
  key bigint NOT NULL,
  firm int NOT NULL,
  rtype smallint,
  outcome smallint NOT NULL,
  interaction text COLLATE "C" NOT NULL,
  elements text COLLATE "C",
  entries text COLLATE "C",
  reason text COLLATE "C",
  PRIMARY KEY (firm, key)
);
COMMENT ON TABLE audit_action IS 'Dimension of audit_event: what was done or refused, by which right. Keys as in audit_caller';
COMMENT ON COLUMN audit_action.outcome IS 'Code of http://hl7.org/fhir/R4/valueset-audit-event-outcome.html: 0 success, 4 minor failure, 8 serious failure, 12 major failure';
COMMENT ON COLUMN audit_action.interaction IS 'Code of http://hl7.org/fhir/R4/valueset-type-restful-interaction.html, $name of an operation, or what the service itself did: authenticate, token, administer';
COMMENT ON COLUMN audit_action.elements IS 'all, or a fingerprint in audit_elements; NULL: nothing was shown';
COMMENT ON COLUMN audit_action.entries IS 'Access entries that allowed it, or of which one is missing, separated by spaces';
COMMENT ON COLUMN audit_action.reason IS 'Error code of a refusal';

ALTER TABLE audit_event
  ADD COLUMN caller bigint,
  ADD COLUMN action bigint,
  ADD COLUMN patient_key int,
  ADD COLUMN resource_uuid uuid,
  ADD COLUMN request_uuid uuid,
  ADD COLUMN patient_uuid uuid,
  ADD COLUMN patient_uuids uuid[],
  ALTER COLUMN application DROP NOT NULL,
  ALTER COLUMN outcome DROP NOT NULL,
  ALTER COLUMN interaction DROP NOT NULL;
COMMENT ON TABLE audit_event IS 'Who did what or was refused, in full in the view audit_ledger: writes in their own transaction, all else in batches; the server can add rows and read them, never change or remove them';
COMMENT ON COLUMN audit_event.caller IS 'Key in audit_caller; NULL in rows of before 0037, which have its columns themselves';
COMMENT ON COLUMN audit_event.action IS 'Key in audit_action; NULL in rows of before 0037, which have its columns themselves';
COMMENT ON COLUMN audit_event.patient_key IS 'hashtext() of the id, where the row is about one patient';
COMMENT ON COLUMN audit_event.resource_uuid IS 'The id of the resource where it is a UUID in lower case; others are in id';
COMMENT ON COLUMN audit_event.request_uuid IS 'The id of the request where it is a UUID in lower case; others are in request_id';
COMMENT ON COLUMN audit_event.patient_uuid IS 'The one patient, where the id is a UUID in lower case and not that of the resource, for which patient_key alone stands';
COMMENT ON COLUMN audit_event.patient_uuids IS 'The patients, where there are several and all their ids are UUIDs in lower case';
COMMENT ON COLUMN audit_event.patients IS 'Ids of the patients that the columns above cannot hold, separated by spaces; + at the end: and others';

-- Keys that rows of one transaction share are kept once (https://www.postgresql.org/docs/current/btree.html#BTREE-DEDUPLICATION);
-- these rows are sorted when they are read.
CREATE INDEX audit_event_commit ON audit_event (firm, epoch, xid);
DROP INDEX audit_event_order;
CREATE INDEX audit_event_patient ON audit_event (firm, patient_key, at) WHERE patient_key IS NOT NULL;

CREATE TABLE audit_patient_key (
  at bigint NOT NULL,
  seq bigint NOT NULL,
  patient_key int NOT NULL,
  firm int NOT NULL,
  PRIMARY KEY (firm, patient_key, at, seq)
);
COMMENT ON TABLE audit_patient_key IS 'audit_event by patient, of rows that are about several: hashtext() of each id';
COMMENT ON TABLE audit_patient IS 'audit_event by patient, of rows of before 0037: one row for each id in its column patients';

CREATE VIEW audit_ledger WITH (security_invoker = true) AS
  SELECT a.at, a.xid, a.seq, a.firm, a.epoch, COALESCE(c.application, a.application) AS application, a.vid, a.shown, a.times,
    COALESCE(w.rtype, a.rtype) AS rtype, COALESCE(w.outcome, a.outcome) AS outcome, COALESCE(w.interaction, a.interaction) AS interaction,
    COALESCE(a.id, a.resource_uuid::text) AS id, COALESCE(c.subject, a.subject) AS subject,
    COALESCE(c.token_id, a.token_id) AS token_id, COALESCE(a.request_id, a.request_uuid::text) AS request_id,
    COALESCE(c.flow, a.flow) AS flow, COALESCE(w.elements, a.elements) AS elements, COALESCE(w.entries, a.entries) AS entries,
    COALESCE(w.reason, a.reason) AS reason,
    CASE WHEN a.patients IS NOT NULL THEN a.patients
      WHEN a.patient_uuids IS NOT NULL THEN array_to_string(a.patient_uuids, ' ')
      WHEN a.patient_uuid IS NOT NULL THEN a.patient_uuid::text
      WHEN a.patient_key IS NOT NULL THEN COALESCE(a.id, a.resource_uuid::text) END AS patients,
    a.proof, a.patient_key
  FROM audit_event a
  LEFT JOIN audit_caller c ON c.firm = a.firm AND c.key = a.caller
  LEFT JOIN audit_action w ON w.firm = a.firm AND w.key = a.action;
COMMENT ON VIEW audit_ledger IS 'audit_event in full: each row with its caller, its action and the ids of its patients, separated by spaces';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['audit_caller', 'audit_action', 'audit_patient_key'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT ON audit_caller, audit_action, audit_patient_key TO praxis_runtime;
GRANT SELECT ON audit_ledger TO praxis_runtime;

-- The rows in full, as praxis_ledger_rows finds them (docs/decisions/0225). Each caller and action is looked up by its key: a plan
-- that is kept from when there were few would else read all of them.
CREATE FUNCTION praxis_ledger_events(
  in_firm int, after_epoch int, after_xid xid8, after_seq bigint, before_epoch int, before_xid xid8, before_seq bigint,
  in_limit int
) RETURNS SETOF audit_ledger
LANGUAGE plpgsql STABLE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $function$
BEGIN
  RETURN QUERY
    SELECT a.* FROM audit_ledger a
    WHERE a.firm = in_firm AND (a.epoch, a.xid, a.seq) > (after_epoch, after_xid, after_seq)
      AND (a.epoch, a.xid, a.seq) < (before_epoch, before_xid, before_seq)
      -- In CASE, so that it is no condition of an index.
      AND CASE WHEN a.at BETWEEN 0 AND 8640000000000000 AND a.seq BETWEEN 1 AND 9007199254740991 THEN true ELSE false END
    ORDER BY a.epoch, a.xid, a.seq LIMIT in_limit;
END $function$;
COMMENT ON FUNCTION praxis_ledger_events IS 'The next rows of a ledger in full after one place and before another, in the order of commits';
REVOKE EXECUTE ON FUNCTION praxis_ledger_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_ledger_events TO praxis_runtime;

-- A row of the ledger on its way there. patient: the one patient that it is about; listed: the patients where they are several.
CREATE TYPE audit_row AS (
  at bigint, caller bigint, action bigint, vid int, shown int, times int, resource_uuid uuid, id text, request_uuid uuid,
  request_id text, patient text, patient_uuid uuid, patient_uuids uuid[], patients text, listed text[], proof bytea
);

-- Adds callers and actions under new keys: {"callers": [{key, application, …}], "actions": [{key, rtype, …}]}.
CREATE FUNCTION praxis_audit_dimensions(in_firm int, in_new json) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
BEGIN
  INSERT INTO audit_caller (key, firm, application, subject, token_id, flow)
    SELECT n.key, in_firm, n.application, n.subject, n.token_id, n.flow
    FROM json_to_recordset(in_new -> 'callers') AS n(key bigint, application int, subject text, token_id text, flow text);
  INSERT INTO audit_action (key, firm, rtype, outcome, interaction, elements, entries, reason)
    SELECT n.key, in_firm, n.rtype, n.outcome, n.interaction, n.elements, n.entries, n.reason
    FROM json_to_recordset(in_new -> 'actions')
      AS n(key bigint, rtype smallint, outcome smallint, interaction text, elements text, entries text, reason text);
END $function$;
COMMENT ON FUNCTION praxis_audit_dimensions IS 'Adds callers and actions to the dimensions of the audit ledger of one firm';
REVOKE EXECUTE ON FUNCTION praxis_audit_dimensions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_audit_dimensions TO praxis_runtime;

-- Adds rows that are no writes to the ledger of one firm, in the order given, with lists of elements, callers and actions that
-- are not there yet. A batch that is there already, whose answer was lost, is known by the proof of its first row
-- (docs/decisions/0238). The number of the lock: the ASCII bytes of "audi".
--
-- One array of rows, and none for each column: every array of a call costs about as much as a small row. in_new: as
-- praxis_audit_dimensions takes it, or NULL. PX001: a row refers to a caller or an action that is not there. The process that knew
-- it from before a failover which lost them adds both again.
CREATE FUNCTION praxis_audit_rows(in_firm int, in_rows audit_row[], in_fingerprint text[], in_list text[], in_new json) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
DECLARE
  seqs bigint[];
BEGIN
  -- An attempt whose answer was lost may still be under way: the next one waits for its end, and sees its rows.
  PERFORM pg_advisory_xact_lock(1635083369, hashtext(encode(in_rows[1].proof, 'hex')));
  IF EXISTS (SELECT FROM audit_event a WHERE a.firm = in_firm AND a.at = in_rows[1].at AND a.proof = in_rows[1].proof) THEN
    RETURN;
  END IF;
  seqs := ARRAY(SELECT nextval('resource_order') FROM generate_series(1, cardinality(in_rows)));
  IF cardinality(in_fingerprint) > 0 THEN
    INSERT INTO audit_elements (firm, fingerprint, elements)
      SELECT in_firm, n.fingerprint, n.elements FROM unnest(in_fingerprint, in_list) AS n(fingerprint, elements)
      ON CONFLICT (firm, fingerprint) DO NOTHING;
  END IF;
  IF in_new IS NOT NULL THEN
    PERFORM praxis_audit_dimensions(in_firm, in_new);
  END IF;
  IF EXISTS (SELECT FROM (SELECT DISTINCT n.caller FROM unnest(in_rows) n) n
        WHERE NOT EXISTS (SELECT FROM audit_caller c WHERE c.firm = in_firm AND c.key = n.caller))
      OR EXISTS (SELECT FROM (SELECT DISTINCT n.action FROM unnest(in_rows) n) n
        WHERE NOT EXISTS (SELECT FROM audit_action w WHERE w.firm = in_firm AND w.key = n.action)) THEN
    RAISE EXCEPTION 'the ledger lacks a caller or an action' USING ERRCODE = 'PX001';
  END IF;
  INSERT INTO audit_event (at, xid, seq, caller, action, firm, epoch, vid, shown, times, patient_key, resource_uuid, request_uuid,
      patient_uuid, id, request_id, patients, patient_uuids, proof)
    SELECT n.at, pg_current_xact_id(), seqs[n.place], n.caller, n.action, in_firm, (SELECT o.epoch FROM order_epoch o), n.vid, n.shown,
      n.times, hashtext(n.patient), n.resource_uuid, n.request_uuid, n.patient_uuid, n.id, n.request_id, n.patients,
      n.patient_uuids, n.proof
    FROM unnest(in_rows) WITH ORDINALITY AS n(at, caller, action, vid, shown, times, resource_uuid, id, request_uuid, request_id,
      patient, patient_uuid, patient_uuids, patients, listed, proof, place);
  INSERT INTO audit_patient_key (at, seq, patient_key, firm)
    SELECT k.at, seqs[k.place], k.patient_key, in_firm FROM (
      SELECT DISTINCT hashtext(l.patient) AS patient_key, n.at, n.place
      FROM unnest(in_rows) WITH ORDINALITY AS n(at, caller, action, vid, shown, times, resource_uuid, id, request_uuid, request_id,
        patient, patient_uuid, patient_uuids, patients, listed, proof, place)
      CROSS JOIN LATERAL unnest(n.listed) AS l(patient)) k
    ORDER BY k.patient_key, k.place;
END $function$;
COMMENT ON FUNCTION praxis_audit_rows IS 'Adds rows that are no writes to the audit ledger of one firm';
REVOKE EXECUTE ON FUNCTION praxis_audit_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_audit_rows TO praxis_runtime;

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
-- audit_rows, audit_new: what is noted in the ledger, as praxis_audit_rows takes it; PX001 as there.
--
-- Plans are generic and by index always, because they are made while tables are new and kept for the life of a
-- connection: each statement names whole keys of an index. NOT IN (rather than NOT EXISTS) is hashed whatever the planner
-- believes about sizes, so a resource with thousands of index rows stays linear. Rows that are gone are looked up one by one,
-- by a subquery for each, and deleted by their places.
CREATE FUNCTION praxis_write_resources(
  in_firm int, in_application int, in_access_epoch bigint,
  in_rtype smallint[], in_id text[], in_expected int[], in_lu bigint[], in_content text[],
  audit_interaction text[], audit_rows audit_row[], audit_new json,
  token_row int[], token_param int[], token_system bigint[], token_code text[],
  reference_row int[], reference_param int[], reference_target_rtype smallint[], reference_target_id text[],
  date_row int[], date_param int[], date_lo bigint[], date_hi bigint[],
  string_row int[], string_param int[], string_value text[], string_original text[],
  number_row int[], number_param int[], number_lo double precision[], number_hi double precision[],
  number_system bigint[], number_code text[],
  in_rules int[], in_partial boolean[]
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
  -- Whether nothing was written yet: callers and actions come with the first row.
  is_first boolean := true;
  -- The caller and the action that were looked for last.
  found_caller bigint;
  found_action bigint;
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
    SELECT * FROM unnest(in_rtype, in_id, in_expected, in_lu, in_content, audit_interaction, audit_rows, in_rules, in_partial)
      WITH ORDINALITY AS n(rtype, id, expected, lu, content, interaction, at, caller, action, noted_vid, shown, times, resource_uuid,
        noted_id, request_uuid, request_id, patient, patient_uuid, patient_uuids, patients, listed, proof, rules, partial, place)
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
    IF is_first AND audit_new IS NOT NULL THEN
      PERFORM praxis_audit_dimensions(in_firm, audit_new);
    END IF;
    is_first := false;
    IF one.caller IS DISTINCT FROM found_caller OR one.action IS DISTINCT FROM found_action THEN
      IF NOT (EXISTS (SELECT FROM audit_caller c WHERE c.firm = in_firm AND c.key = one.caller)
          AND EXISTS (SELECT FROM audit_action w WHERE w.firm = in_firm AND w.key = one.action)) THEN
        RAISE EXCEPTION 'the ledger lacks a caller or an action' USING ERRCODE = 'PX001';
      END IF;
      found_caller := one.caller;
      found_action := one.action;
    END IF;
    INSERT INTO audit_event (at, xid, seq, caller, action, firm, epoch, vid, patient_key, resource_uuid, request_uuid, patient_uuid,
        id, request_id, patients, patient_uuids, proof)
      VALUES (one.at, now_xid, new_seq, one.caller, one.action, in_firm, now_epoch, new_vid, hashtext(one.patient), one.resource_uuid,
        one.request_uuid, one.patient_uuid, one.noted_id, one.request_id, one.patients, one.patient_uuids, one.proof);
    IF one.listed IS NOT NULL THEN
      INSERT INTO audit_patient_key (at, seq, patient_key, firm)
        SELECT one.at, new_seq, k.patient_key, in_firm
        FROM (SELECT DISTINCT hashtext(l.patient) AS patient_key FROM unnest(one.listed) AS l(patient)) k;
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
COMMENT ON FUNCTION praxis_write_resources IS 'The only writer of resources: checks the access epoch and the expected versions, writes rows, versions, audit and index rows';
REVOKE EXECUTE ON FUNCTION praxis_write_resources FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_write_resources TO praxis_runtime;
