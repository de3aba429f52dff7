-- The order in which histories of a type and of the whole firm are read (https://hl7.org/fhir/R4/http.html#history):
-- by time, then by number, newest first (docs/decisions/0105). Both are appended to at their end, so writes pay little.
CREATE INDEX resource_version_of_type ON resource_version (firm, rtype, lu, seq);
CREATE INDEX resource_version_of_firm ON resource_version (firm, lu, seq);
