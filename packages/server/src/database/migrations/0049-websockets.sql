-- Websockets of subscriptions (docs/decisions/0320): the tokens by which clients bind, and which process holds whose socket.

CREATE TABLE websocket_token (
  expires bigint NOT NULL,
  firm int NOT NULL,
  application int NOT NULL,
  api_key int NOT NULL,
  hash bytea NOT NULL CHECK (octet_length(hash) = 32),
  access_token text COLLATE "C" NOT NULL,
  subscriptions text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, hash)
);
CREATE INDEX websocket_token_expiry ON websocket_token (firm, expires);
COMMENT ON TABLE websocket_token IS 'Binding tokens that no client has used yet; a token is good once';
COMMENT ON COLUMN websocket_token.expires IS 'In milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN websocket_token.api_key IS 'Key of the call that asked for it: with that it ends';
COMMENT ON COLUMN websocket_token.access_token IS 'Id of the access token of that call: with its revocation it ends';
COMMENT ON COLUMN websocket_token.subscriptions IS 'Subscriptions of the application that it binds';

CREATE TABLE subscription_binding (
  held bigint NOT NULL,
  firm int NOT NULL,
  id text COLLATE "C" NOT NULL,
  holder text COLLATE "C" NOT NULL,
  PRIMARY KEY (firm, id),
  FOREIGN KEY (firm, id) REFERENCES subscription (firm, id) ON DELETE CASCADE
);
CREATE INDEX subscription_binding_holder ON subscription_binding (holder);
COMMENT ON TABLE subscription_binding IS 'Which process holds the socket of a subscription: it alone attends to it';
COMMENT ON COLUMN subscription_binding.held IS 'Until when, unless the process renews it; one that dies has bound none then';

ALTER TABLE websocket_token ENABLE ROW LEVEL SECURITY;
CREATE POLICY firm_only ON websocket_token TO praxis_runtime
  USING (firm = (NULLIF(current_setting('praxis.firm', true), ''))::int);
GRANT SELECT, INSERT, DELETE ON websocket_token TO praxis_runtime;
GRANT SELECT, INSERT, DELETE, UPDATE (held, holder) ON subscription_binding TO praxis_runtime;
