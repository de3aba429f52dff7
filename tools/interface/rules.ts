/**
 * What docs/contribute/interface.md must account for: every rule of docs/integrate/contract.md, and every habit of existing
 * clients. A rule is taken off this list only when the contract no longer has it.
 */

export interface Rule {
  /** The first cell of its row, and how the names of its own tests begin. */
  readonly id: string;
}

/** `area name` for each name; without names the area itself is one rule. */
function each(area: string, ...names: readonly string[]): Rule[] {
  return names.length === 0 ? [{ id: area }] : names.map((name) => ({ id: `${area} ${name}` }));
}

const legacyFields = ['scope', 'token_type', 'access_token', 'refresh_token'];
const clientFields = ['access_token', 'expires_in', 'refresh_expires_in', 'token_type', 'not-before-policy', 'scope'];

/** Parts 1 to 9 of docs/integrate/contract.md. */
export const contractRules: readonly Rule[] = [
  ...each('contract 1.1'),
  ...each('contract 1.2'),
  ...each('contract 1.3'),
  ...each('contract 1.4 functional scope'),
  ...each('contract 2 resource', 'Patient', 'Appointment', 'Encounter'),
  ...each('contract 2 token response (legacy)'),
  ...each('contract 2 token response (legacy)', ...legacyFields),
  ...each('contract 2 token response (client)'),
  ...each('contract 2 token response (client)', ...clientFields),
  ...each('contract 2', 'access entries', 'fields'),
  ...each('contract 3', 'states', 'transitions'),
  ...each('contract 4 token requests'),
  ...each('contract 4.1', 'path', 'firm_url_prefix', 'environments', 'x-api-key'),
  ...each('contract 4.1', 'grant_type', 'username', 'password', 'response'),
  ...each('contract 4.2', 'path', 'grant_type', 'refresh_token', 'response'),
  ...each('contract 4.3', 'path', 'environments', 'x-api-key'),
  ...each('contract 4.3', 'grant_type', 'client_id', 'client_secret', 'response'),
  ...each('contract 4.4', 'path', 'Authorization', 'x-api-key', 'response', 'other operations and parameters'),
  ...each('contract', '5.1', '5.2', '5.3', '5.4', '5.5', '5.6', '5.7', '5.8', '5.9', '5.10', '5.11'),
  ...each('contract 6 events'),
  ...each('contract 7.1'),
  ...each('contract 7.2', 'token errors', 'data errors'),
  ...each('contract 8.1'),
  ...each('contract 8.2', 'rate limit', 'legacy access-token lifetime', 'refresh-token lifetime', 'size limits'),
  ...each('contract', '9.1', '9.2'),
  ...each('contract 9.3', 'version policy', 'sunset date', 'compatibility'),
];

/** The parts of docs/integrate/contract.md after part 9, in their order. */
export const settledRules: readonly Rule[] = [
  ...each('settled', 'order-of-checks', 'firm-refusal'),
  ...each('settled statuses', '400', '422', '412', '409', '400 of XML', '422 of profiles'),
  ...each('settled statuses', '422 of business rules', '409 of bookings and business keys'),
  ...each('settled open-paths'),
  ...each('settled open-paths openapi and documentation'),
  ...each('settled', 'wrong-key', 'strict-default', 'key-ownership', 'rights', 'revocation'),
  ...each('settled keyless-introspection'),
  ...each('settled', 'basic-decoding', 'discovery'),
  ...each('settled smart-discovery'),
  ...each('settled', 'password-storage', 'chosen-passwords'),
  ...each('settled', 'password-grant'),
  ...each('settled', 'letters', 'union', 'opaque', 'vocabulary', 'restricted-search', 'put'),
  ...each('settled letters of', 'includes and chains', 'type and system history'),
  ...each('settled', 'types', 'client-ids', 'dates', 'references', 'total', 'page', 'flat-cost'),
  ...each('settled', 'practice-parameters', 'unknown-parameters', 'import', 'raw-requests', 'self-links', 'logs'),
  ...each('settled', 'audit-events', 'audit-events reading'),
];

/** Habits of existing clients of services like this one, as public client code shows them. */
export const clientRules: readonly Rule[] = [
  ...each(
    'clients',
    'paging',
    'libraries',
    'count',
    'tokens',
    'headers',
    'location',
    'values',
    'links',
    'errors',
    'slots',
    'put',
    'habits',
    'content-flag',
    'attachment links',
  ),
];
