-- Calendars of practitioners and holidays: documents that a practice edits, every version kept (docs/decisions/0180). What is
-- asked for by requests is the current version, which stands in a table of its own.

CREATE TABLE calendar (
  firm int NOT NULL,
  number int NOT NULL CHECK (number BETWEEN 1 AND 268435455),
  version int NOT NULL CHECK (version > 0),
  active boolean NOT NULL,
  practitioner text COLLATE "C" NOT NULL,
  location text COLLATE "C" NOT NULL,
  content text NOT NULL,
  PRIMARY KEY (firm, number),
  UNIQUE (firm, practitioner, location)
);
COMMENT ON TABLE calendar IS 'When a practitioner is there for patients at a location: the current version';
COMMENT ON COLUMN calendar.number IS 'Part of the ids of slots, so never given again';
COMMENT ON COLUMN calendar.content IS 'The document as JSON text, as it was written';
COMMENT ON COLUMN calendar.active IS 'False: it derives no slots';

CREATE TABLE calendar_version (
  firm int NOT NULL,
  number int NOT NULL,
  version int NOT NULL CHECK (version > 0),
  changed_at bigint NOT NULL,
  active boolean NOT NULL,
  changed_by text NOT NULL CHECK (char_length(changed_by) BETWEEN 1 AND 120),
  content text NOT NULL,
  PRIMARY KEY (firm, number, version)
);
COMMENT ON TABLE calendar_version IS 'Every version of every calendar, the current one too, each written in the transaction that made it';

CREATE TABLE holiday_list (
  firm int NOT NULL,
  version int NOT NULL CHECK (version > 0),
  location text COLLATE "C" NOT NULL,
  content text NOT NULL,
  PRIMARY KEY (firm, location)
);
COMMENT ON TABLE holiday_list IS 'Holidays of a firm or of one of its locations: the current version';
COMMENT ON COLUMN holiday_list.location IS 'Id of the Location; empty: all of them';

CREATE TABLE holiday_list_version (
  firm int NOT NULL,
  version int NOT NULL CHECK (version > 0),
  changed_at bigint NOT NULL,
  location text COLLATE "C" NOT NULL,
  changed_by text NOT NULL CHECK (char_length(changed_by) BETWEEN 1 AND 120),
  content text NOT NULL,
  PRIMARY KEY (firm, location, version)
);
COMMENT ON TABLE holiday_list_version IS 'Every version of every list of holidays, the current one too';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['calendar', 'calendar_version', 'holiday_list', 'holiday_list_version'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE (version, active, content) ON calendar TO praxis_runtime;
GRANT SELECT, INSERT, UPDATE (version, content) ON holiday_list TO praxis_runtime;
GRANT SELECT, INSERT ON calendar_version, holiday_list_version TO praxis_runtime;
