-- The waiting list (docs/decisions/0202, 0203): who waits is an Appointment with the status waitlist; here stands in which
-- order, what was offered to whom, and which time was given up and is still to be offered.

CREATE TABLE waitlist_entry (
  since bigint NOT NULL,
  firm int NOT NULL,
  priority smallint NOT NULL CHECK (priority > 0),
  appointment text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, appointment)
);
CREATE INDEX waitlist_entry_rank ON waitlist_entry (firm, priority, since, appointment);
COMMENT ON TABLE waitlist_entry IS 'Appointments that wait for a time, or have been offered one';
COMMENT ON COLUMN waitlist_entry.appointment IS 'Id of the Appointment';
COMMENT ON COLUMN waitlist_entry.since IS 'When it began to wait, in milliseconds since 1970';
COMMENT ON COLUMN waitlist_entry.priority IS 'Appointment.priority, 1 the highest; 32767: none';

CREATE TABLE waitlist_offer (
  expires bigint NOT NULL,
  firm int NOT NULL,
  ended boolean NOT NULL DEFAULT false,
  appointment text COLLATE "C" NOT NULL,
  slot text COLLATE "C" NOT NULL,
  added text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, appointment, slot)
);
CREATE UNIQUE INDEX waitlist_offer_standing ON waitlist_offer (firm, appointment) WHERE NOT ended;
CREATE INDEX waitlist_offer_expiry ON waitlist_offer (firm, expires) WHERE NOT ended;
COMMENT ON TABLE waitlist_offer IS 'Slots that were offered to those who wait: none is offered twice to the same';
COMMENT ON COLUMN waitlist_offer.expires IS 'When the offer ends by itself; its places are rows of occupancy that expire then';
COMMENT ON COLUMN waitlist_offer.added IS 'Participants that came with the offer and go with it, as Type/id';

CREATE TABLE freed_time (
  id bigint GENERATED ALWAYS AS IDENTITY,
  starts bigint NOT NULL,
  ends bigint NOT NULL,
  firm int NOT NULL,
  actor text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, id)
);
COMMENT ON TABLE freed_time IS 'Coming time of a practitioner that an appointment gave up, written with the change and deleted with the offer';
COMMENT ON COLUMN freed_time.actor IS 'As Practitioner/id';

CREATE TABLE waitlist_due (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  due bigint NOT NULL,
  firm int NOT NULL
);
CREATE INDEX waitlist_due_time ON waitlist_due (due);
COMMENT ON TABLE waitlist_due IS 'When to look at the waiting list of a firm: time was freed, or an offer ends';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['waitlist_entry', 'waitlist_offer', 'freed_time'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, DELETE, UPDATE (priority) ON waitlist_entry TO praxis_runtime;
GRANT SELECT, INSERT, DELETE, UPDATE (expires, ended, added) ON waitlist_offer TO praxis_runtime;
GRANT SELECT, INSERT, DELETE ON freed_time, waitlist_due TO praxis_runtime;
