-- praxis_write runs with sequential scans off (docs/decisions/0226). Without a key the one row of order_epoch can only be
-- scanned, which then looks so dear that a server with jit = on compiles the statement on each call. By its key it is cheap.
DO $$
DECLARE
  before text := pg_get_functiondef('praxis_write'::regproc);
  after text := replace(before, '(SELECT o.epoch FROM order_epoch o)', '(SELECT o.epoch FROM order_epoch o WHERE o.only_row)');
BEGIN
  IF after = before THEN
    RAISE EXCEPTION 'praxis_write does not read order_epoch as expected';
  END IF;
  EXECUTE after;
END $$;
