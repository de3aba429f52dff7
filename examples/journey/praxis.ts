/**
 * A caller of the FHIR API in forty lines: a token by either flow, kept until shortly before it ends; both credentials on
 * each call; one retry with a new token after 401; an Idempotency-Key on each write, so that it may be repeated.
 */
import { randomUUID } from 'node:crypto';

export interface Credentials {
  /** Where tokens come from. */
  readonly tokenUrl: string;
  readonly apiKey: string;
  /** client_credentials with client_id and client_secret, or password with username and password. */
  readonly form: Readonly<Record<string, string>>;
}

/** A resource, or whatever else an answer holds. */
// biome-ignore lint/suspicious/noExplicitAny: an example that needs no types of FHIR.
export type Json = any;

export interface Praxis {
  get(path: string): Promise<Json>;
  post(path: string, body?: Json): Promise<Json>;
  patch(path: string, operations: readonly object[]): Promise<Json>;
}

export class Refused extends Error {
  readonly status: number;
  /** The OperationOutcome. */
  readonly outcome: Json;

  constructor(what: string, status: number, outcome: Json) {
    super(`${what}: ${status} ${outcome?.issue?.[0]?.diagnostics ?? ''}`);
    this.status = status;
    this.outcome = outcome;
  }
}

/** @param base FHIR base of one practice, such as http://127.0.0.1:8080/sandbox/firm/maple/pm/fhir/v2 */
export function openPraxis(base: string, credentials: Credentials): Praxis {
  let token = { value: '', endsAt: 0 };

  async function bearer(): Promise<string> {
    if (Date.now() < token.endsAt) return token.value;
    const { tokenUrl, apiKey, form } = credentials;
    const answer = await fetch(tokenUrl, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: new URLSearchParams(form),
    });
    const body: Json = await answer.json();
    if (!answer.ok) throw new Error(`no token: ${answer.status} ${body.error_description ?? body.error}`);
    token = { value: body.access_token, endsAt: Date.now() + (Number(body.expires_in ?? 300) - 60) * 1000 };
    return token.value;
  }

  async function call(method: string, path: string, body?: Json, type = 'application/fhir+json'): Promise<Json> {
    const url = path.startsWith('http') ? path : `${base}/${path}`;
    // The same key on the second attempt: whatever became of the first, the write has one effect.
    const key: Record<string, string> = method === 'GET' ? {} : { 'idempotency-key': `"${randomUUID()}"` };
    for (let attempt = 1; ; attempt += 1) {
      const headers = { authorization: `Bearer ${await bearer()}`, 'x-api-key': credentials.apiKey, ...key };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(url, { method, headers: { ...headers, 'content-type': type }, ...sent });
      const text = await answer.text();
      const json = text === '' ? undefined : JSON.parse(text);
      if (answer.ok) return json;
      if (answer.status !== 401 || attempt > 1) throw new Refused(`${method} ${path}`, answer.status, json);
      token = { value: '', endsAt: 0 };
    }
  }

  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, operations) => call('PATCH', path, operations, 'application/json-patch+json'),
  };
}
