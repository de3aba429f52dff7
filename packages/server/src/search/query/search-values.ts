/**
 * Separators and escapes inside a search value: https://hl7.org/fhir/R4/search.html#escaping. A backslash makes `,`,
 * `|`, `$` and itself literal and may precede nothing else.
 */
import { fail } from '../../base/errors.ts';

const escapable: ReadonlySet<string> = new Set([',', '|', '$', '\\']);

/** The parts of `text` between unescaped separators; escapes stay in the parts. */
export function splitUnescaped(text: string, separator: ',' | '|' | '$'): string[] {
  if (!text.includes('\\')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

/**
 * The literal text, without escapes.
 * @throws PraxisError `search-invalid` for a backslash before anything but `,`, `|`, `$` and `\`
 */
export function unescapeValue(text: string, name: string): string {
  return text.replace(/\\(.?)/gs, (_escape, character: string) => {
    if (escapable.has(character)) return character;
    return refuseValue(
      name,
      'has a backslash that escapes nothing: write \\\\ for a backslash, and \\, \\| \\$ for these separators as text',
    );
  });
}

/** Characters of a name of the caller's that a refusal repeats. */
const shownCharactersMax = 40;

/** A name as the caller wrote it, of an element, a type or a sort key: those may be repeated, values may not. */
export function quoteName(word: string): string {
  const characters = [...word];
  const shown = characters.length > shownCharactersMax ? [...characters.slice(0, shownCharactersMax), '…'] : characters;
  return `"${shown.join('')}"`;
}

/** Refuses a value: `name` and then what is wrong and what would be right. Values themselves are never repeated. */
export function refuseValue(name: string, problem: string): never {
  return fail('search-invalid', { diagnostics: `${name} ${problem}`, expression: [name] });
}
