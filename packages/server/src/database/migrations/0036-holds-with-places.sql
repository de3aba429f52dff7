-- The function that takes places makes, renews and ends holds, too (docs/decisions/0290): an INSERT in a CTE beside it would not go
-- to the node of the firm in a distributed database. The release before leaves the new arguments out and has that CTE.

DROP FUNCTION praxis_occupy;

-- Takes places for one owner, in the caller's transaction, all or none. Of each choice the first actor that has room is
-- taken; the choices of an owner have no actor in common. What the owner and those in in_replaces had is given up first, and
-- holds that have ended with it. Returns one row per choice ('placed', choice, actor); or ONE other row, after which the
-- caller rolls back: ('stale') the access epoch differs, ('changed', actor) the rules of an actor are not those the caller
-- knew, ('taken', choice, first actor of it, the first interval that stands in the way).
--
-- in_forced: no capacity is looked at; for what was agreed elsewhere and is brought in.
-- in_hold: id of the hold that the places are for, which is made or renewed; NULL: there is none.
-- in_ended_holds: ids of holds of the application that are no more, since they have given up their places.
CREATE FUNCTION praxis_occupy(
  in_firm int, in_application int, in_access_epoch bigint,
  in_owner text, in_replaces text[], in_now bigint, in_expires bigint, in_forced boolean,
  in_choice int[], in_actor text[], in_version int[], in_from bigint[], in_until bigint[], in_capacity int[],
  in_hold text DEFAULT NULL, in_hold_slot text DEFAULT NULL, in_hold_renewals int DEFAULT NULL, in_ended_holds text[] DEFAULT '{}'
) RETURNS TABLE (outcome text, choice int, actor text, starts bigint, ends bigint)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $function$
#variable_conflict use_column
DECLARE
  one record;
  wanted int;
  found_lane int;
BEGIN
  IF (SELECT e.epoch FROM access_epoch e WHERE e.firm = in_firm AND e.application = in_application)
      IS DISTINCT FROM in_access_epoch THEN
    outcome := 'stale';
    RETURN NEXT;
    RETURN;
  END IF;

  -- In one order for all, so that nobody waits for each other in a ring. What is read below is read after the locks.
  PERFORM 1 FROM bookable_actor b WHERE b.firm = in_firm AND b.actor = ANY (in_actor) ORDER BY b.actor FOR UPDATE;
  actor := (SELECT n.actor FROM unnest(in_actor, in_version) AS n(actor, version)
    LEFT JOIN bookable_actor b ON b.firm = in_firm AND b.actor = n.actor
    WHERE b.version IS DISTINCT FROM n.version LIMIT 1);
  IF actor IS NOT NULL THEN
    outcome := 'changed';
    RETURN NEXT;
    RETURN;
  END IF;

  DELETE FROM occupancy o WHERE o.firm = in_firm AND o.owner = ANY (in_owner || in_replaces);
  DELETE FROM occupancy o WHERE o.firm = in_firm AND o.actor = ANY (in_actor) AND o.expires <= in_now;

  FOR wanted IN SELECT DISTINCT n.choice FROM unnest(in_choice) AS n(choice) ORDER BY 1 LOOP
    found_lane := NULL;
    FOR one IN
      SELECT n.actor, n.from_ms, n.until_ms, n.capacity
      FROM unnest(in_choice, in_actor, in_from, in_until, in_capacity) WITH ORDINALITY AS n(choice, actor, from_ms, until_ms, capacity, place)
      WHERE n.choice = wanted ORDER BY n.place
    LOOP
      -- Lanes alone do not say it: one that was taken when there was more room may lie above those there are now.
      CONTINUE WHEN NOT in_forced AND praxis_depth(in_firm, one.actor, one.from_ms, one.until_ms) >= one.capacity;
      found_lane := (SELECT min(l.lane) FROM generate_series(0, CASE WHEN in_forced THEN 999 ELSE one.capacity - 1 END) AS l(lane)
        WHERE NOT EXISTS (SELECT FROM occupancy o WHERE o.firm = in_firm AND o.actor = one.actor AND o.lane = l.lane
          AND o.starts < one.until_ms AND o.starts > one.from_ms - 2678400000 AND o.ends > one.from_ms));
      IF found_lane IS NULL THEN
        found_lane := praxis_new_lanes(in_firm, one.actor, one.from_ms, one.until_ms);
      END IF;
      IF found_lane IS NOT NULL THEN
        INSERT INTO occupancy (firm, actor, owner, starts, ends, expires, lane, places)
          VALUES (in_firm, one.actor, in_owner, one.from_ms, one.until_ms, in_expires, found_lane, GREATEST(one.capacity, found_lane + 1));
        outcome := 'placed';
        choice := wanted;
        actor := one.actor;
        RETURN NEXT;
        EXIT;
      END IF;
    END LOOP;

    IF found_lane IS NULL THEN
      EXIT;
    END IF;
  END LOOP;

  IF found_lane IS NULL AND cardinality(in_choice) > 0 THEN
    outcome := 'taken';
    choice := wanted;
    SELECT n.actor, o.starts, o.ends INTO actor, starts, ends
      FROM unnest(in_choice, in_actor, in_from, in_until) WITH ORDINALITY AS n(choice, actor, from_ms, until_ms, place)
      JOIN occupancy o ON o.firm = in_firm AND o.actor = n.actor AND o.starts < n.until_ms
        AND o.starts > n.from_ms - 2678400000 AND o.ends > n.from_ms
      WHERE n.choice = wanted ORDER BY n.place, o.starts LIMIT 1;
    RETURN NEXT;
    RETURN;
  END IF;

  -- After the places, so that nobody holds the row of a hold who waits for an actor.
  IF in_hold IS NOT NULL THEN
    INSERT INTO slot_hold (firm, id, application, slot, expires, renewals)
      VALUES (in_firm, in_hold, in_application, in_hold_slot, in_expires, in_hold_renewals)
      ON CONFLICT (firm, id) DO UPDATE SET expires = EXCLUDED.expires, renewals = EXCLUDED.renewals
        WHERE slot_hold.application = in_application;
  END IF;
  IF cardinality(in_ended_holds) > 0 THEN
    DELETE FROM slot_hold h WHERE h.firm = in_firm AND h.id = ANY (in_ended_holds) AND h.application = in_application;
  END IF;
END $function$;
COMMENT ON FUNCTION praxis_occupy IS 'The only writer of occupancy: takes places of actors for an appointment or a hold, all or none';
REVOKE EXECUTE ON FUNCTION praxis_occupy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_occupy TO praxis_runtime;
