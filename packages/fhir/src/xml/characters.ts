/**
 * Characters and references of XML 1.0, for the XML format and for the xhtml of narratives.
 *
 * https://www.w3.org/TR/xml/#charsets · https://www.w3.org/TR/xml/#sec-references
 */

/** Finds what is no character of XML, surrogates aside. */
export const notXmlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/** Whether a code point is a character of XML. */
function isXmlCharacter(point: number): boolean {
  if (point < 0x20) return point === 0x9 || point === 0xa || point === 0xd;
  return point < 0xd800 || (point > 0xdfff && point < 0xfffe) || (point > 0xffff && point <= 0x10ffff);
}

/** A reference, or an "&" that begins none. */
const reference = /&(?:(amp|lt|gt|quot|apos);|#(?:0*(\d{1,7})|x0*([0-9A-Fa-f]{1,6}));)?/g;

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * What is wrong with the first broken reference of a text; undefined if none is. Only the five entities of XML itself
 * are known: &nbsp; and the other names of HTML are not, and none can be declared. `offset` is that of its "&".
 */
export function findReferenceProblem(text: string): { readonly offset: number; readonly text: string } | undefined {
  for (let offset = text.indexOf('&'); offset >= 0; offset = text.indexOf('&', offset + 1)) {
    // Narratives have thousands of these, and an expression takes several times as long.
    if (commonReferences.some((common) => text.startsWith(common, offset))) continue;
    reference.lastIndex = offset;
    const [whole = '&', name, decimal, hexadecimal] = reference.exec(text) ?? [];
    if (name !== undefined) continue;
    if (whole === '&') return { offset, text: '"&" must begin &amp; &lt; &gt; &quot; &apos; or a character number' };
    if (!isXmlCharacter(pointOf(decimal, hexadecimal))) return { offset, text: `${whole} is no character of XML` };
  }
  return undefined;
}

const commonReferences = ['&amp;', '&lt;', '&gt;'] as const;

/** A text whose references are known to be right, with the characters in their place. */
export function withoutReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(reference, (_, name?: string, decimal?: string, hexadecimal?: string) =>
    name === undefined ? String.fromCodePoint(pointOf(decimal, hexadecimal)) : (characters[name] ?? ''),
  );
}

function pointOf(decimal: string | undefined, hexadecimal: string | undefined): number {
  return decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
}

const special = /[&<"\t\n\r\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/**
 * The text as it stands between double quotes. What is no character of XML becomes U+FFFD; white space other than single
 * spaces would be read as spaces: https://www.w3.org/TR/xml/#AVNormalize
 */
export function escapeAttribute(text: string): string {
  if (!special.test(text)) return text;
  // One character after another, by a text: a function that is asked about each takes several times as long.
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/"/g, '&quot;')
    .replace(/\t/g, '&#9;')
    .replace(/\n/g, '&#10;')
    .replace(/\r/g, '&#13;')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');
}
