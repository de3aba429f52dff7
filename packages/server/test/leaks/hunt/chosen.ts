/** What planted records are made of: a choice for each kind of secret. */
import type { Secret } from '../worlds.ts';

export type Planted = { readonly resourceType: string; readonly id: string; readonly [element: string]: unknown };

/** What a world has of each kind of secret. */
export interface Chosen {
  readonly value: Secret;
  readonly link: Secret;
  readonly tag: Secret;
  readonly isThere: boolean;
  readonly isDefined: boolean;
  readonly isDeleted: boolean;
}
