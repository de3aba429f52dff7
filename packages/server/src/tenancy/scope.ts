/**
 * The tenant a request acts in. Every storage function requires a `TenantScope`, and only `openScope` makes one, so a
 * statement without a firm does not compile. There is no scope of "all firms".
 */
import type { FirmSearchParameters } from './search-parameters.ts';

declare const tenantScope: unique symbol;

export interface TenantScope {
  readonly [tenantScope]: true;
  /** Number of the firm, unique over all environments. */
  readonly firm: number;
  /** Number of the calling application. */
  readonly application: number;
  /**
   * The access epoch of (firm, application) that the caller's rights were read at. Every data statement compares it
   * with the stored one, so a revocation acts on the next statement.
   */
  readonly epoch: number;
  readonly environment: string;
  /** The firm's url prefix, unique in its environment. */
  readonly firmPrefix: string;
  readonly product: string;
  /** IANA time zone in which the firm's dates without an offset are read. */
  readonly timeZone: string;
  /** Whether the firm has writes refused that refer to what does not exist; absent: they are not. */
  readonly requiresReferences?: boolean;
  /** Search parameters of the firm's own. */
  readonly searchParameters: FirmSearchParameters;
  /**
   * When the caller's access is known to end by time alone, ms since 1970: its token, the rights, whichever is first. No
   * data statement is sent from then on (docs/decisions/0213). Absent: no such end is known.
   */
  readonly endsAtMs?: number;
  /** The same of the rights without the token: URLs made under them are good no longer. */
  readonly rightsEndAtMs?: number;
}

export type TenantScopeFacts = Omit<TenantScope, typeof tenantScope>;

/** The scope of an authorised firm and application; callers have read `facts` from the authorisation tables. */
export function openScope(facts: TenantScopeFacts): TenantScope {
  return facts as TenantScope;
}
