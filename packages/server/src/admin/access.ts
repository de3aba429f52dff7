/**
 * What a role may do where (denied unless it is said): an operator all of it; a practice administrator what lies below its
 * firm, a vendor what lies below its application. Who asks for another firm or application gets the answer of one that does
 * not exist, before anything is looked up.
 */

import type { Action, Actor } from '../actions/action.ts';
import type { Role } from '../actions/schema.ts';
import { fail } from '../base/errors.ts';
import type { SignedInCaller } from './sessions.ts';

/** The segments of the path that was asked for, by name. */
export type Segments = Readonly<Record<string, string>>;

/**
 * @throws PraxisError `role-missing` when the caller's role may not do this anywhere, or not by an API token;
 *   `resource-not-found` when it may, but not there
 */
export function requireAccess(action: Action, caller: SignedInCaller, segments: Segments): void {
  const { name, roles } = action;
  if (!roles.includes(caller.role))
    fail('role-missing', { diagnostics: `${name} is for the role ${roles.join(' or ')}, not ${caller.role}` });
  if (action.sessionOnly === true) requireSession(name, caller);
  if (caller.role !== 'operator' && segments['environment'] !== undefined) requireOwn(caller, segments);
}

/** @throws PraxisError `role-missing` where an API token asks for `what` */
export function requireSession(what: string, { kind }: Pick<Actor, 'kind'>): void {
  if (kind === 'token') fail('role-missing', { diagnostics: `${what} is not for API tokens: sign in` });
}

/** @throws PraxisError `role-missing` naming a field of `body` that the caller's role may not give */
export function requireFieldRoles(
  { fields }: Action,
  { role }: SignedInCaller,
  body: Readonly<Record<string, unknown>>,
): void {
  for (const [name, { roles }] of Object.entries(fields)) {
    if (roles === undefined || roles.includes(role) || body[name] === undefined) continue;
    fail('role-missing', {
      diagnostics: `${name} is for the role ${roles.join(' or ')}, not ${role}`,
      expression: [name],
    });
  }
}

function requireOwn({ role, environment, firm, application }: SignedInCaller, segments: Segments): void {
  const what = role === 'practice' ? 'firm' : 'application';
  const own = role === 'practice' ? firm : application;
  if (own !== null && segments[what] === own && segments['environment'] === environment) return;
  fail('resource-not-found', {
    diagnostics: `${what} ${segments[what]} does not exist in environment ${segments['environment']}`,
    expression: [what],
  });
}

/**
 * Segments that the path of an action within an environment must have for a role to be held to what is its own. What a vendor's
 * application has at a firm is below the application, with the firm as {at}: getPlaceOfApplication finds it.
 */
const needed: Readonly<Partial<Record<Role, readonly [needed: string, forbidden: string]>>> = {
  practice: ['{firm}', ''],
  vendor: ['{application}', '{firm}'],
};

/**
 * @throws TypeError when an action is open to a role that its path does not hold to its own firm or application, or two
 *   actions have the same name, or method and path
 */
export function verifyActions(actions: readonly Action[]): void {
  const seen = new Set<string>();
  for (const { name, method, path, roles } of actions) {
    for (const key of [name, `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`]) {
      if (seen.has(key)) throw new TypeError(`${key} is there twice`);
      seen.add(key);
    }
    for (const role of path.includes('{environment}') ? roles : []) {
      const [own, others] = needed[role] ?? ['', ''];
      if (!path.includes(own) || (others !== '' && path.includes(others)))
        throw new TypeError(`${name} is open to ${role}, but its path does not name what is its own`);
    }
  }
}
