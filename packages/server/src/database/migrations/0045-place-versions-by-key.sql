-- The version before is found by the bounds and the order of the primary key. By plain equations PostgreSQL takes an index of the whole
-- firm while it has no statistics of the table, and each new version reads all versions of the firm.

CREATE OR REPLACE FUNCTION praxis_place_version() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY INVOKER AS $function$
DECLARE
  before xid8;
  before_epoch int;
BEGIN
  IF NEW.xid IS DISTINCT FROM pg_current_xact_id_if_assigned() THEN
    RETURN NEW;
  END IF;
  SELECT v.xid, v.epoch INTO before, before_epoch FROM resource_version v
  WHERE v.firm = NEW.firm AND v.rtype = NEW.rtype AND (v.id, v.vid) >= (NEW.id, NEW.vid - 1) AND (v.id, v.vid) <= (NEW.id, NEW.vid - 1)
  ORDER BY v.id, v.vid LIMIT 1;
  IF before_epoch = NEW.epoch AND before > NEW.xid THEN
    NEW.written_by := NEW.xid;
    NEW.xid := before;
  END IF;
  RETURN NEW;
END $function$;
