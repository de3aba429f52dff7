-- The order in which changes are told (docs/decisions/0170 to 0173): versions of one resource never overtake each other,
-- requests with an Idempotency-Key are answered once, and there is an instant up to which searches are complete.

ALTER TABLE resource_version ADD COLUMN written_by xid8;
COMMENT ON COLUMN resource_version.xid IS 'Place in the order of changes: the transaction that wrote the version, or the place of the version before it where that is greater';
COMMENT ON COLUMN resource_version.written_by IS 'The transaction that wrote the version, where xid is another';

-- One row. A version whose lastUpdated lies below `floor` is not written any more. Each transaction that was under way when
-- the floor was set has an id below `fence`; once all below it have ended, nothing below the floor can appear: it is settled.
CREATE TABLE completeness (
  settled bigint NOT NULL DEFAULT 0,
  floor bigint NOT NULL DEFAULT 0,
  fence xid8,
  fence_epoch int,
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row)
) WITH (fillfactor = 10); -- updates stay in the page
COMMENT ON TABLE completeness IS 'Up to which lastUpdated (milliseconds since 1970-01-01T00:00:00Z) every version there will ever be can be seen';
INSERT INTO completeness DEFAULT VALUES;
GRANT SELECT, UPDATE (settled, floor, fence, fence_epoch) ON completeness TO praxis_runtime;

-- Passes a value on, unless a version of the given time (the earliest of a statement's) would come too late. Called by a
-- transaction that has its id already, and reads the floor as it is then: whoever reads an older one is below the fence.
CREATE FUNCTION praxis_in_time(in_lu bigint, in_value bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
BEGIN
  IF in_lu < (SELECT c.floor FROM completeness c) THEN
    RAISE EXCEPTION 'a version came too late: its time lies before that up to which searches were said to be complete'
      USING ERRCODE = 'configuration_limit_exceeded';
  END IF;
  RETURN in_value;
END $function$;
REVOKE EXECUTE ON FUNCTION praxis_in_time FROM PUBLIC;
GRANT EXECUTE ON FUNCTION praxis_in_time TO praxis_runtime;

-- Gives a version its place. A transaction may have its id long before it changes a resource that another, younger one has
-- changed meanwhile: by its own id the later version would come first. The place of the version before it is above the id
-- of a transaction that is still under way, so no reader has passed it (docs/decisions/0170).
-- Rows that a restore brings back were written by other transactions: they keep the places that they have.
CREATE FUNCTION praxis_place_version() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
AS $function$
DECLARE
  before xid8;
BEGIN
  IF NEW.xid IS DISTINCT FROM pg_current_xact_id_if_assigned() THEN
    RETURN NEW;
  END IF;
  before := (SELECT v.xid FROM resource_version v
    WHERE v.firm = NEW.firm AND v.rtype = NEW.rtype AND v.id = NEW.id AND v.vid = NEW.vid - 1 AND v.epoch = NEW.epoch);
  IF before > NEW.xid THEN
    NEW.written_by := NEW.xid;
    NEW.xid := before;
  END IF;
  RETURN NEW;
END $function$;
REVOKE EXECUTE ON FUNCTION praxis_place_version FROM PUBLIC;
CREATE TRIGGER resource_version_place BEFORE INSERT ON resource_version
  FOR EACH ROW WHEN (NEW.vid > 1) EXECUTE FUNCTION praxis_place_version();

CREATE TABLE idempotency_key (
  at bigint NOT NULL,
  firm int NOT NULL,
  application int NOT NULL,
  status smallint,
  key bytea NOT NULL CHECK (octet_length(key) = 32),
  request bytea NOT NULL CHECK (octet_length(request) = 32),
  policy text COLLATE "C" NOT NULL,
  facts jsonb,
  body bytea,
  PRIMARY KEY (firm, application, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (firm, at);
COMMENT ON TABLE idempotency_key IS 'Requests that were sent with an Idempotency-Key and have had their effect: written in the transaction of the effect itself, kept for 7 days';
COMMENT ON COLUMN idempotency_key.at IS 'When the request came, in milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN idempotency_key.status IS 'HTTP status of the answer; NULL only while the transaction is under way';
COMMENT ON COLUMN idempotency_key.key IS 'Keyed hash of the key';
COMMENT ON COLUMN idempotency_key.request IS 'Keyed hash of method, path, preconditions and body';
COMMENT ON COLUMN idempotency_key.policy IS 'Fingerprint of the rights that the answer was given under';
COMMENT ON COLUMN idempotency_key.facts IS 'Id, version, time and location that the answer told';
COMMENT ON COLUMN idempotency_key.body IS 'The answer''s body, sealed by a key that is not in the database; NULL: it had none, or one too long to keep';
ALTER TABLE idempotency_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY firm_only ON idempotency_key TO praxis_runtime
  USING (firm = (NULLIF(current_setting('praxis.firm', true), ''))::int);
GRANT SELECT, INSERT, DELETE, UPDATE (at, status, request, policy, facts, body) ON idempotency_key TO praxis_runtime;
