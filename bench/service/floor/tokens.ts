/**
 * Tokens as plainly as they can be issued: of client credentials, signed by RS256, and of a refresh token of the legacy flow,
 * signed by HS256, of the size and with the signatures of the product's.
 */
import { createHash, createHmac, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import type pg from 'pg';
import type { FloorPlan } from './plan.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const signAsync = promisify(sign);
const tokenSeconds = 900;
const credentialCharacters = 16;

/** The handlers by path. */
export function openTokenHandlers(plan: FloorPlan, pool: pg.Pool): ReadonlyMap<string, Handler> {
  return new Map([
    ['/token', openIssuer(plan)],
    ['/refresh', openRefresher(plan, pool)],
  ]);
}

/** The form is checked, and a token signed. */
function openIssuer({ clientSecret }: FloorPlan): Handler {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const header = encode({ alg: 'RS256', typ: 'JWT', kid: randomBytes(32).toString('base64url') });
  return async (request, response) => {
    const form = await readForm(request);
    if (form.get('grant_type') !== 'client_credentials' || form.get('client_secret') !== clientSecret)
      return answer(response, 401, {});
    const iat = Math.floor(Date.now() / 1000);
    const clientId = form.get('client_id');
    const claims = {
      iss: 'http://127.0.0.1:8080/auth/realms/sandbox',
      sub: clientId,
      aud: 'sandbox',
      azp: clientId,
      client_id: clientId,
      jti: randomUUID(),
      iat,
      exp: iat + tokenSeconds,
      scope: 'acl/*',
      api_key: true,
      secret_id: 1,
    };
    const content = `${header}.${encode(claims)}`;
    const signature = await signAsync('sha256', Buffer.from(content), privateKey);
    answer(response, 200, {
      access_token: `${content}.${signature.toString('base64url')}`,
      expires_in: tokenSeconds,
      refresh_expires_in: 0,
      token_type: 'Bearer',
      'not-before-policy': 0,
      scope: 'acl/*',
    });
  };
}

/** The form is checked, the account read by its key, and a token signed that names its password by a hash. */
function openRefresher({ firm, firmPrefix, username, refreshToken }: FloorPlan, pool: pg.Pool): Handler {
  const key = randomBytes(32);
  const header = encode({ alg: 'HS256', typ: 'JWT' });
  return async (request, response) => {
    const form = await readForm(request);
    if (form.get('grant_type') !== 'refresh_token' || form.get('refresh_token') !== refreshToken)
      return answer(response, 401, {});
    const { rows } = await pool.query({
      name: 'account',
      text: 'SELECT subject, state, password_hash FROM legacy_account WHERE firm = $1 AND username = $2',
      values: [firm, username],
    });
    const [account] = rows;
    if (account?.state !== 'active') return answer(response, 401, {});
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      iss: 'Bench',
      sub: account.subject,
      aud: 'sandbox',
      urlPrefix: firmPrefix,
      vendor: `${username}@${firmPrefix}`,
      tokenType: 'access',
      pol: 1,
      cred: createHash('sha256').update(account.password_hash).digest('base64url').slice(0, credentialCharacters),
      jti: randomUUID(),
      sid: randomUUID(),
      iat,
      exp: iat + tokenSeconds,
    };
    const content = `${header}.${encode(claims)}`;
    answer(response, 200, {
      scope: firmPrefix,
      token_type: 'Bearer',
      access_token: `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`,
      refresh_token: refreshToken,
    });
  };
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return new URLSearchParams(body);
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}
