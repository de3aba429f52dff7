-- The keys that contents of the database are sealed and hashed with, wrapped by the secret key of the installation, so that
-- the database knows which secret key it belongs to, and that key can be changed (docs/decisions/0230).

CREATE TABLE data_key (
  purpose text COLLATE "C" PRIMARY KEY CHECK (char_length(purpose) BETWEEN 1 AND 64),
  wrapped bytea NOT NULL CHECK (octet_length(wrapped) = 60), -- nonce, 32 bytes, tag
  wrapped_under text COLLATE "C" NOT NULL CHECK (wrapped_under ~ '^[0-9a-f]{32}$'),
  wrapped_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE data_key IS 'One key for each purpose, by AES-256-GCM under the secret key; read and written by the owner alone';
COMMENT ON COLUMN data_key.wrapped_under IS 'Fingerprint of the secret key, which does not tell it';
