/**
 * Loaded into each process of a test run: ends a file whose tests are over, or hang, but that something keeps open. The
 * test runner's own limit is for tests, not for what they leave behind.
 */
const fileTimeoutMs = Number(process.env.TEST_FILE_TIMEOUT_MS ?? 10 * 60_000);

setTimeout(() => {
  const open = process.getActiveResourcesInfo().join(', ');
  process.stderr.write(`still running after ${fileTimeoutMs / 1000} s, kept open by: ${open}\n`);
  process.exit(1);
}, fileTimeoutMs).unref();
