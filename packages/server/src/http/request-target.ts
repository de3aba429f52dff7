/**
 * The request target, which existing clients do not always encode.
 */

/**
 * The request target as text. Node hands over raw bytes above 0x7F as Latin-1; when they form UTF-8 they are read as such.
 */
export function decodeTarget(target: string): string {
  if (/^[\x00-\x7f]*$/.test(target)) return target;
  const bytes = Buffer.from(target, 'latin1');
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? target : text;
}
