/**
 * A caller of the service: one application at one practice, with connections of its own, that notes what each of its
 * requests came to.
 */
import { Agent, request } from 'node:http';
import type { WorstRequest } from '../../packages/server/src/base/worst-case.ts';
import type { SandboxApplication, SandboxFile } from '../../packages/server/src/cli/sandbox/credentials.ts';

/** What became of a request. */
export interface Answer {
  /** 0: no answer came. */
  readonly status: number;
  readonly body: string;
  /** From the sending to the last byte, in ms. */
  readonly ms: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Caller {
  readonly firm: string;
  /** Sends a request with both credentials; never throws. A 401 is tried once more with a new token. */
  send(asked: WorstRequest): Promise<Answer>;
  /** Sends a request once, with another token. */
  sendAs(token: string, asked: WorstRequest): Promise<Answer>;
  /** Asks for a token. */
  token(): Promise<Answer>;
  /** Ends a token (RFC 7009). */
  revoke(token: string): Promise<Answer>;
  close(): void;
}

/** Longest wait for an answer, in ms. */
const answerMaxMs = 60_000;

/** @param connectionsMax requests under way at once */
export function openCaller(
  sandbox: SandboxFile,
  application: SandboxApplication,
  firm: string,
  connectionsMax: number,
): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  const { origin, environment, product, realm } = sandbox;
  const { apiKey, clientId, clientSecret } = application.client;
  const base = `${origin}/${environment}/firm/${firm}/${product}/fhir/v2`;
  let bearer: Promise<Answer> | undefined;

  const atRealm = (endpoint: string, fields: Readonly<Record<string, string>>): Promise<Answer> => {
    const form = new URLSearchParams({ ...fields, client_id: clientId, client_secret: clientSecret });
    const url = `${origin}/auth/realms/${realm}/protocol/openid-connect/${endpoint}`;
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/x-www-form-urlencoded' };
    return exchange(agent, url, 'POST', headers, form.toString());
  };
  const token = (): Promise<Answer> => atRealm('token', { grant_type: 'client_credentials' });

  const attempt = async (asked: WorstRequest): Promise<Answer> => {
    bearer ??= token();
    const asking = bearer;
    const issued = await asking;
    if (issued.status === 200) return await sendAs(JSON.parse(issued.body).access_token, asked);
    if (bearer === asking) bearer = undefined;
    return issued;
  };

  const sendAs = async (held: string, asked: WorstRequest): Promise<Answer> => {
    const { method, path, contentType, headers, body } = asked;
    const sent = {
      ...headers,
      authorization: `Bearer ${held}`,
      'x-api-key': apiKey,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    };
    return await exchange(agent, path === '' ? base : `${base}/${path}`, method, sent, body);
  };

  return {
    firm,
    token,
    sendAs,
    revoke: (held) => atRealm('revoke', { token: held }),
    async send(asked) {
      const answer = await attempt(asked);
      if (answer.status !== 401) return answer;
      bearer = undefined;
      return await attempt(asked);
    },
    close: () => agent.destroy(),
  };
}

/** One request on `agent`. */
export function exchange(
  agent: Agent,
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<Answer> {
  const startedMs = performance.now();
  const answered = (status: number, text: string, received: Answer['headers']): Answer => ({
    status,
    body: text,
    ms: performance.now() - startedMs,
    headers: received,
  });
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sending = request(url, { agent, method, headers: { ...headers, ...length } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve(answered(response.statusCode ?? 0, Buffer.concat(parts).toString(), response.headers)),
      );
      response.on('error', () => resolve(answered(0, '', {})));
    });
    sending.setTimeout(answerMaxMs, () => sending.destroy());
    sending.on('error', () => resolve(answered(0, '', {})));
    sending.end(body);
  });
}
