/** Batches and transactions as applications send them. */

export const mrn = 'urn:example:mrn';

/** A patient with an identifier to search by. */
export function identified(value: string, family = 'Stone'): Record<string, unknown> {
  return { resourceType: 'Patient', identifier: [{ system: mrn, value }], name: [{ family }] };
}

export function bundle(type: string, entries: readonly object[]): Record<string, unknown> {
  return { resourceType: 'Bundle', type, ...(entries.length === 0 ? {} : { entry: entries }) };
}

export const transaction = (...entries: readonly object[]): Record<string, unknown> => bundle('transaction', entries);
export const batch = (...entries: readonly object[]): Record<string, unknown> => bundle('batch', entries);

/** @param more of the request, such as ifMatch */
export function entry(
  method: string,
  url: string,
  resource?: object,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return { ...(resource === undefined ? {} : { resource }), request: { method, url, ...more } };
}

/** A create; other entries refer to it by `fullUrl`. */
export function post(resource: Readonly<Record<string, unknown>>, fullUrl?: string): Record<string, unknown> {
  return {
    ...(fullUrl === undefined ? {} : { fullUrl }),
    ...entry('POST', String(resource['resourceType']), resource),
  };
}

export function conditionalPost(
  resource: Readonly<Record<string, unknown>>,
  ifNoneExist: string,
  fullUrl?: string,
): Record<string, unknown> {
  const type = String(resource['resourceType']);
  return { ...(fullUrl === undefined ? {} : { fullUrl }), ...entry('POST', type, resource, { ifNoneExist }) };
}

/** `urn:uuid:` URLs that differ by number. */
export function urn(number: number): string {
  return `urn:uuid:00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}
