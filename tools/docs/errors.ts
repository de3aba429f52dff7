/** The tables of docs/integrate/errors.md: what the data API and the token endpoints answer when they refuse. */
import { errorTable } from '../../packages/server/src/base/errors.ts';
import { oauthErrorTable } from '../../packages/server/src/oauth/errors.ts';
import { code, table } from './markdown.ts';

/** Errors of the data API, by status. */
export function apiErrorTable(): string {
  const rows = Object.entries(errorTable)
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([name, { status, issue, meaning }]) => [String(status), code(name), code(issue), meaning]);
  return table(['Status', 'Error', '`issue.code`', 'Meaning'], rows);
}

/** Errors of the token endpoints, in the order of their table. */
export function tokenErrorTable(): string {
  const rows = Object.entries(oauthErrorTable).map(([name, { status, meaning }]) => [
    code(name),
    String(status),
    meaning,
  ]);
  return table(['`error`', 'Status', 'Meaning'], rows);
}
