/** A FHIR base that is asked, and how it is loaded. */
import type { Caller } from '../service/caller.ts';
import { type Call, Line, type WholeAnswer } from '../service/line.ts';
import type { Loaded } from './data-set.ts';

export interface Endpoint {
  readonly name: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** What absolute references to its own resources begin with. */
  readonly base: string;
  /** A request. @param what path and query below the FHIR base, '' for the base itself */
  call(method: Call['method'], what: string, body?: object): Call;
}

/** Entries of a Bundle. */
const bundleMax = 100;
const fhirJson = 'application/fhir+json';

/** Any server. @param url the FHIR base @param headers lines as `name: value` */
export function openEndpoint(url: string, headers: readonly string[]): Endpoint {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/$/, '');
  const given = Object.fromEntries(headers.map(readHeaderLine));
  const read = { accept: fhirJson, ...given };
  const write = { ...read, 'content-type': fhirJson };
  return {
    name: 'other',
    origin,
    base: `${origin}${path}`,
    call(method, what, body) {
      const target = what === '' ? path || '/' : `${path}/${what}`;
      if (body === undefined) return { method, path: target, headers: read };
      return { method, path: target, headers: write, body: JSON.stringify(body) };
    },
  };
}

/** The service itself. */
export function openOwnEndpoint(caller: Caller): Endpoint {
  return {
    name: 'this',
    origin: caller.origin,
    base: `${caller.origin}${caller.get('').path}`.replace(/\/$/, ''),
    call: (method, what, body) =>
      body === undefined || method === 'GET' ? caller.get(what) : caller.write(method, what, JSON.stringify(body)),
  };
}

/** Asks once. @throws Error where the status is not one of 2xx */
export async function ask(line: Line, endpoint: Endpoint, call: Call): Promise<WholeAnswer> {
  const answer = await line.exchange(call);
  if (answer.status >= 200 && answer.status < 300) return answer;
  const { name } = endpoint;
  throw new Error(`${name}: ${call.method} ${call.path}: ${answer.status} ${answer.body.slice(0, 500)}`);
}

/** Stores all of it under its ids: by transactions, or one by one where the server knows none. */
export async function load(endpoint: Endpoint, resources: readonly Loaded[]): Promise<void> {
  const line = new Line(endpoint.origin);
  try {
    for (let from = 0; from < resources.length; from += bundleMax) {
      const portion = resources.slice(from, from + bundleMax);
      const { status } = await line.exchange(endpoint.call('POST', '', buildTransaction(portion)));
      if (status >= 200 && status < 300) continue;
      for (const resource of portion) {
        const { resourceType, id } = resource;
        await ask(line, endpoint, endpoint.call('PUT', `${resourceType}/${id}`, resource));
      }
    }
  } finally {
    line.close();
  }
}

function buildTransaction(resources: readonly Loaded[]): object {
  const entry = resources.map((resource) => {
    const url = `${resource.resourceType}/${resource.id}`;
    return { resource, request: { method: 'PUT', url } };
  });
  return { resourceType: 'Bundle', type: 'transaction', entry };
}

function readHeaderLine(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  if (colon < 1) throw new RangeError(`--header takes "name: value", not "${line}"`);
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
}
