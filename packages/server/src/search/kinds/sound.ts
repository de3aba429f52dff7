/**
 * How a word of a Latin script sounds, by American Soundex: the first letter and three digits for the consonants that
 * follow. https://www.archives.gov/research/census/soundex
 */

/** Consonants that sound alike, by their digit. */
const consonants = { '1': 'bfpv', '2': 'cgjkqsxz', '3': 'dt', '4': 'l', '5': 'mn', '6': 'r' };
const digits: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(consonants).flatMap(([digit, letters]) => [...letters].map((letter) => [letter, digit])),
);

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
