/**
 * The header Content-flag, by which existing clients ask for further parts of an answer. Values that are not known are
 * ignored, as unknown headers are.
 */
import { type ContentFlag, contentFlags } from '../../engine/context.ts';

/** The known values of a comma-separated header, each once. */
export function parseContentFlags(header: string | undefined): ReadonlySet<ContentFlag> {
  const given = new Set(header?.split(',').map((value) => value.trim()));
  return new Set(contentFlags.filter((flag) => given.has(flag)));
}
