-- Charges that applications have recorded (docs/decisions/0196), and what waits for a practice to accept it
-- (docs/decisions/0197).

CREATE TABLE inbound_charge (
  received bigint NOT NULL,
  firm int NOT NULL,
  application int NOT NULL,
  charge text COLLATE "C" NOT NULL,
  transaction text COLLATE "C",
  PRIMARY KEY (firm, charge),
  CONSTRAINT inbound_charge_transaction UNIQUE (firm, application, transaction)
);
CREATE INDEX inbound_charge_time ON inbound_charge (firm, received, charge);
COMMENT ON TABLE inbound_charge IS 'ChargeItems that came by the API: from which application, and its id of the transaction';
COMMENT ON COLUMN inbound_charge.charge IS 'Id of the ChargeItem';
COMMENT ON COLUMN inbound_charge.received IS 'When it came, in milliseconds since 1970-01-01T00:00:00Z';
COMMENT ON COLUMN inbound_charge.transaction IS 'NULL: the application gave none';

CREATE TABLE intake_rule (
  firm int NOT NULL,
  application int NOT NULL,
  rtype smallint NOT NULL,
  PRIMARY KEY (firm, rtype, application)
);
COMMENT ON TABLE intake_rule IS 'Types whose writes wait until the practice accepts them';
COMMENT ON COLUMN intake_rule.application IS '0: of all applications';

CREATE TABLE intake_proposal (
  proposed_at bigint NOT NULL,
  firm int NOT NULL,
  application int NOT NULL,
  base int NOT NULL CHECK (base >= 0),
  rtype smallint NOT NULL,
  closed boolean NOT NULL DEFAULT false,
  task text COLLATE "C" NOT NULL,
  target text COLLATE "C",
  proposed text NOT NULL,
  decided text NOT NULL DEFAULT '{}',
  PRIMARY KEY (firm, task)
);
CREATE INDEX intake_proposal_waiting ON intake_proposal (firm, application, proposed_at, task) WHERE NOT closed;
COMMENT ON TABLE intake_proposal IS 'Writes that wait, field by field, beside the Task that tells how far they are';
COMMENT ON COLUMN intake_proposal.task IS 'Id of the Task, and the reconciliation id';
COMMENT ON COLUMN intake_proposal.target IS 'Id of the resource that is to be changed, or was made; NULL: none yet';
COMMENT ON COLUMN intake_proposal.base IS 'Version of it that the application changed; 0: there was none';
COMMENT ON COLUMN intake_proposal.proposed IS 'JSON object: element to its new value, or null where it is to go';
COMMENT ON COLUMN intake_proposal.decided IS 'JSON object: element to what was decided about it';

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['inbound_charge', 'intake_rule', 'intake_proposal'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY firm_only ON %I TO praxis_runtime '
      'USING (firm = (NULLIF(current_setting(''praxis.firm'', true), ''''))::int)', tenant_table);
  END LOOP;
END $$;
GRANT SELECT, INSERT, DELETE ON inbound_charge, intake_rule TO praxis_runtime;
GRANT SELECT, INSERT, UPDATE (target, closed, decided) ON intake_proposal TO praxis_runtime;
