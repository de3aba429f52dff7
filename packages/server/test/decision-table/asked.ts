/**
 * What is asked at a place: every interaction on some types, as it goes over the wire, with the answer when it is allowed.
 */
import type { WireRequest } from '../support/wire.ts';

/** A resource that the tests store everywhere under the same id; as it is sent. */
export function resourceOf(type: string, id: string, secret: string): Readonly<Record<string, unknown>> {
  return { resourceType: type, id, ...contents[type]?.(secret) };
}

const contents: Readonly<Record<string, (secret: string) => Readonly<Record<string, unknown>>>> = {
  Patient: (secret) => ({ name: [{ family: secret }] }),
  Appointment: (secret) => ({
    status: 'proposed',
    description: secret,
    participant: [{ actor: { display: 'Stone' }, status: 'accepted' }],
  }),
  Observation: (secret) => ({ status: 'final', code: { text: secret } }),
};

/** Types that exist, and one that does not. */
export const types = ['Patient', 'Appointment', 'Observation', 'Patience'] as const;
export const storedId = 'one';

export interface Interaction {
  readonly name: string;
  readonly method: string;
  /** Path below the FHIR base. */
  readonly path: (type: string) => string;
  readonly contentType?: string;
  readonly body?: (type: string) => string;
  /** Status when it is allowed. */
  readonly success: number;
  readonly writes: boolean;
}

const fhirJson = 'application/fhir+json';

export const interactions: readonly Interaction[] = [
  { name: 'read', method: 'GET', path: (type) => `${type}/${storedId}`, success: 200, writes: false },
  { name: 'vread', method: 'GET', path: (type) => `${type}/${storedId}/_history/1`, success: 200, writes: false },
  { name: 'search GET', method: 'GET', path: (type) => `${type}?_id=${storedId}`, success: 200, writes: false },
  {
    name: 'search POST',
    method: 'POST',
    path: (type) => `${type}/_search`,
    contentType: 'application/x-www-form-urlencoded',
    body: () => `_id=${storedId}`,
    success: 200,
    writes: false,
  },
  {
    name: 'create',
    method: 'POST',
    path: (type) => type,
    contentType: fhirJson,
    body: (type) => JSON.stringify(resourceOf(type, 'ignored', 'written')),
    success: 201,
    writes: true,
  },
  {
    name: 'update',
    method: 'PUT',
    path: (type) => `${type}/${storedId}`,
    contentType: fhirJson,
    body: (type) => JSON.stringify(resourceOf(type, storedId, 'written')),
    success: 200,
    writes: true,
  },
  {
    name: 'patch',
    method: 'PATCH',
    path: (type) => `${type}/${storedId}`,
    contentType: 'application/json-patch+json',
    body: () => JSON.stringify([{ op: 'add', path: '/language', value: 'en' }]),
    success: 200,
    writes: true,
  },
  { name: 'delete', method: 'DELETE', path: (type) => `${type}/gone`, success: 204, writes: false },
  { name: 'history', method: 'GET', path: (type) => `${type}/${storedId}/_history`, success: 200, writes: false },
];

/** The request; `base` is the path of the FHIR base, `query` is added to that of the interaction. */
export function requestOf(
  interaction: Interaction,
  type: string,
  base: string,
  headers: NonNullable<WireRequest['headers']>,
  query = '',
): WireRequest {
  const { method, contentType, body } = interaction;
  const path = interaction.path(type);
  const separator = path.includes('?') ? '&' : '?';
  return {
    method,
    path: `${base}/${path}${query === '' ? '' : separator + query}`,
    headers: { ...headers, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
    ...(body === undefined ? {} : { body: body(type) }),
  };
}
