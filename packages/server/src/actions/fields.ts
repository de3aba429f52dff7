/** Fields that several actions take, and members that several answers have. */
import { entriesMax } from '../tenancy/names.ts';
import type { Shape } from './schema.ts';

/** Names for people: tenancy/names.ts. */
const titleLengthMax = 120;
/** Longest access entry; a SMART scope with its query is longest. */
const entryLengthMax = 2_000;

export const title = (description: string) => ({ kind: 'text', lengthMax: titleLengthMax, description }) as const;

export const segment = (description: string) => ({ kind: 'text', lengthMax: 63, description }) as const;

export const acl = (description: string) =>
  ({ kind: 'texts', itemsMax: entriesMax, lengthMax: entryLengthMax, split: true, description }) as const;

/** Why a firm authorises an application, where nobody says it. */
export const defaultPurpose = 'Treatment and operations';

export const createdAt = { createdAt: { kind: 'time', description: 'When it was made.' } } as const satisfies Shape;

export const lastUsedAt = {
  lastUsedAt: { kind: 'time', nullable: true, none: 'never', description: 'True to a minute; null: never.' },
} as const satisfies Shape;

export const applicationMember = {
  application: { kind: 'text', description: 'Name of the application.' },
} as const satisfies Shape;

export const firmMember = { firm: { kind: 'text', description: 'Prefix of the firm.' } } as const satisfies Shape;

/** A version is a whole number that PostgreSQL holds. */
export const versionMax = 2 ** 31 - 1;

/** Of a change: what it was made from, so that nobody overwrites what they have not seen. */
export const versionField = {
  kind: 'integer',
  min: 1,
  max: versionMax,
  description: 'The version that is changed; absent: it is new.',
} as const;
