/**
 * Version preconditions (https://hl7.org/fhir/R4/http.html#concurrency, RFC 9110 §13.1).
 */
import { fail } from '../base/errors.ts';

/** The ETag of a version, e.g. `W/"3"`. */
export function etagOf(versionId: number): string {
  return `W/"${versionId}"`;
}

/**
 * The version numbers an If-Match or If-None-Match header lists; `'*'` for any; undefined when there is no header.
 * Existing clients send the number bare, too.
 * @throws PraxisError `header-invalid`
 */
export function parseEntityTags(header: string | undefined, name: string): readonly number[] | '*' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  return header.split(',').map((tag) => {
    const version = /^\s*(?:W\/)?"(\d{1,9})"\s*$/.exec(tag)?.[1] ?? /^\s*(\d{1,9})\s*$/.exec(tag)?.[1];
    return version === undefined
      ? fail('header-invalid', {
          diagnostics: `${name} must hold an ETag of this server such as W/"3"`,
          expression: [name],
        })
      : Number(version);
  });
}

/**
 * Checks If-Match against the current version (undefined: there is none).
 * @throws PraxisError `precondition-failed`, which names the current version only to those who may read the resource.
 */
export function requireMatch(header: string | undefined, currentVersion: number | undefined): void {
  const wanted = parseEntityTags(header, 'If-Match');
  if (wanted === undefined) return;
  if (currentVersion !== undefined && (wanted === '*' || wanted.includes(currentVersion))) return;
  fail('precondition-failed', {
    diagnostics:
      currentVersion === undefined
        ? 'If-Match names a version, but there is no current one'
        : `If-Match does not name the current version, which is ${etagOf(currentVersion)}: read it again and repeat the change`,
    expression: ['If-Match'],
  });
}

/**
 * Checks If-None-Match of a write against the current version (RFC 9110 §13.1.2): `*` means "only if there is none".
 * @throws PraxisError `precondition-failed`
 */
export function requireNoneMatch(header: string | undefined, currentVersion: number | undefined): void {
  const unwanted = parseEntityTags(header, 'If-None-Match');
  if (unwanted === undefined || currentVersion === undefined) return;
  if (unwanted !== '*' && !unwanted.includes(currentVersion)) return;
  fail('precondition-failed', {
    diagnostics: `If-None-Match forbids the change: there is ${unwanted === '*' ? 'a' : 'the named'} current version`,
    expression: ['If-None-Match'],
  });
}
