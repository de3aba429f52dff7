/**
 * Media types of request bodies (https://hl7.org/fhir/R4/http.html#mime-type). Those of answers: `answer-format.ts`.
 */
import { fail } from '../base/errors.ts';
import type { FormatKind } from './answer-format.ts';
import { charsetOf, isServedVersion, mediaTypeOf } from './media-types.ts';

/** Media types of resources; `application/*+fhir` are those of earlier versions of FHIR. */
const resourceTypes: ReadonlyMap<string, FormatKind> = new Map([
  ['application/fhir+json', 'json'],
  ['application/json', 'json'],
  ['application/json+fhir', 'json'],
  ['application/fhir+xml', 'xml'],
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['application/xml+fhir', 'xml'],
]);

/** `application/json` alone does not tell a JSON Patch from a Parameters resource. */
const genericTypes: ReadonlySet<string> = new Set(['application/json', 'application/xml', 'text/xml']);
const formType = 'application/x-www-form-urlencoded';
const jsonPatchType = 'application/json-patch+json';

/** The format of a resource body, and whether its media type says that it is FHIR's; undefined for other types. */
export function resourceFormat(contentType: string | undefined): { kind: FormatKind; isFhir: boolean } | undefined {
  const type = mediaTypeOf(contentType);
  const kind = resourceTypes.get(type);
  return kind && { kind, isFhir: !genericTypes.has(type) };
}

/**
 * The format of a resource body.
 * @throws PraxisError `media-type-unsupported`
 */
export function requireResourceFormat(contentType: string | undefined): FormatKind {
  const format = resourceFormat(contentType);
  if (format === undefined) {
    const sent = mediaTypeOf(contentType) === '' ? 'none was sent' : 'not what was sent';
    fail('media-type-unsupported', {
      diagnostics: `Content-Type must be application/fhir+json (or application/json) or application/fhir+xml (or application/xml), ${sent}`,
    });
  }
  requireServedVersion(contentType);
  requireUtf8(contentType);
  return format.kind;
}

/**
 * Checks the Content-Type of a search form.
 * @throws PraxisError `media-type-unsupported`
 */
export function requireFormBody(contentType: string | undefined): void {
  if (mediaTypeOf(contentType) !== formType)
    fail('media-type-unsupported', { diagnostics: `Content-Type of POST _search must be ${formType}` });
  requireUtf8(contentType);
}

/** What a PATCH body is. */
export interface PatchFormat {
  readonly kind: 'json-patch' | 'fhirpath-patch';
  readonly format: FormatKind;
}

/**
 * The kind of patch that a PATCH body is, by its Content-Type (https://hl7.org/fhir/R4/http.html#patch).
 * @throws PraxisError `media-type-unsupported`
 */
export function requirePatchFormat(contentType: string | undefined): PatchFormat {
  if (mediaTypeOf(contentType) === jsonPatchType) return { kind: 'json-patch', format: 'json' };
  const format = resourceFormat(contentType);
  if (format?.isFhir) return { kind: 'fhirpath-patch', format: format.kind };
  return fail('media-type-unsupported', {
    diagnostics: `Content-Type of PATCH must be ${jsonPatchType} (JSON Patch) or application/fhir+json or application/fhir+xml (FHIRPath Patch in Parameters)`,
  });
}

function requireServedVersion(contentType: string | undefined): void {
  if (!isServedVersion(contentType ?? ''))
    fail('media-type-unsupported', { diagnostics: 'Content-Type must not name a fhirVersion other than 4.0' });
}

function requireUtf8(contentType: string | undefined): void {
  const charset = charsetOf(contentType);
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    fail('media-type-unsupported', { diagnostics: 'Content-Type must not name a charset other than UTF-8' });
  }
}
