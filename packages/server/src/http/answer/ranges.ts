/** Conditional and range requests for bytes that have an entity tag (https://www.rfc-editor.org/rfc/rfc9110#section-14). */
import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../../base/errors.ts';
import type { ByteRange } from '../../content/content-store.ts';

/** Whether the caller has what the tag names: If-None-Match, by the weak comparison. */
export function hasKnownTag({ 'if-none-match': header }: IncomingHttpHeaders, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}

/**
 * The one range that is asked for; undefined: all, as for several ranges, units other than bytes, and what is malformed, and
 * where If-Range names other bytes.
 * @param etag a strong one
 * @throws PraxisError `range-invalid`
 */
export function findRange(headers: IncomingHttpHeaders, etag: string, size: number): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return undefined;
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && ifRange !== etag) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && first !== '' && Number(last) < start) return undefined;
  if (start < size) return { start, end };
  return fail('range-invalid', {
    diagnostics: `The content has ${size} bytes, counted from 0: ask for a range within them`,
    headers: { 'content-range': `bytes */${size}` },
  });
}
