-- The end of the legacy grant: when it is deprecated and ends, planned brown-outs before that, and who still uses it.
-- No patient data, no credentials: times, links, and counts of programs.

CREATE TABLE legacy_sunset (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment int NOT NULL REFERENCES environment,
  firm int REFERENCES firm,
  application int REFERENCES application,
  deprecated_at timestamptz NOT NULL,
  sunset_at timestamptz CHECK (sunset_at >= deprecated_at),
  link text COLLATE "C" NOT NULL CHECK (link ~ '^https?://[!#-;=?-Z_a-z~]+$' AND char_length(link) <= 500),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'cleared')),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE NULLS NOT DISTINCT (environment, firm, application)
);
COMMENT ON TABLE legacy_sunset IS 'From when the legacy flow is deprecated and when it ends; firm or application NULL: all. The narrowest row that fits a caller counts';
COMMENT ON COLUMN legacy_sunset.sunset_at IS 'From then on legacy tokens and grants are refused; NULL: no end is announced';
GRANT SELECT, INSERT, UPDATE (deprecated_at, sunset_at, link, state) ON legacy_sunset TO praxis_runtime;

CREATE TABLE legacy_brown_out (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment int NOT NULL REFERENCES environment,
  firm int REFERENCES firm,
  application int REFERENCES application,
  starts_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL CHECK (ends_at > starts_at),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'removed')),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE legacy_brown_out IS 'Times [starts_at, ends_at) in which the legacy flow is refused; firm or application NULL: all. Every row that fits a caller counts';
CREATE INDEX legacy_brown_out_end ON legacy_brown_out (environment, ends_at);
GRANT SELECT, INSERT, UPDATE (state) ON legacy_brown_out TO praxis_runtime;

CREATE TABLE legacy_use (
  firm int NOT NULL REFERENCES firm,
  application int NOT NULL REFERENCES application,
  agent text COLLATE "C" NOT NULL CHECK (char_length(agent) BETWEEN 1 AND 32),
  day date NOT NULL,
  calls bigint NOT NULL CHECK (calls >= 0),
  tokens bigint NOT NULL CHECK (tokens >= 0),
  refused bigint NOT NULL CHECK (refused >= 0),
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (firm, application, agent, day)
);
COMMENT ON TABLE legacy_use IS 'How often the legacy flow was used, by firm, application, program and day (UTC)';
COMMENT ON COLUMN legacy_use.agent IS 'Name of the first product of User-Agent, without version; (none) or (other)';
COMMENT ON COLUMN legacy_use.refused IS 'Calls and token requests that a brown-out or the end of the flow refused';
GRANT SELECT, INSERT, UPDATE (calls, tokens, refused, last_used_at) ON legacy_use TO praxis_runtime;

CREATE TABLE legacy_agent (
  application int NOT NULL REFERENCES application,
  agent text COLLATE "C" NOT NULL CHECK (char_length(agent) BETWEEN 1 AND 32),
  PRIMARY KEY (application, agent)
);
COMMENT ON TABLE legacy_agent IS 'The programs that legacy_use tells apart for an application; their number is bounded';
GRANT SELECT, INSERT ON legacy_agent TO praxis_runtime;

CREATE TABLE legacy_use_writer (
  id uuid PRIMARY KEY,
  sequence bigint NOT NULL CHECK (sequence > 0),
  stored_at timestamptz NOT NULL
);
COMMENT ON TABLE legacy_use_writer IS 'The last batch of counts of each process that is in legacy_use, so that one whose answer was lost can be sent again';
GRANT SELECT, INSERT, UPDATE (sequence, stored_at) ON legacy_use_writer TO praxis_runtime;
