/** How instances of a type are derived from other data instead of being stored (docs/decisions/0182). */
import type { StoredResource } from '../storage/store.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from './context.ts';

export interface DerivedType {
  readonly type: string;
  /**
   * The searchset; undefined: at this firm the type is stored.
   * @throws PraxisError as the search of a stored type
   */
  readonly search: (context: InteractionContext, request: FhirRequest) => Promise<FhirResponse | undefined>;
  /** The instance as it is now, unmasked; undefined: none of this id is derived. It has no versions. */
  readonly read: (context: InteractionContext, id: string) => Promise<StoredResource | undefined>;
}
