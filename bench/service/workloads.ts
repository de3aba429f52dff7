/**
 * What is measured, and which floor each is held against.
 */
import type { Call, Workload } from './load.ts';
import { firmPrefix, type Prepared, patientId } from './prepare.ts';

export interface Pair {
  readonly workload: Workload;
  /** Name of the floor's workload. */
  readonly floor: string;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const tokenPath = '/auth/realms/sandbox/protocol/openid-connect/token';
const root = `/sandbox/firm/${firmPrefix}/pm`;

export const floors = {
  token: 'bare HTTP: form + RS256',
  select: 'Fastify: one SELECT',
  insert: 'Fastify: durable two-row insert',
} as const;

/** The plain handlers of `floor.ts`. */
export function floorWorkloads(prepared: Prepared): readonly Workload[] {
  return [
    {
      name: floors.token,
      status: 200,
      call: () => ({ method: 'POST', path: '/token', headers: form, body: clientForm(prepared) }),
    },
    { name: floors.select, status: 200, call: () => ({ method: 'GET', path: `/select/${patientId(1)}`, headers: {} }) },
    {
      name: floors.insert,
      status: 201,
      call: () => ({
        method: 'POST',
        path: '/insert',
        headers: { 'content-type': 'application/json' },
        body: prepared.body,
      }),
    },
  ];
}

/** The product's workloads, with tokens that were requested just now. */
export async function productWorkloads(origin: string, prepared: Prepared): Promise<readonly Pair[]> {
  const { client, legacy } = prepared;
  const clientHeaders = { ...form, 'x-api-key': client.apiKey };
  const legacyHeaders = { ...form, 'x-api-key': legacy.apiKey };
  const token = await request(origin + tokenPath, clientHeaders, clientForm(prepared), 'access_token');
  const passwordForm = new URLSearchParams({
    grant_type: 'password',
    username: legacy.username,
    password: legacy.password,
  }).toString();
  const refresh = await request(`${origin}${root}/ws/oauth2/grant`, legacyHeaders, passwordForm, 'refresh_token');
  const refreshForm = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refresh }).toString();
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': client.apiKey };
  const json = { ...headers, 'content-type': 'application/fhir+json' };
  const someone = (index: number): string => patientId(index % prepared.patients);
  const get = (name: string, path: (index: number) => string): Pair => ({
    floor: floors.select,
    workload: {
      name,
      status: 200,
      call: (index): Call => ({ method: 'GET', path: `${root}/fhir/v2/${path(index)}`, headers }),
    },
  });
  return [
    {
      floor: floors.token,
      workload: {
        name: 'token issue',
        status: 200,
        call: () => ({ method: 'POST', path: tokenPath, headers: clientHeaders, body: clientForm(prepared) }),
      },
    },
    {
      floor: floors.token,
      workload: {
        name: 'token refresh',
        status: 200,
        call: () => ({ method: 'POST', path: `${root}/ws/oauth2/grant`, headers: legacyHeaders, body: refreshForm }),
      },
    },
    get('read', (index) => `Patient/${someone(index)}`),
    {
      floor: floors.insert,
      workload: {
        name: 'create',
        status: 201,
        call: () => ({ method: 'POST', path: `${root}/fhir/v2/Patient`, headers: json, body: prepared.body }),
      },
    },
    {
      floor: floors.insert,
      workload: {
        name: 'update',
        status: 200,
        call: (index) => ({
          method: 'PUT',
          path: `${root}/fhir/v2/Patient/${someone(index)}`,
          headers: json,
          body: updated(prepared.body, someone(index), index),
        }),
      },
    },
    get(
      'search by identifier',
      (index) => `Patient?identifier=MM${String((index % prepared.patients) + 1).padStart(10, '0')}`,
    ),
    get('search by family name', (index) => `Patient?family=${'ABCDEFGHKLMRSTW'.charAt(index % 15)}&_count=10`),
    get('search by patient', (index) => `Condition?patient=${someone(index)}`),
    get(
      'search of a day',
      (index) => `Appointment?date=${dayBefore(index % 300)}&practitioner=${100 + (index % 4)}&_sort=date`,
    ),
    get(
      'search since',
      (index) => `Encounter?_lastUpdated=ge2026-01-01&status=finished&_count=10&page=${(index % 5) + 1}`,
    ),
    get('everything of a patient', (index) => `Patient/${someone(index)}/$everything`),
  ];
}

function clientForm({ client }: Prepared): string {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: client.clientId,
    client_secret: client.clientSecret,
  }).toString();
}

function updated(body: string, id: string, index: number): string {
  return body
    .replace('"resourceType":"Patient"', `"resourceType":"Patient","id":"${id}"`)
    .replace('Benchmark', `Benchmark${index % 50}`);
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

async function request(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  field: string,
): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const answer: unknown = await response.json();
  if (typeof answer === 'object' && answer !== null && field in answer) return String(Reflect.get(answer, field));
  throw new Error(`${url}: ${response.status}`);
}
