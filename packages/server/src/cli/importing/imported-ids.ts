/**
 * Ids of resources that come without one. The same resource of the same import has the same id however often it is tried, so that
 * links to it hold where a Bundle is stored in parts and the program was killed between them.
 */
import { hash } from 'node:crypto';
import type { HeldRun } from './runs.ts';

/** A UUID version 7 (https://www.rfc-editor.org/rfc/rfc9562#section-5.7) of the millisecond in which the import began. */
export function makeImportedId({ id, begunMs }: HeldRun, place: string): string {
  const time = begunMs.toString(16).padStart(12, '0');
  const hex = hash('sha256', `${id} ${place}`, 'hex');
  const variant = (8 + (Number.parseInt(hex.charAt(4), 16) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(1, 4)}-${variant}${hex.slice(5, 8)}-${hex.slice(8, 20)}`;
}
