/** Resources that several cases use. */

export function observation(
  subject: string,
  code: string,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code }] },
    subject: { reference: subject },
    ...more,
  };
}

export const tagSystem = 'urn:example:tag';

/** `meta` with a tag, which sets the resources of one case apart from those of the others. */
export function tagged(tag: string): { readonly meta: object } {
  return { meta: { tag: [{ system: tagSystem, code: tag }] } };
}
