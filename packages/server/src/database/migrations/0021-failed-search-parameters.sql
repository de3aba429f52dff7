-- A search parameter of a firm whose expression costs too much on some resource is no longer indexed (docs/decisions/0216).

ALTER TABLE firm_search_parameter DROP CONSTRAINT firm_search_parameter_state_check;
ALTER TABLE firm_search_parameter ADD CONSTRAINT firm_search_parameter_state_check
  CHECK (state IN ('indexing', 'active', 'failed', 'dropping', 'refused'));
ALTER TABLE firm_search_parameter ADD COLUMN failed_version int;
COMMENT ON COLUMN firm_search_parameter.reason IS 'Why the parameter is refused or has failed; for whoever may read the SearchParameter';
COMMENT ON COLUMN firm_search_parameter.failed_version IS 'Version of the SearchParameter that failed: a later one starts anew';
