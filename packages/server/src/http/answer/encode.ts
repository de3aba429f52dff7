/** Large texts as UTF-8, in slices of the event loop. */
import { sliceMs } from '@praxis/fhir';

/** Texts of so many characters are encoded in slices: it takes a millisecond. */
export const slicedTextLength = 524_288;

const pieceLength = 131_072;

/**
 * The bytes of a text, in pieces that are the whole together.
 * @param nextSlice resolves when the next slice may begin
 * @param onPiece sees each piece
 */
export async function encodeInSlices(
  text: string,
  nextSlice: () => Promise<void>,
  onPiece?: (piece: Buffer) => void,
): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let beganMs = performance.now();
  for (let at = 0; at < text.length; ) {
    const end = endOfPiece(text, at + pieceLength);
    const piece = Buffer.from(text.slice(at, end));
    onPiece?.(piece);
    pieces.push(piece);
    at = end;
    if (at >= text.length || performance.now() - beganMs < sliceMs) continue;
    await nextSlice();
    beganMs = performance.now();
  }
  return pieces;
}

const linesPieceBytes = 262_144;

/** UTF-8 takes so many bytes for a unit of UTF-16 at most. */
const bytesOfUnit = 3;

/**
 * The bytes of texts, each with the end of a line behind it, in pieces that are the whole together. Each text is written where it stays.
 * @param nextSlice resolves when the next slice may begin
 * @param onPiece sees each piece
 */
export async function encodeLines(
  texts: readonly string[],
  nextSlice: () => Promise<void>,
  onPiece: (piece: Buffer) => void,
): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = [];
  let beganMs = performance.now();
  let buffer = Buffer.allocUnsafe(linesPieceBytes);
  let end = 0;
  const finish = (): void => {
    if (end === 0) return;
    const piece = buffer.subarray(0, end);
    onPiece(piece);
    pieces.push(piece);
    end = 0;
  };
  for (const text of texts) {
    const isLong = text.length > slicedTextLength;
    const bytesMax = (isLong ? 0 : text.length) * bytesOfUnit + 1;
    if (isLong || bytesMax > buffer.length - end) {
      finish();
      buffer = Buffer.allocUnsafe(Math.max(linesPieceBytes, bytesMax));
      if (performance.now() - beganMs >= sliceMs) {
        await nextSlice();
        beganMs = performance.now();
      }
    }
    if (isLong) pieces.push(...(await encodeInSlices(text, nextSlice, onPiece)));
    else end += buffer.write(text, end);
    buffer[end] = lineFeed;
    end += 1;
  }
  finish();
  return pieces;
}

const lineFeed = 0x0a;

/** Not between the two halves of a character beyond the Basic Multilingual Plane. */
function endOfPiece(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}
