/**
 * How a word of a Latin script sounds, by American Soundex: the first letter and three digits for the consonants that
 * follow. https://www.archives.gov/research/census/soundex
 */

const digits: Readonly<Record<string, string>> = {
  b: '1',
  f: '1',
  p: '1',
  v: '1',
  c: '2',
  g: '2',
  j: '2',
  k: '2',
  q: '2',
  s: '2',
  x: '2',
  z: '2',
  d: '3',
  t: '3',
  l: '4',
  m: '5',
  n: '5',
  r: '6',
};

const codeLength = 4;
const latinWord = /^[a-z]+$/;

/** The code of a folded word; the word itself where it has other characters than Latin letters. */
export function encodeSoundex(word: string): string {
  if (!latinWord.test(word)) return word;
  let code = word.charAt(0);
  let last = digits[code];
  for (const letter of word.slice(1)) {
    const digit = digits[letter];
    if (digit !== undefined && digit !== last) code += digit;
    // h and w do not part two consonants of the same sound; vowels do.
    if (letter !== 'h' && letter !== 'w') last = digit;
    if (code.length === codeLength) return code;
  }
  return code.padEnd(codeLength, '0');
}
