-- From where administrators have signed in: who guesses elsewhere does not keep them out there (docs/decisions/0209).

CREATE TABLE admin_address (
  administrator int NOT NULL REFERENCES administrator,
  address bytea NOT NULL CHECK (octet_length(address) = 32),
  signed_in_at timestamptz NOT NULL,
  PRIMARY KEY (administrator, address)
);
COMMENT ON TABLE admin_address IS 'Addresses from which administrators have signed in of late';
COMMENT ON COLUMN admin_address.address IS 'Keyed hash of username and network: equal addresses of two administrators do not show';
GRANT SELECT, INSERT, UPDATE (signed_in_at), DELETE ON admin_address TO praxis_runtime;
