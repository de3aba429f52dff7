/**
 * Access tokens: one request for all who need one, ahead of the end of the one before, and once more after a 401. The token
 * is opaque, but that its lifetime is read where the answer does not say it.
 */
import { abortable } from './abort.ts';
import { buildTokenForm, type Credentials, findLegacyTokenUrl } from './credentials.ts';
import { type Cause, makeCause, PraxisError, TokenError } from './errors.ts';
import type { Authorization, Sender } from './sender.ts';
import type { Clock, Settings } from './settings.ts';

interface Token {
  readonly value: string;
  readonly refreshToken: string | undefined;
  /** From then on the next one is requested, while this one is still used. */
  readonly renewAtMs: number;
  readonly endsAtMs: number;
}

/** How long before its end a token is renewed: 60 s, or a fifth of a short life. */
const renewedBeforeMs = 60_000;
/** How long before its end it is not sent any more: 5 s, or a twentieth of a short life. */
const unusedBeforeMs = 5_000;
/** After a failed renewal, while the token before is still good. */
const renewalPauseMs = 5_000;

/** The token of one endpoint, shared by all connections with the same credentials. */
interface Keeper {
  token: Token | undefined;
  renewal: Promise<Token> | undefined;
}

const keepers = new WeakMap<Credentials, Map<string, Keeper>>();

/** How a connection's calls are let in: by a token that is kept, and the API key. */
export function openAuthorization(settings: Settings, credentials: Credentials, sender: Sender): Authorization {
  const { clock } = settings;
  const findKeeper = remember(async () => {
    const tokenUrl = credentials.tokenUrl ?? (await findTokenUrl(settings, credentials, sender));
    return { tokenUrl, keeper: getKeeper(credentials, tokenUrl) };
  });
  const renew = (tokenUrl: string, keeper: Keeper): Promise<Token> => {
    keeper.renewal ??= requestToken(credentials, tokenUrl, keeper.token?.refreshToken, sender, clock)
      .then((token) => {
        keeper.token = token;
        return token;
      })
      .finally(() => {
        keeper.renewal = undefined;
      });
    return keeper.renewal;
  };
  const toHeaders = ({ value }: Token) => ({ authorization: `Bearer ${value}`, 'x-api-key': credentials.apiKey });
  return {
    async getHeaders(signal) {
      const { tokenUrl, keeper } = await abortable(findKeeper(), signal);
      const { token } = keeper;
      const nowMs = clock.now();
      if (token !== undefined && nowMs < token.renewAtMs) return toHeaders(token);
      const renewed = renew(tokenUrl, keeper);
      if (token === undefined || nowMs >= token.endsAtMs) return toHeaders(await abortable(renewed, signal));
      renewed.catch(() => postpone(keeper, token, nowMs));
      return toHeaders(token);
    },
    async renew({ authorization }, signal) {
      const { tokenUrl, keeper } = await abortable(findKeeper(), signal);
      const { token } = keeper;
      if (token !== undefined && toHeaders(token).authorization !== authorization) return; // somebody has renewed it
      await abortable(renew(tokenUrl, keeper), signal);
    },
  };
}

/** Lets the good token be used alone for a while, so that a lost token endpoint is not asked by every call. */
function postpone(keeper: Keeper, token: Token, nowMs: number): void {
  if (keeper.token === token) keeper.token = { ...token, renewAtMs: nowMs + renewalPauseMs };
}

function getKeeper(credentials: Credentials, tokenUrl: string): Keeper {
  const ofCredentials = keepers.get(credentials) ?? new Map<string, Keeper>();
  keepers.set(credentials, ofCredentials);
  const keeper = ofCredentials.get(tokenUrl) ?? { token: undefined, renewal: undefined };
  ofCredentials.set(tokenUrl, keeper);
  return keeper;
}

/** The same promise for all who ask, until it has failed. */
function remember<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** https://hl7.org/fhir/smart-app-launch/conformance.html for client credentials; contract 4.1 for the password grant. */
async function findTokenUrl({ base }: Settings, { flow }: Credentials, sender: Sender): Promise<string> {
  if (flow === 'password') return findLegacyTokenUrl(base);
  const path = '.well-known/smart-configuration';
  const url = `${base}/${path}`;
  const { body, status } = await sender.send({ kind: 'token', method: 'GET', url, isRepeatable: true });
  const { token_endpoint: found } = (body ?? {}) as { token_endpoint?: unknown };
  const isSafe = typeof found === 'string' && (found.startsWith('https://') || base.startsWith('http://'));
  if (isSafe) return found;
  const cause = makeCause('not-fhir', 'The document names no token_endpoint with https');
  throw new TokenError({ method: 'GET', path, status, ...cause });
}

async function requestToken(
  credentials: Credentials,
  tokenUrl: string,
  refreshToken: string | undefined,
  sender: Sender,
  clock: Clock,
): Promise<Token> {
  const requestedAtMs = clock.now();
  const request = {
    kind: 'token',
    method: 'POST',
    url: tokenUrl,
    headers: { 'x-api-key': credentials.apiKey }, // without it the token looks good and opens nothing (contract 7.1)
    body: () => buildTokenForm(credentials, tokenUrl, refreshToken),
    isRepeatable: true,
    readCause: readOAuthError,
  } as const;
  try {
    const { body, status } = await sender.send(request);
    return readToken(body, requestedAtMs) ?? refuseAnswer(tokenUrl, status);
  } catch (error) {
    if (!(error instanceof PraxisError) || error.status === undefined) throw error;
    if (refreshToken !== undefined && error.code === 'invalid_grant')
      return await requestToken(credentials, tokenUrl, undefined, sender, clock);
    throw new TokenError({ ...error, issues: [error.issue] }, { cause: error });
  }
}

function refuseAnswer(tokenUrl: string, status: number): never {
  const cause = makeCause('not-fhir', 'The answer holds no access_token');
  throw new TokenError({ method: 'POST', path: new URL(tokenUrl).pathname, status, ...cause });
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function readOAuthError(body: unknown): Cause | undefined {
  const { error, error_description: text } = (body ?? {}) as { error?: unknown; error_description?: unknown };
  return typeof error === 'string' ? makeCause(error, typeof text === 'string' ? text : error) : undefined;
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-5.1 */
function readToken(body: unknown, requestedAtMs: number): Token | undefined {
  const { access_token: value, refresh_token, expires_in } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof value !== 'string') return undefined;
  const seconds = expires_in === undefined ? readLifetime(value) : Number(expires_in);
  const lifeMs = seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
  const endMs = requestedAtMs + lifeMs;
  return {
    value,
    refreshToken: typeof refresh_token === 'string' ? refresh_token : undefined,
    renewAtMs: endMs - Math.min(renewedBeforeMs, lifeMs / 5),
    endsAtMs: endMs - Math.min(unusedBeforeMs, lifeMs / 20),
  };
}

/** The password grant says no lifetime, but its token is shaped like a JWT (contract 2): seconds, or NaN for any other. */
function readLifetime(token: string): number {
  try {
    const [, payload = ''] = token.split('.');
    const { iat, exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return Number(exp) - Number(iat);
  } catch {
    return Number.NaN;
  }
}
