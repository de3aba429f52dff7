/**
 * Version preconditions (https://hl7.org/fhir/R4/http.html#concurrency, RFC 9110 §13.1).
 */
import { fail } from '../base/errors.ts';

/** The ETag of a version, e.g. `W/"3"`. */
export function formatEtag(versionId: number): string {
  return `W/"${versionId}"`;
}

/**
 * The version numbers that an If-Match or If-None-Match header lists; `'*'` for any; undefined when there is no header.
 * Well-formed tags that no version has (`"abc"`) are left out, so they match nothing (RFC 9110 §8.8.3). Existing clients send
 * the number bare, too.
 * @throws PraxisError `header-invalid`
 */
export function parseEntityTags(header: string | undefined, name: string): readonly number[] | '*' | undefined {
  if (header === undefined) return undefined;
  if (header.trim() === '*') return '*';
  if (!listPattern.test(header))
    return fail('header-invalid', {
      diagnostics: `${name} must hold entity tags in double quotes such as W/"3"`,
      expression: [name],
    });
  const tags = [...header.matchAll(tagPattern)].map(([, quoted, bare]) => quoted ?? bare ?? '');
  return tags.filter((tag) => versionPattern.test(tag)).map(Number);
}

/** An entity tag (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3), or a bare number. */
const tagPattern = /(?:W\/)?"([!#-~\x80-\xff]*)"|(\d+)/g;

/** Tags separated by commas, which may stand within a tag, too; empty members are ignored (RFC 9110 §5.6.1.2). */
const listPattern = new RegExp(
  `^[ \\t,]*(?:${tagPattern.source})(?:[ \\t]*,[ \\t]*(?:${tagPattern.source})?)*[ \\t]*$`,
);

/** How a version is written in its tag. */
const versionPattern = /^[1-9]\d{0,8}$/;

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
        : `If-Match does not name the current version, which is ${formatEtag(currentVersion)}: read it again and repeat the change`,
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
