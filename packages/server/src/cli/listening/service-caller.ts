/** A caller of the FHIR API of one practice by client credentials, as any application is one. */
import type { JsonObject, JsonValue } from '@praxis/fhir';
import { isJsonObject } from '@praxis/fhir';
import { StartError } from '../../base/start-error.ts';
import { findText, listObjects } from '../../search/json-values.ts';

export interface ListenerCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly apiKey: string;
}

/** The service did not do what it was asked. */
export class CallRefused extends StartError {
  /** 0: it was not reached. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export interface ServiceCaller {
  /** The resource of the answer; empty where there is none. @throws CallRefused */
  call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: JsonObject): Promise<JsonObject>;
}

/** A token is asked for anew so long before it ends. */
const tokenRestMs = 60_000;
const answerMaxMs = 30_000;

/** @param base FHIR base of the practice, without a trailing slash */
export function openServiceCaller(
  base: string,
  { clientId, clientSecret, apiKey }: ListenerCredentials,
): ServiceCaller {
  let token = { value: '', endsMs: 0 };

  const bearer = async (): Promise<string> => {
    if (performance.now() < token.endsMs) return token.value;
    const smart = await ask(`${base}/.well-known/smart-configuration`, {});
    const tokenUrl = findText(smart, 'token_endpoint');
    if (tokenUrl === undefined)
      throw new CallRefused(`${base} names no token endpoint: --base is the FHIR base of a practice`, 0);
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const headers = { 'x-api-key': apiKey };
    const answer = await ask(tokenUrl, { method: 'POST', headers, body: new URLSearchParams(form) });
    const seconds = typeof answer.expires_in === 'number' ? answer.expires_in : 0;
    token = {
      value: findText(answer, 'access_token') ?? '',
      endsMs: performance.now() + seconds * 1000 - tokenRestMs,
    };
    return token.value;
  };

  return {
    async call(method, path, body) {
      for (let attempt = 1; ; attempt += 1) {
        const headers = {
          authorization: `Bearer ${await bearer()}`,
          'x-api-key': apiKey,
          accept: 'application/fhir+json',
          ...(body === undefined ? {} : { 'content-type': 'application/fhir+json' }),
        };
        try {
          return await ask(`${base}/${path}`, {
            method,
            headers,
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
        } catch (error) {
          // A token may have ended before its time; a new one is asked for once.
          if (!(error instanceof CallRefused) || error.status !== 401 || attempt > 1) throw error;
          token = { value: '', endsMs: 0 };
        }
      }
    },
  };
}

/** @throws CallRefused with the words of the service */
async function ask(url: string, init: RequestInit): Promise<JsonObject> {
  const [status, text] = await fetchText(url, init);
  const answer = parse(text);
  if (status >= 200 && status < 300) return answer;
  const said = findText(listObjects(answer, 'issue')[0], 'diagnostics') ?? findText(answer, 'error_description');
  throw new CallRefused(`${new URL(url).pathname} answered ${status}: ${said ?? 'without a reason'}`, status);
}

async function fetchText(url: string, init: RequestInit): Promise<readonly [status: number, text: string]> {
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(answerMaxMs) });
    return [response.status, await response.text()];
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new CallRefused(
      `${new URL(url).origin} is not reached: ${cause instanceof Error ? cause.message : 'no answer'}`,
      0,
    );
  }
}

function parse(text: string): JsonObject {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
