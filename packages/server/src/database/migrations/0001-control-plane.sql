-- Control plane: who may call (environments, firms, applications, credentials) and what they may do (authorisations).
-- No patient data. These tables are read before a firm is known, so row-level security does not apply to them; the list is
-- in ../control-plane.ts. Nothing is deleted: a state says what no longer counts. Names follow tenancy/names.ts.

-- The role that the server runs as. It owns nothing and cannot pass row-level security; a server that must log in with it
-- gives it LOGIN and a password. Roles belong to the whole cluster, so another database may have made it already.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'praxis_runtime') THEN
    CREATE ROLE praxis_runtime NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
  END IF;
EXCEPTION
  WHEN duplicate_object OR unique_violation THEN NULL; -- made by another database's migration at this moment
  WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'role praxis_runtime is missing and % may not create it: run CREATE ROLE praxis_runtime as an administrator', current_user;
END $$;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'praxis_runtime' AND (rolsuper OR rolbypassrls)) THEN
    RAISE EXCEPTION 'role praxis_runtime must be NOSUPERUSER and NOBYPASSRLS';
  END IF;
END $$;

-- Lets an owner connection drop to the runtime role (SET ROLE) where no login of its own is configured.
DO $$
BEGIN
  IF current_setting('server_version_num')::int < 160000 THEN
    IF NOT pg_has_role(current_user, 'praxis_runtime', 'MEMBER') THEN
      EXECUTE format('GRANT praxis_runtime TO %I', current_user);
    END IF;
  ELSIF NOT pg_has_role(current_user, 'praxis_runtime', 'SET') THEN
    EXECUTE format('GRANT praxis_runtime TO %I WITH INHERIT FALSE, SET TRUE', current_user);
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN NULL; -- the runtime role then needs a login of its own
  WHEN unique_violation THEN NULL; -- granted by another database's migration at this moment
END $$;

CREATE TABLE environment (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  realm text COLLATE "C" NOT NULL CHECK (realm ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('generic-sandbox', 'practice-sandbox', 'production')),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE environment IS 'A closed world of firms and applications, the first segment of a path; several may share a realm of tokens';
GRANT SELECT, INSERT ON environment TO praxis_runtime;

CREATE TABLE product (
  environment int NOT NULL REFERENCES environment,
  name text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  PRIMARY KEY (environment, name)
);
COMMENT ON TABLE product IS 'Products that an environment serves, a segment of a path';
GRANT SELECT, INSERT ON product TO praxis_runtime;

CREATE TABLE firm (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment int NOT NULL REFERENCES environment,
  prefix text COLLATE "C" NOT NULL CHECK (prefix ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
  time_zone text COLLATE "C" NOT NULL CHECK (char_length(time_zone) BETWEEN 1 AND 64),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (environment, prefix)
);
COMMENT ON TABLE firm IS 'A practice: the tenant. Its id is the first column of every key of every tenant table';
COMMENT ON COLUMN firm.time_zone IS 'IANA name; dates without an offset are read in it';
GRANT SELECT, INSERT, UPDATE (name, time_zone, state) ON firm TO praxis_runtime;

CREATE TABLE application (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  environment int NOT NULL REFERENCES environment,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 120),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
  acl text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (cardinality(acl) <= 500 AND array_position(acl, NULL) IS NULL),
  settings jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object'),
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (environment, name)
);
COMMENT ON TABLE application IS 'A vendor''s program; acl holds the most that its tokens may carry';
GRANT SELECT, INSERT, UPDATE (name, state, acl, settings) ON application TO praxis_runtime;

CREATE TABLE authorisation (
  firm int NOT NULL REFERENCES firm,
  application int NOT NULL REFERENCES application,
  acl text[] COLLATE "C" NOT NULL CHECK (cardinality(acl) <= 500 AND array_position(acl, NULL) IS NULL),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked')),
  version int NOT NULL DEFAULT 1 CHECK (version > 0),
  purpose text CHECK (char_length(purpose) <= 500),
  expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (firm, application)
);
COMMENT ON TABLE authorisation IS 'What a firm lets an application do there; a call gets the intersection with its token''s entries';
CREATE INDEX authorisation_application ON authorisation (application);
GRANT SELECT, INSERT, UPDATE (acl, state, version, purpose, expires_at) ON authorisation TO praxis_runtime;

CREATE TABLE access_epoch (
  firm int NOT NULL REFERENCES firm,
  application int NOT NULL REFERENCES application,
  epoch bigint NOT NULL DEFAULT 1 CHECK (epoch > 0),
  PRIMARY KEY (firm, application)
) WITH (fillfactor = 50); -- updates stay in the page, beside the row that every data statement reads
COMMENT ON TABLE access_epoch IS 'Raised with every change of a right; data statements compare it with the one that their rights were read at';
CREATE INDEX access_epoch_application ON access_epoch (application);
GRANT SELECT, INSERT, UPDATE (epoch) ON access_epoch TO praxis_runtime;

CREATE TABLE api_key (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  application int NOT NULL REFERENCES application,
  flow text COLLATE "C" NOT NULL CHECK (flow IN ('legacy', 'client')),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked')),
  label text NOT NULL DEFAULT '' CHECK (char_length(label) <= 120),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE api_key IS 'Keys of the x-api-key header, as keyed hashes; each belongs to one application and one flow';
CREATE INDEX api_key_application ON api_key (application);
GRANT SELECT, INSERT, UPDATE (state, label) ON api_key TO praxis_runtime;

CREATE TABLE client (
  client_id text COLLATE "C" PRIMARY KEY CHECK (char_length(client_id) BETWEEN 1 AND 255),
  application int NOT NULL REFERENCES application,
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked')),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE client IS 'OAuth clients of the client-credentials grant; the secret as a keyed hash';
CREATE INDEX client_application ON client (application);
GRANT SELECT, INSERT, UPDATE (secret_hash, state) ON client TO praxis_runtime;

CREATE TABLE legacy_account (
  firm int NOT NULL REFERENCES firm,
  username text COLLATE "C" NOT NULL CHECK (char_length(username) BETWEEN 1 AND 255),
  application int NOT NULL REFERENCES application,
  password_hash bytea NOT NULL CHECK (octet_length(password_hash) = 32),
  subject text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(subject) BETWEEN 1 AND 64),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (firm, username)
);
COMMENT ON TABLE legacy_account IS 'Accounts of the legacy password grant; the generated, high-entropy password as a keyed hash';
COMMENT ON COLUMN legacy_account.subject IS 'What tokens name instead of the username';
CREATE INDEX legacy_account_application ON legacy_account (application);
GRANT SELECT, INSERT, UPDATE (password_hash, state) ON legacy_account TO praxis_runtime;

CREATE TABLE signing_key (
  kid text COLLATE "C" PRIMARY KEY CHECK (char_length(kid) BETWEEN 1 AND 128),
  realm text COLLATE "C" NOT NULL CHECK (realm ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  algorithm text COLLATE "C" NOT NULL CHECK (algorithm ~ '^[A-Z]{2}[0-9]{3}$'),
  public_jwk jsonb NOT NULL CHECK (jsonb_typeof(public_jwk) = 'object' AND NOT public_jwk ?| ARRAY['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']),
  private_sealed bytea NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'verifying', 'retired')),
  created_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE signing_key IS 'Keys that sign access tokens, per realm; the private half sealed with the installation''s secret key';
CREATE INDEX signing_key_realm ON signing_key (realm);
GRANT SELECT, INSERT, UPDATE (state) ON signing_key TO praxis_runtime;
