/**
 * Types that the API serves but never writes.
 */

import { fail } from '../../base/errors.ts';
import { ledgerTypes } from '../../search/resource-types.ts';

/** @throws PraxisError `method-not-allowed` for a type that only the server writes. */
export function requireWritable(type: string): void {
  if (isWritable(type)) return;
  fail('method-not-allowed', {
    diagnostics: `${type} is written by the server alone: it can be read and searched`,
    headers: { allow: 'GET, HEAD' },
  });
}

export function isWritable(type: string): boolean {
  return !ledgerTypes.has(type);
}
