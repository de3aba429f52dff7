/**
 * Media types of requests and answers (https://hl7.org/fhir/R4/http.html#mime-type, RFC 9110 §12.5.1).
 * The server speaks FHIR JSON; `_format` overrides Accept; a GET's Content-Type is ignored, as existing clients send any.
 */
import { fail } from '../base/errors.ts';

export const fhirJson = 'application/fhir+json; charset=utf-8';

/** Names that ask for JSON in `_format` and media types that JSON satisfies in Accept. */
const jsonFormats: ReadonlySet<string> = new Set([
  'json',
  'application/json',
  'application/fhir+json',
  'application/json+fhir',
  'text/json',
]);
/** Ranges that JSON satisfies, the most specific first. */
const jsonRanges: readonly ReadonlySet<string>[] = [jsonFormats, new Set(['application/*']), new Set(['*/*', '*'])];
const bodyTypes: ReadonlySet<string> = new Set(['application/json', 'application/fhir+json', 'application/json+fhir']);
const formType = 'application/x-www-form-urlencoded';

/** The essence of a media type header: lower case, without parameters. */
function mediaType(header: string | undefined): string {
  const text = header ?? '';
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim().toLowerCase();
}

/**
 * Checks that the answer may be FHIR JSON.
 * @param query query string, whose other parameters may be broken: that is told later
 * @throws PraxisError `not-acceptable` naming what is served.
 */
export function requireJsonAcceptable(accept: string | undefined, query: string): void {
  const format = query.includes('_format') ? new URLSearchParams(query).getAll('_format').at(-1) : undefined;
  if (format !== undefined && format !== '') {
    // An unencoded + arrives as a space.
    if (jsonFormats.has(mediaType(format).replace('fhir json', 'fhir+json'))) return;
    fail('not-acceptable', {
      diagnostics: '_format asks for a media type that is not served; application/fhir+json is',
      expression: ['_format'],
    });
  }
  if (accept === undefined || accept.trim() === '' || accept === '*/*') return;
  if (acceptsJson(accept)) return;
  fail('not-acceptable', { diagnostics: 'Accept allows no media type that is served; application/fhir+json is' });
}

/** The most specific ranges decide, so JSON with `q=0` is refused though any type is taken (RFC 9110 §12.5.1). */
function acceptsJson(accept: string): boolean {
  const ranges = accept.split(',').filter((range) => isServedVersion(range));
  for (const names of jsonRanges) {
    const matching = ranges.filter((range) => names.has(mediaType(range)));
    if (matching.length > 0) return matching.some((range) => qualityOf(range) > 0);
  }
  return false;
}

function qualityOf(range: string): number {
  return Number(/;\s*q=([0-9.]+)/i.exec(range)?.[1] ?? 1);
}

/** https://hl7.org/fhir/R4/versioning.html#mt-version: the FHIR version that a media type may name. */
function isServedVersion(type: string): boolean {
  const version = /;\s*fhirVersion\s*=\s*"?([^";\s]*)/i.exec(type)?.[1];
  return version === undefined || /^4\.0(?:\.\d+)?$/.test(version);
}

/**
 * Checks the Content-Type of a resource body.
 * @throws PraxisError `media-type-unsupported`
 */
export function requireJsonBody(contentType: string | undefined): void {
  const type = mediaType(contentType);
  if (!bodyTypes.has(type)) {
    fail('media-type-unsupported', {
      diagnostics: `Content-Type must be application/fhir+json (or application/json), ${type === '' ? 'none was sent' : 'not what was sent'}`,
    });
  }
  if (!isServedVersion(contentType ?? ''))
    fail('media-type-unsupported', { diagnostics: 'Content-Type must not name a fhirVersion other than 4.0' });
  requireUtf8(contentType);
}

/**
 * Checks the Content-Type of a search form.
 * @throws PraxisError `media-type-unsupported`
 */
export function requireFormBody(contentType: string | undefined): void {
  if (mediaType(contentType) !== formType)
    fail('media-type-unsupported', { diagnostics: `Content-Type of POST _search must be ${formType}` });
  requireUtf8(contentType);
}

function requireUtf8(contentType: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    fail('media-type-unsupported', { diagnostics: 'Content-Type must not name a charset other than UTF-8' });
  }
}

const jsonPatchType = 'application/json-patch+json';

/**
 * The kind of patch that a PATCH body is, by its Content-Type (https://hl7.org/fhir/R4/http.html#patch).
 * @throws PraxisError `media-type-unsupported`
 */
export function requirePatchBody(contentType: string | undefined): 'json-patch' | 'fhirpath-patch' {
  const type = mediaType(contentType);
  if (type === jsonPatchType) return 'json-patch';
  if (fhirBodyTypes.has(type)) return 'fhirpath-patch';
  return fail('media-type-unsupported', {
    diagnostics: `Content-Type of PATCH must be ${jsonPatchType} (JSON Patch) or application/fhir+json (FHIRPath Patch in Parameters)`,
  });
}

/** `application/json` alone does not tell a JSON Patch from a Parameters resource. */
const fhirBodyTypes: ReadonlySet<string> = new Set(['application/fhir+json', 'application/json+fhir']);
