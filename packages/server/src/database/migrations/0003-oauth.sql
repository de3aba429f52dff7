-- What the token service needs beyond the control plane.

-- The `sub` of a client's tokens: a UUID of its service account, so that a token does not tell the client id.
ALTER TABLE client ADD COLUMN subject uuid NOT NULL UNIQUE DEFAULT gen_random_uuid();
COMMENT ON COLUMN client.subject IS 'Service account that the client''s tokens name as sub';

-- Several processes that start together each may make a realm's first key; only one can store it.
CREATE UNIQUE INDEX signing_key_active ON signing_key (realm) WHERE state = 'active';
