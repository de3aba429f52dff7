/**
 * The access token of an API call: from its text to its facts. The header's algorithm only picks which of the two kinds it
 * claims to be; each kind is verified with its own algorithm and keys (RFC 8725 §3.1).
 */
import type { Clock } from '../../base/clock.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Environment } from '../../tenancy/environments.ts';
import { type LegacyToken, readLegacyToken } from '../legacy/tokens.ts';
import { type ClientToken, readClientToken } from '../signing/client-tokens.ts';
import { decodeJwt } from '../signing/jwt.ts';
import type { SigningKeys } from '../signing/signing-keys.ts';
import { isProblem, type TokenProblem } from '../signing/token-problem.ts';

export type AccessToken = ({ readonly flow: 'client' } & ClientToken) | ({ readonly flow: 'legacy' } & LegacyToken);
export type ReadToken = AccessToken | TokenProblem;

interface TokenReader {
  readonly secrets: Secrets;
  readonly keys: SigningKeys;
  readonly clock: Clock;
}

/** The facts of an access token that may be used in `environment`, else what is wrong with it. */
export async function readAccessToken(
  reader: TokenReader,
  text: string,
  environment: Environment,
  nowMs: number,
): Promise<ReadToken> {
  const jwt = decodeJwt(text);
  if (!jwt) return { problem: 'is malformed: it is not a token of this service' };
  if (jwt.header.alg === 'RS256') return judgeClient(await readClientToken(reader.keys, jwt, nowMs), environment);
  if (jwt.header.alg === 'HS256') return judgeLegacy(readLegacyToken(reader.secrets, jwt, nowMs), environment);
  return { problem: 'is signed with an algorithm that this service does not use' };
}

function judgeClient(token: ClientToken | TokenProblem, { name, realm }: Environment): ReadToken {
  if (isProblem(token)) return token;
  if (token.realm !== realm)
    return { problem: `was issued by realm ${token.realm}: environment ${name} takes tokens of realm ${realm}` };
  if (token.environment !== name) return { problem: 'belongs to another environment' };
  if (!token.keyed)
    return {
      problem: 'was requested without x-api-key and opens nothing: request a new one and send the header x-api-key',
    };
  return { flow: 'client', ...token };
}

function judgeLegacy(token: LegacyToken | TokenProblem, { name }: Environment): ReadToken {
  if (isProblem(token)) return token;
  if (token.tokenType === 'refresh') return { problem: 'is a refresh token: send the access_token of the same answer' };
  if (token.environment !== name) return { problem: 'belongs to another environment' };
  return { flow: 'legacy', ...token };
}
