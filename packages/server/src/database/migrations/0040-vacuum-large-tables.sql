-- Tables of millions of rows are vacuumed and analysed after a share of their rows that is a matter of minutes, not of days
-- (docs/decisions/0307). Of a table of 3 million, a fifth, as the server has it, is 600,000 dead rows; an index keeps the room of
-- each until then. Rows that are only added need it too: an index-only scan trusts the visibility map.
-- These settings lock nobody out: https://www.postgresql.org/docs/current/sql-altertable.html (SHARE UPDATE EXCLUSIVE).
DO $$
DECLARE
  large_table text;
BEGIN
  FOREACH large_table IN ARRAY ARRAY['resource', 'resource_version', 'index_token', 'index_reference', 'index_date', 'index_string',
                                     'index_number', 'audit_event', 'audit_patient_key', 'occupancy'] LOOP
    EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0.03, autovacuum_vacuum_insert_scale_factor = 0.05, '
      'autovacuum_analyze_scale_factor = 0.03)', large_table);
  END LOOP;
END $$;
