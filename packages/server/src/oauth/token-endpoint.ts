/**
 * The two token endpoints (contract 4; https://www.rfc-editor.org/rfc/rfc6749#section-5), introspection and revocation: from
 * the pieces of a POST to an answer. Which grants the token endpoints offer is `grants/list.ts`.
 */
import { type LimitName, PraxisError } from '../base/errors.ts';
import type { Environment } from '../tenancy/environments.ts';
import { type SecretAttempt, withBruteForceProtection } from './brute-force-guard.ts';
import { readApiKeyHeader } from './client-auth/api-key-header.ts';
import { OAuthError, type OAuthErrorCode, refuse } from './errors.ts';
import { type Form, isFormType, parseForm } from './form.ts';
import type { ClientExchange, ClientRequest, Issued, LegacyExchange, TokenGrant } from './grants/grant.ts';
import { clientGrants, legacyGrants } from './grants/list.ts';
import { introspect } from './introspection.ts';
import { exchangeHeaders } from './legacy/exchange.ts';
import { parseLegacyForm } from './legacy/legacy-form.ts';
import { revoke } from './revocation.ts';
import type { TokenService } from './token-service.ts';

/** A POST as it was received: every value of each header, in order. */
export interface TokenRequest {
  readonly contentType: readonly string[];
  readonly authorization: readonly string[];
  readonly apiKey: readonly string[];
  /** The User-Agent header, for counting who uses the legacy flow. */
  readonly userAgent?: string | undefined;
  /** Where it comes from. */
  readonly address: string;
  readonly body: Uint8Array;
}

export interface TokenReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  /** For metrics, log and audit. */
  readonly record: TokenRecord;
  /** What failed on our side, for the log; the answer tells no detail of it. */
  readonly fault?: unknown;
  /** The limit that has refused, for metrics. */
  readonly limit?: LimitName;
}

export interface TokenRecord {
  /** The endpoint's grant that answered; undefined when the request named none of them. */
  readonly grantType: string | undefined;
  readonly outcome: 'issued' | 'issued-without-key' | 'answered' | OAuthErrorCode;
  readonly subject?: string;
  readonly application?: number;
  /** Of the legacy endpoint: number of the firm, once the caller has proved to have an account there. */
  readonly firm?: number;
  /** `jti` of the access token; of an introspection or a revocation: that of the client's own token. */
  readonly tokenId?: string;
  /** Of an introspection or a revocation: how the client's own token was got. */
  readonly flow?: string;
  /** Of an introspection: whether the answer said anything of the token. */
  readonly active?: boolean;
}

export interface TokenEndpoints {
  /** POST {legacy_auth_url}; `environment` was found by the path. */
  legacy(
    place: { readonly environment: Environment; readonly firmPrefix: string },
    request: TokenRequest,
  ): Promise<TokenReply>;
  /** POST {auth_url}; the realm exists. */
  client(realm: string, request: TokenRequest): Promise<TokenReply>;
  /** POST to the introspection endpoint of a realm that exists (RFC 7662 §2). */
  introspect(realm: string, request: TokenRequest): Promise<TokenReply>;
  /** POST to the revocation endpoint of a realm that exists (RFC 7009 §2). */
  revoke(realm: string, request: TokenRequest): Promise<TokenReply>;
}

/** Answers of a token endpoint are never stored (RFC 6749 §5.1). */
const headers = {
  'content-type': 'application/json;charset=UTF-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
} as const;
const retrySeconds = 1;

/** The token endpoints of `service`. Every request is answered; nothing is thrown. */
export function openTokenEndpoints(service: TokenService): TokenEndpoints {
  return {
    async legacy({ environment, firmPrefix }, received) {
      const exchange: LegacyExchange = {};
      const { address, userAgent, contentType } = received;
      const hasFormType = isFormType(contentType);
      const apiKey = readApiKeyHeader(received.apiKey);
      const asked = { environment, firmPrefix, apiKey, hasFormType, address, exchange };
      const challenge = `ApiKey realm="${environment.name}", header="x-api-key"`;
      const where = { names: 'account', place: `${environment.name}/${firmPrefix}` } as const;
      const answered = await answer(service, challenge, where, received, {
        parse: parseLegacyForm,
        choose: (form) => chooseGrant(service, legacyGrants, asked, form),
      });
      const reply = withRecord(answered, { ...exchange.account });
      const kind = reply.status === 200 ? 'token' : 'refused';
      if (exchange.user) service.onLegacyUse?.({ ...exchange.user, kind, userAgent });
      if (reply.fault !== undefined) return reply;
      return withHeaders(reply, { ...exchange.rate, ...(await exchangeHeaders(service, asked)) });
    },
    client: (realm, received) =>
      answerRealm(service, realm, 'token', received, (asked, form) => chooseGrant(service, clientGrants, asked, form)),
    introspect: (realm, received) =>
      answerRealm(service, realm, 'token/introspect', received, (asked, form) => ({
        reply: async () => answeredReply(JSON.stringify(await introspect(service, asked, form))),
      })),
    revoke: (realm, received) =>
      answerRealm(service, realm, 'revoke', received, (asked, form) => ({
        async reply() {
          await revoke(service, asked, form);
          return answeredReply('');
        },
      })),
  };
}

/** The reply with what is known of its caller besides: also of one that is refused. */
function withRecord(reply: TokenReply, known: Partial<TokenRecord>): TokenReply {
  return { ...reply, record: { ...known, ...reply.record } };
}

function withHeaders(reply: TokenReply, more: TokenReply['headers'] | undefined): TokenReply {
  return { ...reply, headers: { ...reply.headers, ...more } };
}

/** What a form asks for. */
interface Errand {
  /** The grant that it names. */
  readonly grantType?: string;
  readonly reply: () => Promise<TokenReply>;
}

async function answerRealm(
  service: TokenService,
  realm: string,
  endpoint: string,
  received: TokenRequest,
  choose: (asked: ClientRequest, form: Form) => Errand,
): Promise<TokenReply> {
  const exchange: ClientExchange = {};
  const { authorization, address } = received;
  const asked = { realm, endpoint, authorization, apiKey: readApiKeyHeader(received.apiKey), address, exchange };
  const challenge = `Basic realm="${realm}", charset="UTF-8"`;
  const where = { names: 'client', place: realm } as const;
  const reply = await answer(service, challenge, where, received, {
    parse: parseForm,
    choose: (form) => choose(asked, form),
  });
  const { client, token, active, rate } = exchange;
  return withHeaders(withRecord(reply, { ...client, ...token, ...(active === undefined ? {} : { active }) }), rate);
}

async function answer(
  service: TokenService,
  challenge: string,
  where: Pick<SecretAttempt, 'names' | 'place'>,
  received: TokenRequest,
  { parse, choose }: { readonly parse: typeof parseForm; readonly choose: (form: Form) => Errand },
): Promise<TokenReply> {
  let errand: Errand | undefined;
  try {
    const form = parse(received.contentType, received.body);
    errand = choose(form);
    const attempt = { ...received, ...where, apiKey: readApiKeyHeader(received.apiKey), form };
    return await withBruteForceProtection(service, attempt, errand.reply);
  } catch (error) {
    if (error instanceof OAuthError) return errorReply(error, errand?.grantType, challenge);
    return { ...errorReply(toOAuthError(error), errand?.grantType, challenge), fault: error };
  }
}

/**
 * The answer to a request that http refuses before its body is read, e.g. one that is too large.
 * @param description printable ASCII without `"` and `\`, useful words first
 */
export function buildRefusalReply(code: OAuthErrorCode, description: string): TokenReply {
  return errorReply(new OAuthError(code, description), undefined, undefined);
}

function chooseGrant<R>(service: TokenService, grants: readonly TokenGrant<R>[], request: R, form: Form): Errand {
  const grantType = form.get('grant_type');
  if (grantType === undefined) refuse('invalid_request', 'grant_type is missing or empty');
  const grant = grants.find((offered) => offered.grantType === grantType);
  const offered = grants.map((each) => each.grantType).join(' or ');
  if (!grant) refuse('unsupported_grant_type', `grant_type must be ${offered} at this endpoint`);
  return { grantType, reply: async () => issuedReply(await grant.issue(service, request, form), grantType) };
}

/** @param body JSON, or nothing, which has no type */
function answeredReply(body: string): TokenReply {
  const { 'content-type': _type, ...untyped } = headers;
  const record = { grantType: undefined, outcome: 'answered' } as const;
  return { status: 200, headers: body === '' ? untyped : headers, body, record };
}

function issuedReply({ subject, application, tokenId, keyed, response }: Issued, grantType: string): TokenReply {
  const outcome = keyed ? 'issued' : 'issued-without-key';
  const record = { grantType, outcome, subject, application, tokenId } as const; // calls with it carry the same id
  return { status: 200, headers, body: JSON.stringify(response), record };
}

function errorReply(error: OAuthError, grantType: string | undefined, challenge: string | undefined): TokenReply {
  const { code, status, extras } = error;
  // RFC 9110 §15.5.2: a 401 carries a challenge; RFC 6749 §5.2 asks for Basic where it is offered.
  const extra = {
    ...(status === 401 && challenge !== undefined ? { 'www-authenticate': challenge } : {}),
    ...(status === 503 || status === 429 ? { 'retry-after': String(extras.retryAfterSeconds ?? retrySeconds) } : {}),
  };
  const uri = extras.uri === undefined ? {} : { error_uri: extras.uri };
  const body = JSON.stringify({ error: code, error_description: printable(error.description), ...uri });
  const limit = findLimit(error);
  const refusal = { status, headers: { ...headers, ...extra }, body, record: { grantType, outcome: code } };
  return limit === undefined ? refusal : { ...refusal, limit };
}

/** The limit that has refused. */
function findLimit({ code, cause }: OAuthError): LimitName | undefined {
  if (code === 'too_many_attempts') return 'guesses';
  return cause instanceof PraxisError ? cause.details.limit : undefined;
}

/** What the caller is told when we failed. */
function toOAuthError(error: unknown): OAuthError {
  if (error instanceof PraxisError && error.status === 503)
    return new OAuthError('temporarily_unavailable', 'The service cannot answer now: try again', error);
  return new OAuthError('server_error', 'An unexpected fault: the request id finds it in the log', error);
}

/** The characters that RFC 6749 §5.2 allows in `error_description`. */
function printable(text: string): string {
  return text.replaceAll('"', "'").replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
