/**
 * The application of the bench as a caller of a server: for what is asked outside of what is measured, and with the
 * credentials of what is.
 */
import type { Call } from './line.ts';
import { firmPrefix, type Prepared } from './prepare.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const root = `/sandbox/firm/${firmPrefix}/pm`;
const fhirPath = `${root}/fhir/v2`;

/** Of a resource what the bench looks at. */
export interface FoundResource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: { readonly lastUpdated: string };
  readonly name?: readonly { readonly family: string }[];
  readonly start?: string;
}

export interface FoundBundle {
  readonly total?: number;
  readonly entry?: readonly { readonly resource: FoundResource }[];
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}

export interface Answer {
  readonly headers: Headers;
  readonly body: string;
}

export interface Caller {
  readonly origin: string;
  /** Requests for tokens, by client credentials and by a refresh token of the legacy flow. */
  readonly issue: Call;
  readonly refresh: Call;
  /** The refresh token of `refresh`. */
  readonly refreshToken: string;
  /** A request below the FHIR base. @param what path and query */
  get(what: string): Call;
  /** The same with a body. */
  write(method: 'POST' | 'PUT', what: string, body: string): Call;
  /** The answer. @throws Error where it has another status */
  send(call: Call, status: number): Promise<Answer>;
  /** The Bundle that a search below the FHIR base finds. */
  search(what: string): Promise<FoundBundle>;
}

/** The caller at `origin`, with tokens that were requested just now. */
export async function openCaller(origin: string, { client, legacy }: Prepared): Promise<Caller> {
  const send = async ({ method, path, headers, body }: Call, status: number): Promise<Answer> => {
    const answer = await fetch(origin + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status}, not ${status}: ${text}`);
    return { headers: answer.headers, body: text };
  };
  const ask = (path: string, apiKey: string, fields: Readonly<Record<string, string>>): Call => {
    return { method: 'POST', path, headers: { ...form, 'x-api-key': apiKey }, body: encode(fields) };
  };
  const grant = (fields: Readonly<Record<string, string>>) => ask(`${root}/ws/oauth2/grant`, legacy.apiKey, fields);
  const issue = ask('/auth/realms/sandbox/protocol/openid-connect/token', client.apiKey, {
    grant_type: 'client_credentials',
    client_id: client.clientId,
    client_secret: client.clientSecret,
  });
  const { username, password } = legacy;
  const token = readField(await send(issue, 200), 'access_token');
  const login = grant({ grant_type: 'password', username, password });
  const refreshToken = readField(await send(login, 200), 'refresh_token');
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': client.apiKey };
  const withBody = { ...headers, 'content-type': 'application/fhir+json' };
  const get = (what: string): Call => ({ method: 'GET', path: `${fhirPath}/${what}`, headers });
  return {
    origin,
    issue,
    refresh: grant({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    refreshToken,
    get,
    write: (method, what, body) => ({ method, path: `${fhirPath}/${what}`, headers: withBody, body }),
    send,
    search: async (what) => JSON.parse((await send(get(what), 200)).body),
  };
}

/** The resources of the Bundle. */
export function listFound({ entry = [] }: FoundBundle): readonly FoundResource[] {
  return entry.map(({ resource }) => resource);
}

/** Path and query, below the FHIR base, of the page that follows; undefined: it is the last one. */
export function findNext({ link = [] }: FoundBundle): string | undefined {
  const next = link.find(({ relation }) => relation === 'next')?.url;
  return next?.slice(next.indexOf(fhirPath) + fhirPath.length + 1);
}

function encode(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString();
}

function readField({ body }: Answer, name: string): string {
  const answer: unknown = JSON.parse(body);
  if (typeof answer === 'object' && answer !== null && name in answer) return String(Reflect.get(answer, name));
  throw new Error(`an answer without ${name}: ${body}`);
}
