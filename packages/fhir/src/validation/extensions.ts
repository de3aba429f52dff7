/**
 * Extensions: an absolute url at the outermost, and a value or nested extensions, not both (ext-1).
 *
 * https://hl7.org/fhir/R4/extensibility.html#Extension
 */
import type { JsonObject } from '../json.ts';
import { type Place, quoteText, type Run, report, stepInto } from './issue.ts';

/** Checks an Extension whose structure is right. */
export function checkExtension(run: Run, value: JsonObject, place: Place): void {
  const nested = value.extension !== undefined;
  const valued = Object.keys(value).some((key) => key.startsWith('value') || key.startsWith('_value'));
  if (nested && valued) report(run, 'extension', place, 'may have a value or extensions, not both (ext-1)');
  if (!nested && !valued) report(run, 'extension', place, 'must have a value or extensions (ext-1)');
  const { url } = value;
  const isInside = place.parent?.name === 'extension' || place.parent?.name === 'modifierExtension';
  if (typeof url !== 'string' || url === '' || isInside || /^[A-Za-z][A-Za-z0-9+.-]*:./.test(url)) return;
  const problem = `${quoteText(url)} must be an absolute URL: only extensions inside extensions have short ones`;
  report(run, 'extension', stepInto(place, 'url'), problem);
}
