/**
 * All statements without a firm that the service sends while it answers requests, its jobs included: how each begins → why it has
 * none. A distributed database would answer them from tables that each node has, or ask all nodes.
 */
export const firmlessStatements: Readonly<Record<string, string>> = {
  // Who asks, before the firm is entered.
  'SELECT 1 AS one FROM environment WHERE realm =': 'whether a token is asked for at a realm that there is',
  'SELECT e.id, e.name, e.realm, e.kind, ARRAY(SELECT p.name FROM product p': 'the environment of a path, by its name',
  'SELECT k.id AS "keyId"':
    'keys, client or account, and what they are authorised for: decides whether the firm may be entered',
  "SELECT kid, private_sealed AS sealed FROM signing_key WHERE realm = $1 AND state = 'active'":
    'signs a token of a realm',
  'INSERT INTO signing_key': 'the first key of a realm',
  'SELECT realm, public_jwk AS jwk FROM signing_key WHERE kid =': 'verifies a token, of which nothing is believed yet',
  'SELECT public_jwk AS jwk FROM signing_key WHERE realm =': 'the public keys of a realm',
  'SELECT epoch FROM access_epoch WHERE firm =': 'whether what a session remembers of rights still holds',
  'SELECT e.epoch, ( SELECT json_agg(': 'rights of a job at a firm, with the search parameters of the firm',
  'SELECT f.id, e.name AS environment, f.prefix, f.name': 'the firm of a name',
  // The operator of the installation, as which jobs and administrators work at a firm.
  'INSERT INTO application (environment, name': 'the application of the operator, where an environment has none',
  'SELECT a.id, e.name AS environment, a.name, a.state': 'the application of the operator',
  'SELECT f.prefix AS firm, a.name AS application, z.acl':
    'the authorisation of the operator, before the firm is entered',
  'INSERT INTO authorisation (firm': 'authorises the operator, where a firm has not',
  'INSERT INTO authorisation_version (firm': 'the version of that authorisation',
  'INSERT INTO access_epoch (firm': 'makes what is remembered of the rights before old',
  // Jobs: which firms have work waiting, asked over all firms.
  'SELECT id FROM firm WHERE state': 'jobs that do a portion of each firm',
  'SELECT id, firm, ledger IS NOT NULL AS noted': 'firms whose erasure two operators have confirmed',
  'SELECT f.id, f.prefix, e.name AS environment, f.time_zone': 'firms with search parameters to index',
  'SELECT f.id, e.name AS environment, f.prefix, c.changes FROM occupancy_change': 'firms with appointments to look at',
  'SELECT f.id, e.name AS environment, f.prefix, d.ids FROM (': 'firms with a waiting list to look at',
  'DELETE FROM waitlist_due WHERE id = ANY': 'reasons to look at a waiting list that were looked after',
  'SELECT d.firm, e.name AS environment, f.prefix, d.revision':
    'firms with subscriptions, and whether anything was changed since the last look',
  'UPDATE subscription_due d SET leased': 'subscriptions that something is to be done for',
  'SELECT b.firm, b.id, COALESCE(h.holder': 'what the sockets of a process are bound to, of all firms',
  'UPDATE subscription_binding b SET held': 'holds what the sockets of a process are bound to for longer',
  'SELECT a.acl, a.settings, n.name AS environment': 'what an application may do at a firm, before the firm is entered',
  'SELECT firm, retry_at AS "retryMs" FROM job_failure': 'firms that a job leaves alone for a while',
  // How much programs use the legacy flow, counted by a process for many firms at once.
  'SELECT pg_advisory_xact_lock($1)': 'one process writes its counts at a time',
  'INSERT INTO legacy_use_writer': 'which counts of a process are written',
  'SELECT application, agent FROM legacy_agent': 'programs that are known; they belong to an application',
  'INSERT INTO legacy_agent': 'programs that are new',
  'INSERT INTO legacy_use (firm': 'the counts',
  // The database as a whole.
  'DELETE FROM rate_counter WHERE minute <': 'counters of minutes that are over, of all callers',
  'SELECT (extract(epoch FROM clock_timestamp())': 'the time of the database',
  'SELECT floor FROM completeness': 'up to when searches are complete, for all firms',
  "SELECT set_config('work_mem'": 'readiness tries a write',
  'SELECT count(*) FROM generate_series(': 'readiness tries a write',
  'UPDATE write_probe': 'readiness tries a write',
};
