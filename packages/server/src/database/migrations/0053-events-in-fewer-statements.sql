-- Events are admitted by one statement, and what an endpoint has accepted is noted by one (docs/decisions/0332). These functions make
-- all changes of their statement, and do nothing where another process was first.

-- It was asked of each event whether there is its subscription. Who admits events holds the row of that, and who removes one removes
-- its events.
ALTER TABLE subscription_event DROP CONSTRAINT subscription_event_firm_subscription_fkey;

-- Notes that an endpoint has accepted the events up to in_until, keeps the attempt, and gives the subscription back where nothing more
-- is to be told: then something is due for it at its next heartbeat, or at its end.
--
-- Returns nothing where it no longer stands as the caller read it, and nothing was changed then; otherwise whether there is more, and
-- whether it was given back.
--
-- in_number: of the attempt; NULL: there was none.
-- in_release: the caller holds the subscription, and has nothing else to do for it.
-- in_may_be_lost: this is the whole transaction, and need not outlast a crash of the database: what is lost of it is told again, by
-- messages of the same ids.
-- in_never: a moment later than all.
CREATE FUNCTION praxis_note_delivered(
  in_firm int, in_id text, in_replays int, in_from bigint, in_until bigint, in_now bigint, in_release boolean, in_never bigint,
  in_may_be_lost boolean,
  in_place smallint, in_number bigint, in_kind text, in_at bigint, in_took int, in_first bigint, in_last bigint, in_status smallint,
  in_reason text
) RETURNS TABLE (has_more boolean, is_released boolean)
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
DECLARE
  stands subscription;
BEGIN
  IF in_may_be_lost THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  UPDATE subscription s SET delivered = in_until, sent = in_now, failing = NULL, retry = NULL, attempts = 0,
      batch_end = CASE WHEN in_until = in_from THEN s.batch_end END, lane_places = CASE WHEN in_until = in_from THEN s.lane_places END,
      tries = GREATEST(s.tries, in_number)
    WHERE s.firm = in_firm AND s.id = in_id AND s.delivered = in_from AND s.replays = in_replays AND s.status = 'active'
    RETURNING s.* INTO stands;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  IF in_number IS NOT NULL THEN
    INSERT INTO subscription_attempt (firm, subscription, place, number, kind, at, took, first_event, last_event, status, reason, retry)
      VALUES (in_firm, in_id, in_place, in_number, in_kind, in_at, in_took, in_first, in_last, in_status, in_reason, NULL)
      ON CONFLICT (firm, subscription, place) DO UPDATE SET number = excluded.number, kind = excluded.kind, at = excluded.at,
        took = excluded.took, first_event = excluded.first_event, last_event = excluded.last_event, status = excluded.status,
        reason = excluded.reason, retry = excluded.retry;
  END IF;

  has_more := stands.events > stands.delivered;
  -- Of a run that has ended, which a mark in the place of its rights tells, the caller has more to do.
  is_released := in_release AND NOT has_more AND NOT stands.suspended AND NOT stands.vendor_suspended
    AND stands.policy NOT IN ('', 'unsearchable');
  IF is_released THEN
    -- What is admitted meanwhile waits for the row above, and then finds the due time of here.
    UPDATE subscription_due d SET leased = 0, due = LEAST(stands.ends, in_never,
        stands.sent + (stands.definition->>'heartbeatSeconds')::bigint * 1000)
      WHERE d.firm = in_firm AND d.id = in_id;
  END IF;
  RETURN NEXT;
END $function$;
COMMENT ON FUNCTION praxis_note_delivered IS 'Notes what an endpoint has accepted, keeps the attempt, and gives the subscription back where nothing is left';
REVOKE EXECUTE ON FUNCTION praxis_note_delivered FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_note_delivered TO praxis_runtime;

-- Moves the place in the feed of a firm, numbers the events of its subscriptions, and takes for the caller those that have nothing
-- else to tell: whoever takes one tells these events, which are its next notification.
--
-- Returns nothing where the feed is no longer as the caller read it, and nothing was changed then; otherwise one row of nulls, whose
-- entries are those of in_done that were noted, and behind it the subscriptions that were taken, as they stand now.
--
-- in_count, in_max: by subscription, its events, and how many of them one notification holds; 0: it is not to be taken.
-- in_of, in_back: by event, its subscription, and how many of the same come after it.
-- in_access_epoch: by subscription, the rights that the caller would tell it under: of others it takes nothing.
-- in_leased: until when the caller has what it takes.
-- in_done: what the caller holds and endpoints have accepted, as praxis_note_delivered takes it: it is noted first. Of what was noted,
-- what has new events is taken again where it can be, else the caller gives it back; the others are given back here. What stands
-- otherwise than the caller knew, another process may hold: its lease is left alone.
CREATE FUNCTION praxis_admit_events(
  in_firm int, in_revision bigint, in_from_epoch int, in_from_xid xid8, in_from_seq bigint,
  in_to_epoch int, in_to_xid xid8, in_to_seq bigint, in_to_is_version boolean, in_now bigint, in_leased bigint,
  in_id text[], in_count int[], in_max int[], in_access_epoch bigint[],
  in_of text[], in_back int[], in_at bigint[], in_rtype smallint[], in_resource text[], in_vid int[], in_kind text[],
  in_never bigint, in_done text[], in_done_replays int[], in_done_from bigint[], in_done_until bigint[], in_done_now bigint[],
  in_done_place smallint[], in_done_number bigint[], in_done_at bigint[], in_done_took int[], in_done_first bigint[],
  in_done_last bigint[], in_done_status smallint[]
) RETURNS SETOF subscription
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET enable_seqscan = off
AS $function$
DECLARE
  moved subscription;
  noted text[] := '{}';
  taken bigint;
  is_again boolean;
  is_given_back boolean;
BEGIN
  UPDATE subscription_feed f SET epoch = in_to_epoch, xid = in_to_xid, seq = in_to_seq, is_version = in_to_is_version
    WHERE f.firm = in_firm AND f.revision = in_revision AND f.epoch = in_from_epoch AND f.xid = in_from_xid AND f.seq = in_from_seq;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR n IN 1 .. cardinality(in_done) LOOP
    is_again := in_done[n] = ANY (in_id);
    SELECT d.is_released INTO is_given_back FROM praxis_note_delivered(in_firm, in_done[n], in_done_replays[n], in_done_from[n],
      in_done_until[n], in_done_now[n], NOT is_again, in_never, false, in_done_place[n], in_done_number[n], 'event-notification', in_done_at[n],
      in_done_took[n], in_done_first[n], in_done_last[n], in_done_status[n], NULL) d;
    CONTINUE WHEN NOT FOUND;
    noted := noted || in_done[n];
    IF is_given_back IS NOT TRUE AND NOT is_again THEN
      -- There is more, or its run has ended: whoever looks next finds what.
      UPDATE subscription_due d SET leased = 0, due = LEAST(d.due, in_now) WHERE d.firm = in_firm AND d.id = in_done[n];
    END IF;
  END LOOP;
  moved.entries := noted;
  RETURN NEXT moved;

  -- Where nothing waits, the first notification is cut here: whoever sends it, and however often, sends the same.
  WITH numbered AS (
    UPDATE subscription s SET events = s.events + g.given,
      batch_end = CASE WHEN g.cut > 0 AND s.batch_end IS NULL AND s.delivered = s.events AND s.status = 'active' AND s.retry IS NULL
        THEN s.events + LEAST(g.cut, g.given) ELSE s.batch_end END
    FROM unnest(in_id, in_count, in_max) AS g(id, given, cut)
    WHERE s.firm = in_firm AND s.id = g.id RETURNING s.id, s.events)
  INSERT INTO subscription_event (firm, subscription, number, at, rtype, id, vid, kind)
  SELECT in_firm, n.id, n.events - e.back, e.at, e.rtype, e.resource, e.vid, e.kind
  FROM unnest(in_of, in_back, in_at, in_rtype, in_resource, in_vid, in_kind) AS e(subscription, back, at, rtype, resource, vid, kind)
  JOIN numbered n ON n.id = e.subscription;

  RETURN QUERY
    UPDATE subscription_due d SET leased = in_leased, due = LEAST(d.due, in_now)
    FROM unnest(in_id, in_count, in_max, in_access_epoch) AS g(id, given, cut, access_epoch)
      JOIN subscription s ON s.firm = in_firm AND s.id = g.id
      JOIN access_epoch a ON a.firm = in_firm AND a.application = s.application AND a.epoch = g.access_epoch
    WHERE d.firm = in_firm AND d.id = g.id AND (d.leased <= in_now OR d.id = ANY (noted)) AND g.cut > 0 AND s.status = 'active' AND s.retry IS NULL
      AND s.events - g.given = s.delivered AND s.batch_end = s.delivered + LEAST(g.cut, g.given)
    RETURNING s.*;
  GET DIAGNOSTICS taken = ROW_COUNT;

  -- Something is to be done for the others, of those that wait for another attempt at its time.
  IF taken < cardinality(in_id) THEN
    UPDATE subscription_due d SET due = COALESCE(s.retry, in_now) FROM subscription s
      WHERE d.firm = in_firm AND d.id = ANY (in_id) AND s.firm = in_firm AND s.id = d.id AND s.status = 'active'
        AND d.due > COALESCE(s.retry, in_now);
  END IF;
END $function$;
COMMENT ON FUNCTION praxis_admit_events IS 'Numbers events of subscriptions and moves the place in the feed, all or nothing; takes what is told at once';
REVOKE EXECUTE ON FUNCTION praxis_admit_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_admit_events TO praxis_runtime;
