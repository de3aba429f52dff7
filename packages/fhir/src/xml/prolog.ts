/**
 * What stands before and after the one element of an XML text.
 *
 * https://www.w3.org/TR/xml/#sec-prolog-dtd · https://hl7.org/fhir/R4/xml.html
 */
import type { JsonLimits } from '../json.ts';
import { findLoneSurrogate, formatCodePoint, shortenName } from '../text-error.ts';
import { notXmlCharacter } from './characters.ts';
import { fail, type Scanner, skipMiscellany } from './scanner.ts';

const declaration =
  /<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"([^"<]*)"|'([^'<]*)')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([A-Za-z][\w.-]*)"|'([A-Za-z][\w.-]*)'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>/y;

/** A scanner at the start tag of the element that the text is. A byte order mark is skipped. */
export function openScanner(text: string, limits: JsonLimits): Scanner {
  const scanner: Scanner = { text, limits, at: text.charCodeAt(0) === 0xfeff ? 1 : 0, place: undefined };
  const wrong = notXmlCharacter.exec(text);
  if (wrong !== null) {
    const point = formatCodePoint(text.charCodeAt(wrong.index));
    fail(scanner, 'syntax', wrong.index, `${point} is no character of XML`);
  }
  if (!text.isWellFormed()) {
    const problem = 'half of a surrogate pair stands alone: the text is not valid Unicode';
    fail(scanner, 'syntax', findLoneSurrogate(text), problem);
  }
  if (/<\?xml[\s?]/y.test(text.slice(scanner.at, scanner.at + 6))) readDeclaration(scanner);
  if (skipMiscellany(scanner) !== 'start-tag') fail(scanner, 'syntax', scanner.at, 'an element is expected: "<"');
  return scanner;
}

function readDeclaration(scanner: Scanner): void {
  declaration.lastIndex = scanner.at;
  const match = declaration.exec(scanner.text);
  if (match === null) fail(scanner, 'syntax', scanner.at, 'the XML declaration is broken');
  const version = match[1] ?? match[2] ?? '';
  if (version !== '1.0')
    fail(scanner, 'syntax', scanner.at, `the version of XML must be 1.0, not ${shortenName(version)}`);
  const encoding = match[3] ?? match[4] ?? 'UTF-8';
  if (!/^utf-8$/i.test(encoding)) {
    fail(scanner, 'encoding', scanner.at, `the encoding must be UTF-8, not ${shortenName(encoding)}`);
  }
  scanner.at = declaration.lastIndex;
}

/** Checks that nothing but white space, comments and processing instructions is left. */
export function requireEnd(scanner: Scanner): void {
  if (skipMiscellany(scanner) !== 'end')
    fail(scanner, 'syntax', scanner.at, 'nothing may follow the one element of the text');
}
