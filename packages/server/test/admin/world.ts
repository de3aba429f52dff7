/** Administrators of a test service, and asking as one of them. */
import type { Role } from '../../src/actions/schema.ts';
import { createAdministrator } from '../../src/admin/administrators.ts';
import { openPasswords } from '../../src/admin/passwords.ts';
import { sql } from '../../src/database/sql.ts';
import { type Answer, answerOf, type TestService } from '../support/service.ts';

/** Long, and of nothing that is guessed first. */
export const password = 'violet kettle under 7 bridges';

export interface AdminCaller {
  readonly token: string;
  readonly username: string;
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

/** Where an administrator belongs. */
export interface Place {
  readonly environment?: string;
  readonly firm?: string;
  readonly application?: string;
}

/** Makes an administrator with `password`. */
export async function makeAdministrator(
  { platform }: Pick<TestService, 'platform'>,
  username: string,
  role: Role,
  place: Place = {},
): Promise<void> {
  const { database, clock, secrets } = platform;
  const store = { database, clock, passwords: openPasswords(secrets) };
  await createAdministrator(store, { environment: 'sandbox', ...place, username, role, password });
}

/** As if these operators had been made, and had changed their passwords, four days ago: an erasure asks for it. */
export async function ageOperators(
  { platform }: Pick<TestService, 'platform'>,
  ...usernames: readonly string[]
): Promise<void> {
  await platform.asOwner(async (owner) => {
    await owner.query(sql`
      UPDATE administrator SET created_at = created_at - interval '4 days', password_given_at = created_at - interval '4 days',
        password_own_since = created_at - interval '4 days' WHERE username = ANY (${usernames}::text[])`);
  });
}

/** Makes an administrator and signs in. */
export async function openAdministrator(
  service: TestService,
  username: string,
  role: Role,
  place: Place = {},
): Promise<AdminCaller> {
  await makeAdministrator(service, username, role, place);
  return await signedIn(service, username);
}

export async function signedIn(service: Pick<TestService, 'origin'>, username: string): Promise<AdminCaller> {
  const answer = await ask(service, undefined, 'POST', '/sessions', { username, password });
  if (answer.status !== 201) throw new Error(`no session: ${answer.status} ${answer.text}`);
  return callerBy(service, username, answer.json.token);
}

/** Asks with a token that is known. */
export function callerBy(service: Pick<TestService, 'origin'>, username: string, token: string): AdminCaller {
  return {
    token,
    username,
    ask: (method, path, body, headers) => ask(service, token, method, path, body, headers),
  };
}

/** One request; `path` is below /admin/api. A text is sent as it is. */
export async function ask(
  { origin }: Pick<TestService, 'origin'>,
  token: string | undefined,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const content =
    body === undefined
      ? { headers: { ...authorization, ...headers } }
      : {
          headers: { ...authorization, 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        };
  return await answerOf(await fetch(`${origin}/admin/api${path}`, { method, ...content }));
}
