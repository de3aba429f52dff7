/**
 * Stands before the token endpoints: who guesses passwords or secrets there is slowed (limits/brute-force-limit.ts), while who has
 * a live API key, as every owner does, goes on whatever others try at the same account or from the same address.
 */
import { pointRead } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import type { Attempt } from '../limits/brute-force-limit.ts';
import type { ApiKeyHeader } from './client-auth/api-key-header.ts';
import { OAuthError } from './errors.ts';
import { decodeComponent, type Form } from './form.ts';
import type { TokenService } from './token-service.ts';

/** What a request tries to get into, as far as it says. */
export interface SecretAttempt {
  /** Where the account or client is: the realm, or environment and firm. */
  readonly place: string;
  /** What a request names there. */
  readonly names: 'account' | 'client';
  readonly authorization: readonly string[];
  readonly apiKey: ApiKeyHeader;
  readonly form: Form;
  readonly address: string;
}

/** Codes that a wrong secret is answered with; others tell a guesser nothing. */
const wrong: ReadonlySet<string> = new Set(['invalid_client', 'invalid_grant']);

/**
 * What `work` gives.
 * @throws OAuthError `too_many_attempts` before anything is looked at, and whatever `work` throws
 */
export async function withBruteForceProtection<T>(
  service: TokenService,
  guess: SecretAttempt,
  work: () => Promise<T>,
): Promise<T> {
  if (!service.guesses.counts) return await work();
  const attempt = { account: `${guess.place}/${nameOf(guess)}`, address: guess.address };
  await admit(service, guess.apiKey, attempt);
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuthError && wrong.has(error.code)) {
      service.guesses.failed(attempt);
      const apiKey = await liveKey(service, guess.apiKey);
      if (apiKey !== undefined) service.guesses.failed({ ...attempt, apiKey });
    }
    throw error;
  }
}

async function admit(service: TokenService, apiKey: ApiKeyHeader, attempt: Attempt): Promise<void> {
  const refused = service.guesses.refusedUntil(attempt);
  if (refused === undefined) return;
  // The key is looked up only when it matters, so that nothing is slower while nobody guesses.
  const key = await liveKey(service, apiKey);
  const still = key === undefined ? refused : service.guesses.refusedUntil({ ...attempt, apiKey: key });
  if (still === undefined) return;
  const diagnostics = `too many wrong attempts in this minute: wait ${still.seconds} s, until ${still.until}`;
  throw new OAuthError('too_many_attempts', diagnostics, undefined, { retryAfterSeconds: still.seconds });
}

/** The number of the key that was sent, if it opens anything. */
async function liveKey({ database, secrets }: TokenService, apiKey: ApiKeyHeader): Promise<number | undefined> {
  if (apiKey.kind !== 'sent') return undefined;
  const [row] = await database.query<{ id: number }>(
    sql`SELECT id FROM api_key WHERE hash = ${secrets.hash('api-key', apiKey.apiKey)} AND state = 'active'`,
    pointRead,
  );
  return row?.id;
}

/**
 * The account or client that the request names, read as it is when its secret is looked at; '' when it names none that can be
 * read. Nothing else of the request is part of it: a guesser would count anew with each.
 */
function nameOf({ names, authorization, form }: SecretAttempt): string {
  if (names === 'account') return form.get('username') ?? '';
  const basic = /^basic +([A-Za-z0-9+/=]+)$/i.exec(authorization[0] ?? '')?.[1];
  if (basic === undefined) return form.get('client_id') ?? '';
  const [inHeader = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':', 1);
  return decodeComponent(inHeader) ?? '';
}
