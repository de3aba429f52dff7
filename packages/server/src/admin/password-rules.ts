/**
 * What a password that a person chooses must be: long, and not what guessers try first
 * (https://pages.nist.gov/800-63-4/sp800-63b.html#passwordver: at least 15 characters where nothing else is asked, compared
 * with what is commonly used; no rules about kinds of characters, no end by time).
 */
import { guessedWords } from './guessed-words.ts';
import { refuseField } from './input.ts';

/** Unicode characters of a password. */
export const passwordLengthMin = 15;
export const passwordLengthMax = 128;

/** Characters that must be left when everything is taken out that guessers put together first. */
const ownCharactersMin = 8;

/** Longest part whose repetition counts once. */
const repeatedPartMax = 8;

/** Shortest run along the alphabet, the digits or a row of keys that counts as nothing. */
const runMin = 4;

const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  '1qaz2wsx3edc4rfv5tgb',
];

/**
 * The password as it is compared: in normal form C, so that the same characters typed on another machine are the same.
 * @throws PraxisError `rule-broken` naming `field` and the rule; the password is in no message
 */
export function requirePassword(field: string, password: string, username: string): string {
  const normal = normalizePassword(password);
  const length = [...normal].length;
  if (length < passwordLengthMin || length > passwordLengthMax)
    refuseField(field, `${field} must have ${passwordLengthMin} to ${passwordLengthMax} characters`);
  if (countOwnCharacters(normal, username) < ownCharactersMin)
    refuseField(
      field,
      `${field} is among those that are guessed first: beside the username, common words, runs such as 1234 and repetitions it must have ${ownCharactersMin} characters`,
    );
  return normal;
}

/** Unicode normal form C. */
export function normalizePassword(password: string): string {
  return password.normalize('NFC');
}

/** How many characters are left of a password without what guessers know. */
function countOwnCharacters(password: string, username: string): number {
  const words = [username, 'praxis', ...guessedWords]
    .filter((word) => word.length >= runMin)
    .sort((left, right) => right.length - left.length);
  let rest = password.toLowerCase();
  for (const word of words) rest = rest.replaceAll(word, ' ');
  return [...withoutRepetitions(withoutRuns(rest)).replaceAll(' ', '')].length;
}

function withoutRuns(text: string): string {
  const characters = [...text];
  let kept = '';
  for (let from = 0; from < characters.length; ) {
    const length = runLength(characters, from);
    kept += length >= runMin ? ' ' : characters[from];
    from += length >= runMin ? length : 1;
  }
  return kept;
}

/** How many characters from `from` on stand beside each other in a row, forward or backward. */
function runLength(characters: readonly string[], from: number): number {
  let longest = 1;
  for (const row of rows) {
    for (const step of [1, -1]) {
      let length = 1;
      let at = row.indexOf(characters[from] ?? ' ');
      while (at >= 0 && characters[from + length] !== undefined && row[at + step] === characters[from + length]) {
        at += step;
        length += 1;
      }
      longest = Math.max(longest, length);
    }
  }
  return longest;
}

/** Each part that follows itself at once, kept once. */
function withoutRepetitions(text: string): string {
  return text.replaceAll(new RegExp(`(.{1,${repeatedPartMax}}?)\\1+`, 'gu'), '$1');
}
