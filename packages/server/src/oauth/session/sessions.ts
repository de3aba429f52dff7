/**
 * Sessions, remembered by one process.
 *
 * A session stands for one token, one API key, one environment and one firm, and is remembered for the calls that follow.
 * What it says was true when it was read; the data statement compares `scope.epoch` and so notices any change since
 * (`tenancy/epochs.ts`). Then the caller reads again with `recheck` and runs its statement once more. A refusal that
 * follows from a remembered session is rechecked, too, so that a new grant acts at once.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../../base/bounded-entries.ts';
import { pointRead } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { CredentialUses } from '../client-auth/credential-uses.ts';
import { type AuthenticationContext, authenticate } from './authenticate.ts';
import { openPolicies } from './policies.ts';
import type { ApiCredentials, Session } from './session.ts';

export interface Sessions {
  /**
   * The session of a call: remembered, or read in one statement.
   * @throws PraxisError `credentials-missing`, `credentials-invalid`, `credentials-expired` (401), `firm-forbidden` (403),
   *   `legacy-paused` (503), `legacy-ended` (401)
   */
  authenticate(credentials: ApiCredentials): Promise<Session>;
  /** The same, always read from the database; for stale access and before a refusal. */
  recheck(credentials: ApiCredentials): Promise<Session>;
  /** Forgets a session, so that the next call reads it again. */
  forget(session: Session): void;
  /** Whether nothing has changed since the session was read. For answers that need no data statement. */
  current(session: Session): Promise<boolean>;
}

export interface SessionOptions extends Omit<AuthenticationContext, 'policies'> {
  readonly uses: CredentialUses;
  /** Sessions remembered by this process. */
  readonly sessionsMax: number;
}

/** Policies remembered by one process: far fewer than sessions, since many applications hold the same entries. */
const policiesMax = 2_000;

/** The sessions of one process. */
export function openSessions(options: SessionOptions): Sessions {
  const { database, clock } = options;
  const sessions = new LRUCache<string, Session>(boundEntries(options.sessionsMax));
  const names = new WeakMap<Session, string>();
  const policies = openPolicies(policiesMax);

  const read = async (credentials: ApiCredentials, name: string): Promise<Session> => {
    sessions.delete(name);
    const session = await authenticate({ ...options, policies }, credentials);
    sessions.set(name, session);
    names.set(session, name);
    return session;
  };

  const find = async (credentials: ApiCredentials): Promise<Session> => {
    const name = nameOf(credentials);
    const known = name === undefined ? undefined : sessions.get(name);
    if (known && clock.now() < known.expiresAtMs) return known;
    return await read(credentials, name ?? '');
  };

  return {
    async authenticate(credentials) {
      const session = await find(credentials);
      const { scope, principal } = session;
      options.uses.note('api_key', principal.apiKeyId);
      if (principal.flow === 'legacy') {
        const { firm, application } = scope;
        options.onLegacyUse?.({ firm, application, kind: 'call', userAgent: credentials.userAgent });
      }
      return session;
    },
    recheck: (credentials) => read(credentials, nameOf(credentials) ?? ''),
    forget(session) {
      const name = names.get(session);
      if (name !== undefined) sessions.delete(name);
    },
    async current({ scope }) {
      const statement = sql`SELECT epoch FROM access_epoch WHERE firm = ${scope.firm} AND application = ${scope.application}`;
      const [row] = await database.query<{ epoch: number }>(statement, pointRead);
      return row?.epoch === scope.epoch;
    },
  };
}

/**
 * The name under which the session of a call is remembered: a digest, so that no credential stays in memory and looking it
 * up tells nothing by its time. Undefined for calls that cannot have a session.
 */
function nameOf(credentials: ApiCredentials): string | undefined {
  const { environment, product, firmPrefix, authorization, apiKey, tokenElsewhere } = credentials;
  if (authorization.length !== 1 || apiKey.length !== 1 || tokenElsewhere !== undefined) return undefined;
  // None of the parts can hold a line feed: header values and path segments cannot.
  return hash('sha256', `${authorization[0]}\n${apiKey[0]}\n${environment.name}\n${product}\n${firmPrefix}`, 'binary');
}
