-- The steps of the floor of completeness (docs/decisions/0172, 0223), one statement each. Each statement of a function that is
-- VOLATILE has a snapshot of its own, so that those behind the lock see what others have committed before it was had.

-- Calls the floor settled when what lies below its fence has ended, and then sets the next one. At first there is no fence.
-- A floor of 0 sets none. Both are returned as they are now.
CREATE FUNCTION praxis_raise_floor(in_floor bigint, OUT floor bigint, OUT settled bigint)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
#variable_conflict use_column
BEGIN
  PERFORM FROM completeness FOR UPDATE;
  UPDATE completeness c SET settled = c.floor, floor = GREATEST(c.floor, in_floor), fence = NULL, fence_epoch = NULL
    FROM order_epoch o
    WHERE (c.floor > c.settled OR c.floor < in_floor)
      AND (c.floor = c.settled OR c.fence_epoch < o.epoch OR c.fence <= pg_snapshot_xmin(pg_current_snapshot()));
  SELECT c.floor, c.settled INTO praxis_raise_floor.floor, praxis_raise_floor.settled FROM completeness c;
END $function$;
REVOKE EXECUTE ON FUNCTION praxis_raise_floor FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_raise_floor TO praxis_runtime;

-- Every transaction that read another floor than the committed one has an id below those to come.
CREATE FUNCTION praxis_fence_floor() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
BEGIN
  PERFORM FROM completeness FOR UPDATE;
  UPDATE completeness c SET fence = pg_snapshot_xmax(pg_current_snapshot()), fence_epoch = o.epoch
    FROM order_epoch o WHERE c.fence IS NULL AND c.floor > c.settled;
END $function$;
REVOKE EXECUTE ON FUNCTION praxis_fence_floor FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_fence_floor TO praxis_runtime;
