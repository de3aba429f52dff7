import type { ResourceTypes } from './generated/types.ts';
import type { JsonObject } from './json.ts';

/** A resource of a type: of its own TypeScript type, where generated/types.ts has one. */
export type TypedResource<T extends string> = T extends keyof ResourceTypes ? ResourceTypes[T] : JsonObject;
