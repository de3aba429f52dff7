-- Rows of a ledger in the order of commits (docs/decisions/0225). The plan can only walk audit_event_order, whatever the
-- planner believes about sizes: every other way needs a sort. A plan that is kept from when the ledger was small would else
-- read all of it for each seal.

-- The rows after one place and before another, (epoch, xid, seq) each, that have a time and a number which a server can have
-- given them: milliseconds of a date, an integer that a client can hold.
CREATE FUNCTION praxis_ledger_rows(
  in_firm int, after_epoch int, after_xid xid8, after_seq bigint, before_epoch int, before_xid xid8, before_seq bigint,
  in_limit int
) RETURNS SETOF audit_event
LANGUAGE plpgsql STABLE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
AS $function$
BEGIN
  RETURN QUERY
    SELECT a.* FROM audit_event a
    WHERE a.firm = in_firm AND (a.epoch, a.xid, a.seq) > (after_epoch, after_xid, after_seq)
      AND (a.epoch, a.xid, a.seq) < (before_epoch, before_xid, before_seq)
      -- In CASE, so that it is no condition of an index.
      AND CASE WHEN a.at BETWEEN 0 AND 8640000000000000 AND a.seq BETWEEN 1 AND 9007199254740991 THEN true ELSE false END
    ORDER BY a.epoch, a.xid, a.seq LIMIT in_limit;
END $function$;
COMMENT ON FUNCTION praxis_ledger_rows IS 'The next rows of a ledger after one place and before another, in the order of commits';
REVOKE EXECUTE ON FUNCTION praxis_ledger_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_ledger_rows TO praxis_runtime;
