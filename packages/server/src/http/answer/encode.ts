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

/** Not between the two halves of a character beyond the Basic Multilingual Plane. */
function endOfPiece(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}
