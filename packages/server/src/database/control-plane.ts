/**
 * Tables without row-level security, each with the reason. Every other table with a column `firm` is a tenant table:
 * row-level security by firm is on and all its keys begin with the firm (asserted in test/database/catalogue.test.ts).
 */
export const controlPlaneTables: Readonly<Record<string, string>> = {
  migration: 'what the schema is; no firm',
  order_epoch: 'one number for the whole database; no firm',
  environment: 'found by name before a firm is known',
  product: 'found by name before a firm is known',
  firm: 'found by environment and prefix before its id is known',
  application: 'belongs to an environment, not to a firm',
  authorisation: 'read to decide whether a firm may be entered at all; an administrator lists it over firms',
  access_epoch: 'raised for all firms of an application in one statement',
  api_key: 'found by hash before a firm is known',
  client: 'found by client id before a firm is known',
  legacy_account: 'a credential of a firm, checked before the caller has entered it',
  signing_key: 'belongs to a realm, not to a firm',
};
