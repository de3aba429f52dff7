/**
 * Tables without row-level security, each with the reason. Every other table with a column `firm` is a tenant table:
 * row-level security by firm is on and all its keys begin with the firm (asserted in test/database/catalogue.test.ts).
 */
export const controlPlaneTables: Readonly<Record<string, string>> = {
  migration: 'what the schema is; no firm',
  order_epoch: 'one number for the whole database; no firm',
  completeness: 'one row for the whole database; no firm',
  environment: 'found by name before a firm is known',
  product: 'found by name before a firm is known',
  firm: 'found by environment and prefix before its id is known',
  application: 'belongs to an environment, not to a firm',
  authorisation: 'read to decide whether a firm may be entered at all; an administrator lists it over firms',
  authorisation_version: 'written with the authorisation; an administrator lists it before any firm is entered',
  administrator: 'found by username before a firm is known; an operator belongs to none',
  admin_session: 'found by hash before a firm is known',
  admin_address: 'belongs to an administrator, looked up before a firm is known',
  access_epoch: 'raised for all firms of an application in one statement',
  api_key: 'found by hash before a firm is known',
  client: 'found by client id before a firm is known',
  client_secret: 'belongs to a client, found before a firm is known',
  client_assertion: 'belongs to a client, found before a firm is known',
  revoked_token: 'found by token id; a client-credentials token belongs to no firm',
  token_scope: 'found by its own digest; no firm',
  legacy_account: 'a credential of a firm, checked before the caller has entered it',
  firm_search_parameter:
    'read with the authorisation, before the caller has entered the firm; holds definitions, no data',
  firm_search_parameter_change: 'asked over all firms for those that have work waiting',
  occupancy_change: 'asked over all firms for those that have work waiting',
  waitlist_due: 'asked over all firms for those that have work waiting; holds times alone',
  rate_counter: 'counters of the running minute, by API key, firm and address; no data',
  signing_key: 'belongs to a realm, not to a firm',
  legacy_sunset: 'set for whole environments and read to decide whether a firm may be entered at all',
  legacy_brown_out: 'set for whole environments and read to decide whether a firm may be entered at all',
  legacy_use: 'counts of programs without patient data, written for many firms at once and reported over firms',
  legacy_agent: 'belongs to an application, not to a firm',
  legacy_use_writer: 'a process counts for many firms',
};
