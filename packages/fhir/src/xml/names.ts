/**
 * Names of XML: https://www.w3.org/TR/xml/#NT-Name
 */

const start =
  ':A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}-\\u{200D}' +
  '\\u{2070}-\\u{218F}\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}';
const anyName = new RegExp(`[${start}][${start}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}-\\u{2040}]*`, 'uy');

/** Whether an ASCII character may stand in a name: 1 anywhere, 2 not at its beginning. */
const asciiName = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[:A-Z_a-z]/.test(character)) return 1;
  return /[-.0-9]/.test(character) ? 2 : 0;
});

/** The length of the name at an offset, colons included; 0 if there is none. */
export function measureName(text: string, offset: number): number {
  let at = offset;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) {
      anyName.lastIndex = offset;
      return anyName.exec(text)?.[0].length ?? 0;
    }
    const kind = asciiName[code];
    if (kind === 0 || (kind === 2 && at === offset)) break;
  }
  return at - offset;
}
