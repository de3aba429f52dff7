/** Links in answers: only those of the practice that was connected are followed, since each request carries credentials. */
import { InvalidError, makeCause } from './errors.ts';
import type { Bundle } from './generated/resources.ts';

/** The URL of a link of a Bundle; undefined where it has none of that name. */
export function findLink({ link = [] }: Bundle, relation: string): string | undefined {
  return link.find((each) => each.relation === relation)?.url;
}

/** The URL as it is sent: without dot segments, name and fragment. Undefined for what is none. */
export function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/**
 * The URL, which has to be below `base`.
 * @throws InvalidError `foreign-link`
 */
export function requireOwn(base: string, url: string): string {
  const { origin = '', pathname = '', search = '' } = parseUrl(url) ?? {};
  if (`${origin}${pathname}`.startsWith(`${base}/`)) return `${origin}${pathname}${search}`;
  const cause = makeCause('foreign-link', `The service links to ${url.split('?')[0]}, which is not below ${base}`);
  throw new InvalidError({ method: 'GET', path: '', ...cause });
}

/** The id and the version in a Location: https://hl7.org/fhir/R4/http.html#create */
export function readLocation(location: string | null | undefined): {
  readonly id: string | undefined;
  readonly versionId: string | undefined;
} {
  const [, id, versionId] = /\/([^/]+)(?:\/_history\/([^/]+))?$/.exec(location ?? '') ?? [];
  return { id, versionId };
}
