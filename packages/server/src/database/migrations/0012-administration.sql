-- Who may administer the service, and what practices have let applications do, version by version.
-- Passwords are kept by argon2id, session and API tokens as keyed hashes.

CREATE TABLE administrator (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  username text COLLATE "C" NOT NULL UNIQUE CHECK (username ~ '^[a-z0-9]([a-z0-9._@-]{0,61}[a-z0-9])?$'),
  role text COLLATE "C" NOT NULL CHECK (role IN ('operator', 'practice', 'vendor')),
  firm int REFERENCES firm,
  application int REFERENCES application,
  password text COLLATE "C" NOT NULL CHECK (char_length(password) BETWEEN 1 AND 255),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked')),
  created_at timestamptz NOT NULL,
  CHECK ((role = 'practice') = (firm IS NOT NULL) AND (role = 'vendor') = (application IS NOT NULL))
);
COMMENT ON TABLE administrator IS 'People and programs that administer: all of it, one firm, or one application';
COMMENT ON COLUMN administrator.password IS 'argon2id in the PHC string format, made with a key that is not in the database';
GRANT SELECT, INSERT, UPDATE (password, state) ON administrator TO praxis_runtime;

CREATE TABLE admin_session (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  administrator int NOT NULL REFERENCES administrator,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('session', 'token')),
  label text NOT NULL DEFAULT '' CHECK (char_length(label) <= 120),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked')),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL CHECK (ends_at >= expires_at)
);
COMMENT ON TABLE admin_session IS 'Sessions and API tokens of administrators';
COMMENT ON COLUMN admin_session.expires_at IS 'Moves on with use, up to ends_at';
CREATE INDEX admin_session_administrator ON admin_session (administrator);
GRANT SELECT, INSERT, UPDATE (state, last_used_at, expires_at), DELETE ON admin_session TO praxis_runtime;

ALTER TABLE authorisation DROP CONSTRAINT authorisation_state_check;
ALTER TABLE authorisation ADD CONSTRAINT authorisation_state_check CHECK (state IN ('active', 'suspended', 'revoked'));

CREATE TABLE authorisation_version (
  firm int NOT NULL,
  application int NOT NULL,
  version int NOT NULL CHECK (version > 0),
  acl text[] COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('active', 'suspended', 'revoked')),
  purpose text,
  expires_at timestamptz,
  operator_rows jsonb NOT NULL,
  changed_by text NOT NULL CHECK (char_length(changed_by) BETWEEN 1 AND 120),
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (firm, application, version),
  FOREIGN KEY (firm, application) REFERENCES authorisation
);
COMMENT ON TABLE authorisation_version IS 'Every version of every authorisation, the current one too, each written in the transaction that made it';
GRANT SELECT, INSERT ON authorisation_version TO praxis_runtime;

-- What was changed before versions were kept is known as it stands now.
INSERT INTO authorisation_version (firm, application, version, acl, state, purpose, expires_at, operator_rows, changed_by, changed_at)
  SELECT firm, application, version, acl, state, purpose, expires_at, operator_rows, 'before versions were kept', now()
  FROM authorisation;
