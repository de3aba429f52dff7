/**
 * Media types of content that is taken, and how their files begin (https://www.iana.org/assignments/media-types). What a
 * client calls its file is not believed: existing ones send everything as text/plain.
 */

interface Kind {
  readonly type: string;
  /** Of the file's name when it is downloaded. */
  readonly extension: string;
  /** How its files begin, one of these, each by offset; absent: text of some kind. */
  readonly begins?: readonly Beginning[];
}

type Beginning = readonly (readonly [offset: number, bytes: Buffer])[];

const at = (offset: number, bytes: string, encoding: BufferEncoding = 'hex') =>
  [offset, Buffer.from(bytes, encoding)] as const;
const zip: readonly Beginning[] = [[at(0, '504b0304')]];
const office: readonly Beginning[] = [[at(0, 'd0cf11e0a1b11ae1')]];
const officeXml = 'application/vnd.openxmlformats-officedocument';

const kinds: readonly Kind[] = [
  { type: 'application/pdf', extension: 'pdf', begins: [[at(0, '%PDF-', 'latin1')]] },
  { type: 'image/jpeg', extension: 'jpg', begins: [[at(0, 'ffd8ff')]] },
  { type: 'image/png', extension: 'png', begins: [[at(0, '89504e470d0a1a0a')]] },
  { type: 'image/gif', extension: 'gif', begins: [[at(0, 'GIF8', 'latin1')]] },
  { type: 'image/tiff', extension: 'tiff', begins: [[at(0, '49492a00')], [at(0, '4d4d002a')]] },
  { type: 'image/webp', extension: 'webp', begins: [[at(0, 'RIFF', 'latin1'), at(8, 'WEBP', 'latin1')]] },
  { type: 'application/dicom', extension: 'dcm', begins: [[at(128, 'DICM', 'latin1')]] },
  { type: 'application/rtf', extension: 'rtf', begins: [[at(0, '{\\rtf', 'latin1')]] },
  { type: 'application/zip', extension: 'zip', begins: zip },
  { type: `${officeXml}.wordprocessingml.document`, extension: 'docx', begins: zip },
  { type: `${officeXml}.spreadsheetml.sheet`, extension: 'xlsx', begins: zip },
  { type: 'application/msword', extension: 'doc', begins: office },
  { type: 'application/vnd.ms-excel', extension: 'xls', begins: office },
  { type: 'text/plain', extension: 'txt' },
  { type: 'text/csv', extension: 'csv' },
  { type: 'text/xml', extension: 'xml' },
  { type: 'application/xml', extension: 'xml' },
  { type: 'application/hl7-v3+xml', extension: 'xml' },
  { type: 'application/json', extension: 'json' },
];

const byType: ReadonlyMap<string, Kind> = new Map(kinds.map((kind) => [kind.type, kind]));

/** Types of Content-Type that say nothing: the file itself, or what was announced, says what it is. */
const vague: ReadonlySet<string> = new Set(['', 'text/plain', 'application/octet-stream']);

/** Bytes of a file's beginning that are looked at. */
export const beginningBytes = 512;

/** Every media type that is taken. */
export const mediaTypes: readonly string[] = kinds.map(({ type }) => type);

export function isTaken(type: string): boolean {
  return byType.has(type);
}

export function getFileExtension(type: string): string {
  return byType.get(type)?.extension ?? 'bin';
}

/** Whether Content-Type lets the content be of the type that was announced. */
export function fitsAnnounced(sent: string, announced: string | undefined): boolean {
  if (vague.has(sent)) return true;
  return announced === undefined ? byType.has(sent) : sent === announced;
}

/**
 * The media type of a file; undefined: it is not what was announced or sent, or cannot be told.
 * @param announced when the URL was asked for
 * @param sent type of the Content-Type, '' without one
 */
export function detectMediaType(beginning: Buffer, announced: string | undefined, sent: string): string | undefined {
  const named = announced ?? (vague.has(sent) ? undefined : sent);
  if (named !== undefined) return isA(byType.get(named), beginning) ? named : undefined;
  const seen = kinds.find((kind) => kind.begins !== undefined && isA(kind, beginning));
  if (seen !== undefined) return seen.type;
  return sent === 'text/plain' && isText(beginning) ? 'text/plain' : undefined;
}

function isA(kind: Kind | undefined, beginning: Buffer): boolean {
  if (kind?.begins === undefined) return kind !== undefined && isText(beginning);
  return kind.begins.some((parts) =>
    parts.every(([offset, bytes]) => beginning.subarray(offset, offset + bytes.length).equals(bytes)),
  );
}

/** No text has the character 0, and files of the other kinds are none. */
function isText(beginning: Buffer): boolean {
  return !beginning.includes(0) && !kinds.some((kind) => kind.begins !== undefined && isA(kind, beginning));
}
