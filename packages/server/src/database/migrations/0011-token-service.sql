-- What the complete token service needs: several live secrets per client, public keys of clients, assertions used once,
-- tokens revoked one by one, long scopes kept beside their tokens, signing keys that are published before they sign.

-- A client has at most two live secrets, so that it can change them without a pause.
CREATE TABLE client_secret (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client text COLLATE "C" NOT NULL REFERENCES client ON DELETE CASCADE,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'retired', 'revoked')),
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  UNIQUE (client, hash)
);
COMMENT ON TABLE client_secret IS 'Secrets of OAuth clients, as keyed hashes; at most two of a client are active. Tokens got with a retired one live on, those got with a revoked one do not';
GRANT SELECT, INSERT, UPDATE (state, last_used_at) ON client_secret TO praxis_runtime;

INSERT INTO client_secret (client, hash, created_at) SELECT client_id, secret_hash, created_at FROM client;

ALTER TABLE client DROP COLUMN secret_hash;
ALTER TABLE client ADD COLUMN jwks jsonb CHECK (jsonb_typeof(jwks) = 'object');
ALTER TABLE client ADD COLUMN jwks_uri text COLLATE "C" CHECK (char_length(jwks_uri) BETWEEN 1 AND 2000);
ALTER TABLE client ADD CONSTRAINT client_keys_one_place CHECK (jwks IS NULL OR jwks_uri IS NULL);
COMMENT ON TABLE client IS 'OAuth clients of the client-credentials grant; their secrets are in client_secret';
COMMENT ON COLUMN client.jwks IS 'Public keys that the client''s assertions are verified with (RFC 7523)';
COMMENT ON COLUMN client.jwks_uri IS 'Where the client publishes those keys, instead of jwks';
GRANT UPDATE (jwks, jwks_uri) ON client TO praxis_runtime;

ALTER TABLE api_key ADD COLUMN last_used_at timestamptz;
GRANT UPDATE (last_used_at) ON api_key TO praxis_runtime;

CREATE TABLE client_assertion (
  client text COLLATE "C" NOT NULL REFERENCES client ON DELETE CASCADE,
  jti bytea NOT NULL CHECK (octet_length(jti) = 32), -- SHA-256 of the jti
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (client, jti)
);
COMMENT ON TABLE client_assertion IS 'Assertions of clients that were used; each works once (RFC 7523, section 3). Expired rows are deleted';
CREATE INDEX client_assertion_expiry ON client_assertion (expires_at);
GRANT SELECT, INSERT, UPDATE (expires_at), DELETE ON client_assertion TO praxis_runtime;

CREATE TABLE revoked_token (
  token_id text COLLATE "C" PRIMARY KEY CHECK (char_length(token_id) BETWEEN 1 AND 64),
  application int NOT NULL REFERENCES application ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE revoked_token IS 'Tokens that ended before their time (RFC 7009), by jti. Expired rows are deleted';
CREATE INDEX revoked_token_application ON revoked_token (application);
CREATE INDEX revoked_token_expiry ON revoked_token (expires_at);
GRANT SELECT, INSERT, UPDATE (expires_at), DELETE ON revoked_token TO praxis_runtime;

CREATE TABLE token_scope (
  reference text COLLATE "C" PRIMARY KEY CHECK (char_length(reference) = 43), -- SHA-256 of the entries in base64url
  entries text[] COLLATE "C" NOT NULL CHECK (cardinality(entries) <= 500 AND array_position(entries, NULL) IS NULL),
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE token_scope IS 'Entries of access tokens whose scope is too long to be in them. Expired rows are deleted';
CREATE INDEX token_scope_expiry ON token_scope (expires_at);
GRANT SELECT, INSERT, UPDATE (expires_at), DELETE ON token_scope TO praxis_runtime;

-- A key is published before it signs, and verifies for as long as tokens that it signed are valid.
ALTER TABLE signing_key DROP CONSTRAINT signing_key_state_check;
ALTER TABLE signing_key ADD CONSTRAINT signing_key_state_check CHECK (state IN ('published', 'active', 'verifying', 'retired'));
ALTER TABLE signing_key ADD COLUMN state_since timestamptz;
UPDATE signing_key SET state_since = created_at;
ALTER TABLE signing_key ALTER COLUMN state_since SET NOT NULL;
ALTER TABLE signing_key ALTER COLUMN state_since SET DEFAULT now();
COMMENT ON COLUMN signing_key.state_since IS 'When the key entered its state; says when it may go on to the next';
GRANT UPDATE (state_since) ON signing_key TO praxis_runtime;
CREATE UNIQUE INDEX signing_key_published ON signing_key (realm) WHERE state = 'published';
