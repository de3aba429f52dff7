-- An import stores new resources by one statement, which is the whole transaction (docs/decisions/0324): no other statement has to
-- arrive for it to end. These functions are what such a transaction does beside storing.

-- Notes what of a file is imported, in the transaction that stores it. Returns how long that transaction has taken so far, in ms.
-- PX002: another process has taken the import over.
CREATE FUNCTION praxis_note_import(
  in_firm int, in_run uuid, in_holder uuid, in_file int, in_from_byte bigint, in_from_entry int, in_to_byte bigint, in_to_entry int,
  in_to_line int, in_stored int, in_skipped int, in_refused int, in_problems text, in_notes text
) RETURNS int
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
BEGIN
  -- Whoever takes it over waits for this transaction, and sees what it has stored.
  PERFORM FROM import_run r WHERE r.firm = in_firm AND r.id = in_run AND r.holder = in_holder FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'another process goes on with the import' USING ERRCODE = 'PX002';
  END IF;
  INSERT INTO import_range (firm, from_byte, to_byte, file, from_entry, to_entry, to_line, stored, skipped, refused, run, problems, notes)
    VALUES (in_firm, in_from_byte, in_to_byte, in_file, in_from_entry, in_to_entry, in_to_line, in_stored, in_skipped, in_refused, in_run,
      in_problems, in_notes);
  RETURN ceil(extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000);
END $function$;
COMMENT ON FUNCTION praxis_note_import IS 'Notes what of a file is imported, in the transaction that stores it; returns how many ms that has taken';
REVOKE EXECUTE ON FUNCTION praxis_note_import FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_note_import TO praxis_runtime;

-- Has the appointments of all actors of the firm looked at again, in the transaction that stores some of them.
CREATE FUNCTION praxis_note_appointments(in_firm int) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
BEGIN
  UPDATE bookable_actor SET settled = false, barrier = NULL WHERE firm = in_firm AND settled;
  IF EXISTS (SELECT FROM bookable_actor WHERE firm = in_firm) THEN
    INSERT INTO occupancy_change (firm) VALUES (in_firm) ON CONFLICT (firm) DO UPDATE SET changes = occupancy_change.changes + 1;
  END IF;
  RETURN true;
END $function$;
COMMENT ON FUNCTION praxis_note_appointments IS 'Has the appointments of all actors of a firm looked at again';
REVOKE EXECUTE ON FUNCTION praxis_note_appointments FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_note_appointments TO praxis_runtime;
