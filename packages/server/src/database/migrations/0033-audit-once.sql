-- Rows of a batch are added once, however often its statement is sent (docs/decisions/0238): they are known by the proof of the first
-- of them. Otherwise as in 0016. The number of the lock: the ASCII bytes of "audi".
CREATE OR REPLACE FUNCTION praxis_audit(
  in_firm int, in_at bigint[], in_application int[], in_vid int[], in_shown int[], in_times int[], in_rtype smallint[],
  in_outcome smallint[], in_interaction text[], in_id text[], in_subject text[], in_token_id text[], in_request_id text[],
  in_flow text[], in_elements text[], in_entries text[], in_reason text[], in_patients text[], in_proof bytea[],
  in_patient text[], in_patient_row int[], in_fingerprint text[], in_list text[]
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
DECLARE
  seqs bigint[];
BEGIN
  -- An attempt whose answer was lost may still be under way: the next one waits for its end, and sees its rows.
  PERFORM pg_advisory_xact_lock(1635083369, hashtext(encode(in_proof[1], 'hex')));
  IF EXISTS (SELECT FROM audit_event a WHERE a.firm = in_firm AND a.at = in_at[1] AND a.proof = in_proof[1]) THEN
    RETURN;
  END IF;
  seqs := ARRAY(SELECT nextval('resource_order') FROM generate_series(1, cardinality(in_at)));
  IF cardinality(in_fingerprint) > 0 THEN
    INSERT INTO audit_elements (firm, fingerprint, elements)
      SELECT in_firm, n.fingerprint, n.elements FROM unnest(in_fingerprint, in_list) AS n(fingerprint, elements)
      ON CONFLICT (firm, fingerprint) DO NOTHING;
  END IF;
  INSERT INTO audit_event (at, xid, seq, firm, epoch, application, vid, shown, times, rtype, outcome, interaction, id,
      subject, token_id, request_id, flow, elements, entries, reason, patients, proof)
    SELECT n.at, pg_current_xact_id(), n.seq, in_firm, (SELECT o.epoch FROM order_epoch o),
      n.application, n.vid, n.shown, n.times, n.rtype, n.outcome, n.interaction, n.id, n.subject, n.token_id,
      n.request_id, n.flow, n.elements, n.entries, n.reason, n.patients, n.proof
    FROM unnest(in_at, seqs, in_application, in_vid, in_shown, in_times, in_rtype, in_outcome, in_interaction, in_id,
        in_subject, in_token_id, in_request_id, in_flow, in_elements, in_entries, in_reason, in_patients, in_proof)
      AS n(at, seq, application, vid, shown, times, rtype, outcome, interaction, id, subject, token_id, request_id, flow,
        elements, entries, reason, patients, proof);
  IF cardinality(in_patient) > 0 THEN
    INSERT INTO audit_patient (at, seq, firm, patient)
      SELECT in_at[n.place], seqs[n.place], in_firm, n.patient FROM unnest(in_patient, in_patient_row) AS n(patient, place)
      ORDER BY n.patient COLLATE "C", n.place;
  END IF;
END $function$;
