/**
 * Signing in with username and password. A wrong password and an unknown, revoked or closed-out username get the same answer
 * for the same work; who guesses is slowed (limits/brute-force-limit.ts), while sessions and API tokens that there are go on, and so
 * does signing in from where the administrator has been.
 */
import { fail } from '../base/errors.ts';
import type { Attempt, BruteForceLimit } from '../limits/brute-force-limit.ts';
import { isKnownAddress, rememberAddress } from './addresses.ts';
import { refuseField } from './input.ts';
import type { Passwords } from './passwords.ts';
import { beginSession, findSignedInCaller, findSignIn, type SessionStore, type SignIn } from './sessions.ts';

export interface SignInContext extends SessionStore {
  readonly passwords: Passwords;
  readonly guessLimit: BruteForceLimit;
  /** Of whom asks. */
  readonly address: string;
}

/**
 * Begins a session.
 * @throws PraxisError `credentials-invalid` when the password is not that of a live administrator, `rate-exceeded` after too
 *   many wrong ones, `unavailable` when too many passwords are being checked
 */
export async function signIn(context: SignInContext, username: string, password: string) {
  const found = await checkPassword(context, username, password);
  const issued = found && (await beginSession(context, found));
  const caller = issued && (await findSignedInCaller(context, issued.token));
  if (issued === undefined || caller === undefined)
    return fail('credentials-invalid', { diagnostics: 'username or password is wrong' });
  await rememberAddress(context, caller.administrator, username, context.address);
  return { ...caller, ...issued };
}

/**
 * For what a session alone is not enough for.
 * @throws PraxisError `rule-broken` when `password` is not the caller's, `rate-exceeded` after too many wrong ones
 */
export async function requireOwnPassword(context: SignInContext, username: string, password: string): Promise<void> {
  if (await isPasswordOf(context, username, password)) return;
  refuseField('current', 'current is not the password of this administrator');
}

/** Whether it is that of a live administrator. @throws PraxisError `rate-exceeded` after too many wrong ones */
export async function isPasswordOf(context: SignInContext, username: string, password: string): Promise<boolean> {
  return (await checkPassword(context, username, password)) !== undefined;
}

async function checkPassword(context: SignInContext, username: string, password: string): Promise<SignIn | undefined> {
  const { guessLimit, passwords, address } = context;
  const attempt = { account: `admin/${username}`, address };
  await admit(context, username, attempt);
  const found = await findSignIn(context, username);
  const isRight = await passwords.matches(password, found?.password);
  // Attempts that were made at once have passed the first look together: no more than the limit are told what came of them.
  await admit(context, username, attempt);
  if (isRight) return found;
  guessLimit.failed(attempt);
  return undefined;
}

/** @throws PraxisError `rate-exceeded`, before the password is looked at */
async function admit(context: SignInContext, username: string, attempt: Attempt): Promise<void> {
  const { guessLimit } = context;
  const refused = guessLimit.refusedUntil(attempt);
  if (refused === undefined) return;
  // Looked up only when it matters, so that nothing is slower while nobody guesses.
  const isFromKnownAddress = await isKnownAddress(context, username, attempt.address);
  if (isFromKnownAddress && guessLimit.refusedUntil({ ...attempt, isFromKnownAddress }) === undefined) return;
  fail('rate-exceeded', {
    diagnostics: `Too many wrong passwords: wait ${refused.seconds} s, until ${refused.until}`,
    headers: { 'retry-after': String(refused.seconds) },
    limit: 'guesses',
  });
}
