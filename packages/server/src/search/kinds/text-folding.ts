/**
 * How text is made comparable: https://hl7.org/fhir/R4/search.html#string (insensitive to case and combining
 * characters; punctuation and repeated white space ignored).
 */

const plainAscii = /^[\x20-\x7e\t\n\r]*$/;

/** Combining marks that add to a letter. Vowel signs of Indic and Thai scripts are letters in effect, and stay. */
const combiningMarks = /[[\p{M}&&\p{Script=Inherited}]\u0591-\u05c7]/gv;

/** Letters that Unicode gives no decomposition, though users take them for a letter with a stroke or a ligature. */
const strokedLetters: Readonly<Record<string, string>> = {
  ø: 'o',
  đ: 'd',
  ħ: 'h',
  ł: 'l',
  ŧ: 't',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ς: 'σ',
};
const stroked = /[øđħłŧðþæœς]/g;

/** Apostrophes stand inside a word (O'Brien); other punctuation stands between words. */
const apostrophes = /['’‘ʼ`´]/g;
const betweenWords = /[\p{P}\s\p{Z}]+/gu;

/** Longer texts are folded in pieces of about so many characters: their intermediate forms stay in the processor's cache. */
const pieceLength = 8_192;

/**
 * The folded form of a text: equal for texts that a default string search must not tell apart. Words are separated by
 * one space; empty when the text holds nothing but punctuation and space.
 */
export function foldText(text: string): string {
  if (text.length <= pieceLength) return foldPiece(text);
  const folding = foldInParts(text);
  let folded = folding.next();
  while (folded.done !== true) folded = folding.next();
  return folded.value;
}

/** Returns what `foldText` does; yields how many characters it has folded, after each piece. */
export function* foldInParts(text: string): Generator<number, string> {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    // A space is between words whatever stands beside it, so what is before it and what is after it are folded alone.
    const space = text.indexOf(' ', from + pieceLength);
    const end = space < 0 ? text.length : space;
    const piece = foldPiece(text.slice(from, end));
    if (piece !== '') pieces.push(piece);
    yield end - from;
    from = end;
  }
  return pieces.join(' ');
}

function foldPiece(text: string): string {
  if (plainAscii.test(text)) {
    return text
      .toLowerCase()
      .replace(/['`]/g, '')
      .replace(/[^a-z0-9$+<=>^|~]+/g, ' ')
      .trim();
  }
  return foldCase(text.replace(apostrophes, '').normalize('NFKD').replace(combiningMarks, ''))
    .replace(stroked, (letter) => strokedLetters[letter] ?? letter)
    .normalize('NFC')
    .replace(apostrophes, '')
    .replace(betweenWords, ' ')
    .trim();
}

/** Text without its case: upper case first, so that ß equals SS. */
export function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}
