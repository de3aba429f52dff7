-- What operators say about access entries at one firm for one application: which rows and elements they reach
-- (docs/decisions/0159).

ALTER TABLE authorisation ADD COLUMN operator_rows jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(operator_rows) = 'object');
COMMENT ON COLUMN authorisation.operator_rows IS 'Access code → type, letters, criteria and elements that its entries reach there; codes that are not named keep their meaning';
GRANT UPDATE (operator_rows) ON authorisation TO praxis_runtime;
