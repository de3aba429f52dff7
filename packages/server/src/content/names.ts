/**
 * Names of objects in the content store: they tell nothing of firm, document or patient, and those of a firm lie together.
 */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../base/secrets.ts';

const randomPart = 21;

/** A new name, `{firm}/{2 digits}/{40 digits}`: the first part is a keyed hash of the firm's number, the rest random. */
export function makeContentName(secrets: Secrets, firm: number): string {
  const place = secrets.hash('content-place', String(firm)).toString('hex').slice(0, 16);
  const digits = randomBytes(randomPart).toString('hex');
  return `${place}/${digits.slice(0, 2)}/${digits.slice(2)}`;
}
