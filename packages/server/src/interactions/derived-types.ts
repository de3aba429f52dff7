/**
 * Types whose instances can be derived from other data instead of being stored: one line each. Searches and reads ask here
 * first; what is not derived is stored as ever (docs/decisions/0182).
 */
import { derivedSlots } from './derived-slots.ts';
import type { DerivedType } from './derived-type.ts';

const derivedTypes: ReadonlyMap<string, DerivedType> = new Map([derivedSlots].map((each) => [each.type, each]));

/** The type's way of deriving; undefined: it is always stored. */
export function derivedType(type: string): DerivedType | undefined {
  return derivedTypes.get(type);
}
