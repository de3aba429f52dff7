/**
 * Observations with few different values, and searches and orders of them: what pages are cut of in tests.
 */
import type { JsonObject } from '@praxis/fhir';
import { nowMs } from './world.ts';

const day = 86_400_000;

/** Few different values of everything, so that ties abound; a quarter lacks each of them. */
export function observation(index: number): JsonObject {
  const pick = (salt: number, values: number): number => (Math.imul(index + 1, salt) >>> 8) % values;
  const lacks = (salt: number): boolean => pick(salt, 4) === 0;
  const effective = new Date(Date.UTC(2025, 0, 1) + pick(7919, 6) * day).toISOString();
  return {
    resourceType: 'Observation',
    id: `o${pick(104_729, 1_000_000)}-${index}`,
    meta: { lastUpdated: new Date(nowMs + pick(31, 5) * 1000).toISOString() },
    status: ['final', 'amended', 'preliminary'][pick(613, 3)] ?? 'final',
    code: {
      coding: Array.from({ length: 1 + pick(97, 3) }, (_, nth) => ({
        system: nth === 0 ? 'urn:a' : 'urn:b',
        code: `c${pick(89 + nth, 5)}`,
      })),
    },
    subject: { reference: `Patient/p${pick(41, 9)}` },
    performer: [{ reference: 'Practitioner/one' }],
    ...(lacks(7907)
      ? {}
      : index % 5 === 0
        ? { effectivePeriod: { start: effective } }
        : { effectiveDateTime: effective }),
    ...(lacks(6133) ? {} : { valueQuantity: { value: pick(53, 4), unit: 'kg', code: 'kilo', system: 'urn:u' } }),
  } as JsonObject;
}

export const searches = [
  '',
  'status=final',
  'status=final,amended',
  'status:not=final',
  'code=c1',
  'code=urn:a|c1,urn:b|c2',
  'code=urn:b|',
  'subject=Patient/p3',
  'subject=p3,p4',
  'date=2025-01-02',
  'date=ge2025-01-02',
  'date=ge2025-01-02&date=lt2025-01-05',
  'date=2025-01-02,2025-01-04',
  'value-quantity=ge1',
  'date:missing=true',
  '_lastUpdated=ge2026-01-15',
];

export const sorts = [
  '',
  'date',
  '-date',
  'code',
  '-code',
  'value-quantity',
  '-value-quantity',
  'subject',
  '-subject',
  '_id',
  '-_id',
  '_lastUpdated',
  '-_lastUpdated',
  'status,-date',
  '-date,code',
  '-value-quantity,date,-_id',
];
