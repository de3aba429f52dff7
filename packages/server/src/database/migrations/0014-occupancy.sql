-- What is taken of the time of practitioners, rooms and equipment (docs/decisions/0188, 0189). That two bookings never share
-- a place is the exclusion constraint's business; which place a booking takes is the business of praxis_occupy.

-- Trusted since PostgreSQL 13: whoever may create tables in the database may create it.
CREATE EXTENSION IF NOT EXISTS btree_gist;

CREATE TABLE bookable_actor (
  barrier xid8,
  firm int NOT NULL,
  version int NOT NULL CHECK (version > 0),
  capacity smallint NOT NULL CHECK (capacity BETWEEN 1 AND 50),
  settled boolean NOT NULL DEFAULT false,
  actor text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, actor)
);
COMMENT ON TABLE bookable_actor IS 'Whose time is kept: practitioners with a calendar, rooms, equipment. The row is the lock of all who book them';
COMMENT ON COLUMN bookable_actor.actor IS 'Reference as Type/id';
COMMENT ON COLUMN bookable_actor.version IS 'Raised with every change of the rules by which the actor is booked, in the transaction of the change';
COMMENT ON COLUMN bookable_actor.settled IS 'Whether the appointments from before stand in occupancy (scheduling/agreed-appointments.ts)';
COMMENT ON COLUMN bookable_actor.barrier IS 'While they do not: once no transaction below it runs, all who write appointments know of the actor';
COMMENT ON COLUMN bookable_actor.capacity IS 'Bookings at once of a room or equipment; of a practitioner the calendar says';

CREATE TABLE occupancy_change (
  changes bigint NOT NULL DEFAULT 1,
  firm int PRIMARY KEY
);
COMMENT ON TABLE occupancy_change IS 'Firms whose appointments are still to be compared with occupancy';
GRANT SELECT, INSERT, UPDATE, DELETE ON occupancy_change TO praxis_runtime;

CREATE TABLE occupancy (
  starts bigint NOT NULL,
  ends bigint NOT NULL,
  expires bigint,
  firm int NOT NULL,
  lane smallint NOT NULL,
  places smallint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, owner, actor),
  -- Reads look back by the longest booking there may be: 31 days.
  CONSTRAINT occupancy_duration CHECK (ends > starts AND ends - starts <= 2678400000),
  CONSTRAINT occupancy_place CHECK (lane >= 0 AND lane < places),
  CONSTRAINT occupancy_overlap EXCLUDE USING gist (firm WITH =, actor WITH =, lane WITH =, int8range(starts, ends) WITH &&)
);
-- A range comparison is not leakproof, so that row-level security keeps it from being an index condition: reads use this.
CREATE INDEX occupancy_time ON occupancy (firm, actor, starts) INCLUDE (ends, lane, expires);
CREATE INDEX occupancy_expiry ON occupancy (firm, actor, expires) WHERE expires IS NOT NULL;
COMMENT ON TABLE occupancy IS 'Intervals [starts, ends) of an actor that are taken, buffers included, in milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN occupancy.lane IS 'Which of the places of the actor, from 0: intervals of one lane never overlap';
COMMENT ON COLUMN occupancy.places IS 'Number of places there were when it was taken';
COMMENT ON COLUMN occupancy.owner IS 'Appointment/id, or hold/id';
COMMENT ON COLUMN occupancy.expires IS 'When a hold ends; NULL: as long as the appointment stands';

CREATE TABLE slot_hold (
  expires bigint NOT NULL,
  firm int NOT NULL,
  application int NOT NULL,
  renewals smallint NOT NULL DEFAULT 0,
  id text COLLATE "C" NOT NULL,
  slot text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, id)
);
CREATE INDEX slot_hold_expiry ON slot_hold (firm, expires);
COMMENT ON TABLE slot_hold IS 'Slots that an application keeps for a moment (operation $hold): its places are the rows of occupancy whose owner is hold/id';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['bookable_actor', 'occupancy', 'slot_hold'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE (version, capacity, settled, barrier) ON bookable_actor TO praxis_runtime;
GRANT SELECT, INSERT, DELETE ON occupancy TO praxis_runtime;
GRANT SELECT, INSERT, DELETE, UPDATE (expires, renewals) ON slot_hold TO praxis_runtime;

-- The highest number of intervals of an actor that are taken at one instant of [in_from, in_until).
CREATE FUNCTION praxis_depth(in_firm int, in_actor text, in_from bigint, in_until bigint) RETURNS int
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET enable_seqscan = off
AS $function$
BEGIN
  RETURN (
    WITH near AS MATERIALIZED (
      SELECT o.starts, o.ends FROM occupancy o
      WHERE o.firm = in_firm AND o.actor = in_actor AND o.starts < in_until AND o.starts > in_from - 2678400000 AND o.ends > in_from)
    SELECT COALESCE(max((SELECT count(*) FROM near n WHERE n.starts <= at.instant AND n.ends > at.instant)), 0)::int
    FROM (SELECT in_from AS instant UNION SELECT starts FROM near WHERE starts > in_from) at);
END $function$;

-- Places an interval where no single lane is free throughout although at no instant all are taken: gives new lanes to all
-- intervals that hang together with it. Intervals in the order of their starts, each in the lowest lane that is free, take
-- as many lanes as are taken at one instant at most. Returns the lane of the new interval, which is not inserted.
CREATE FUNCTION praxis_new_lanes(in_firm int, in_actor text, in_from bigint, in_until bigint) RETURNS int
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET enable_seqscan = off
AS $function$
DECLARE
  lower_bound bigint := in_from;
  upper_bound bigint := in_until;
  wider_lower bigint;
  wider_upper bigint;
  one record;
  moved record;
  lane_ends bigint[] := '{}';
  free_lane int;
  own_lane int;
  together jsonb;
BEGIN
  LOOP
    SELECT LEAST(lower_bound, min(o.starts)), GREATEST(upper_bound, max(o.ends)) INTO wider_lower, wider_upper
      FROM occupancy o
      WHERE o.firm = in_firm AND o.actor = in_actor AND o.starts < upper_bound AND o.starts > lower_bound - 2678400000
        AND o.ends > lower_bound;
    EXIT WHEN wider_lower = lower_bound AND wider_upper = upper_bound;
    lower_bound := wider_lower;
    upper_bound := wider_upper;
  END LOOP;

  WITH gone AS (
    DELETE FROM occupancy o
      WHERE o.firm = in_firm AND o.actor = in_actor AND o.starts < upper_bound AND o.starts >= lower_bound
      RETURNING o.*)
  SELECT COALESCE(jsonb_agg(to_jsonb(gone)), '[]') INTO together FROM gone;

  FOR one IN
    SELECT r.owner, r.starts, r.ends, r.expires, r.places FROM jsonb_populate_recordset(NULL::occupancy, together) r
    UNION ALL SELECT NULL, in_from, in_until, NULL, NULL
    ORDER BY starts, owner NULLS LAST
  LOOP
    free_lane := COALESCE((SELECT min(l.nth) FROM unnest(lane_ends) WITH ORDINALITY AS l(lane_end, nth) WHERE l.lane_end <= one.starts),
      cardinality(lane_ends) + 1);
    lane_ends[free_lane] := one.ends;
    IF one.owner IS NULL THEN
      own_lane := free_lane - 1;
    ELSE
      INSERT INTO occupancy (firm, actor, owner, starts, ends, expires, lane, places)
        VALUES (in_firm, in_actor, one.owner, one.starts, one.ends, one.expires, free_lane - 1, GREATEST(one.places, free_lane));
    END IF;
  END LOOP;
  RETURN own_lane;
END $function$;

-- Takes places for one owner, in the caller's transaction, all or none. Of each choice the first actor that has room is
-- taken; the choices of an owner have no actor in common. What the owner and those in in_replaces had is given up first, and
-- holds that have ended with it. Returns one row per choice ('placed', choice, actor); or ONE other row, after which the
-- caller rolls back: ('stale') the access epoch differs, ('changed', actor) the rules of an actor are not those the caller
-- knew, ('taken', choice, first actor of it, the first interval that stands in the way).
--
-- in_forced: no capacity is looked at; for what was agreed elsewhere and is brought in.
CREATE FUNCTION praxis_occupy(
  in_firm int, in_application int, in_access_epoch bigint,
  in_owner text, in_replaces text[], in_now bigint, in_expires bigint, in_forced boolean,
  in_choice int[], in_actor text[], in_version int[], in_from bigint[], in_until bigint[], in_capacity int[]
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
  END IF;
END $function$;
COMMENT ON FUNCTION praxis_occupy IS 'The only writer of occupancy: takes places of actors for an appointment or a hold, all or none';

REVOKE EXECUTE ON FUNCTION praxis_depth, praxis_new_lanes, praxis_occupy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_depth, praxis_new_lanes, praxis_occupy TO praxis_runtime;
