-- Search parameters that firms define for themselves (https://hl7.org/fhir/R4/searchparameter.html).

-- One row per definition in force or on its way in or out. A changed definition is a new row beside the old one, which
-- stays until the new one is complete (docs/decisions/0130).
CREATE TABLE firm_search_parameter (
  firm int NOT NULL REFERENCES firm,
  id int GENERATED ALWAYS AS IDENTITY,
  resource_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  definition jsonb NOT NULL CHECK (jsonb_typeof(definition) = 'object'),
  state text COLLATE "C" NOT NULL CHECK (state IN ('indexing', 'active', 'dropping', 'refused')),
  reason text,
  -- The walk over what was stored before: from which transaction on every write knows of the parameter, and how far it is.
  order_epoch int,
  barrier xid8,
  rid_done bigint NOT NULL DEFAULT 0,
  rid_max bigint,
  resources_done int NOT NULL DEFAULT 0,
  resources_total int,
  created_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  PRIMARY KEY (firm, id)
);
COMMENT ON TABLE firm_search_parameter IS 'Search parameters of firms: active SearchParameter resources, and how far their index is';
COMMENT ON COLUMN firm_search_parameter.definition IS 'code, type, base, expression, target, component and description, as @praxis/fhir keeps its own';
COMMENT ON COLUMN firm_search_parameter.reason IS 'Why the parameter is refused; for whoever may read the SearchParameter';
COMMENT ON COLUMN firm_search_parameter.barrier IS 'Transactions before this one may have written without index rows of the parameter';
CREATE INDEX firm_search_parameter_unfinished ON firm_search_parameter (firm) WHERE state IN ('indexing', 'dropping');
GRANT SELECT, INSERT, UPDATE, DELETE ON firm_search_parameter TO praxis_runtime;

-- Firms whose SearchParameter resources have changed since their parameters were last compared with them. Marked in the
-- transaction of the change itself.
CREATE TABLE firm_search_parameter_change (
  firm int PRIMARY KEY REFERENCES firm,
  changed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE firm_search_parameter_change IS 'Firms whose SearchParameter resources are still to be compared with firm_search_parameter';
GRANT SELECT, INSERT, UPDATE, DELETE ON firm_search_parameter_change TO praxis_runtime;
