/**
 * Who calls, where, and with what rights: the result of authenticating an API call (contract 5.1,
 * docs/integrate/contract.md#credentials). `sessions.ts` remembers sessions, `authenticate.ts` makes them.
 */
import type { AccessPolicy } from '../../access/policy.ts';
import type { ApplicationSettings } from '../../tenancy/application-settings.ts';
import type { Environment } from '../../tenancy/environments.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { Flow } from '../client-auth/api-keys.ts';
import type { TokenPlace } from './bearer.ts';

/** What an API call brings along. `environment` was found by the path and has `product`. */
export interface ApiCredentials {
  readonly environment: Environment;
  readonly product: string;
  /** As in the path; whether there is such a firm is not known. */
  readonly firmPrefix: string;
  /** Every value of the Authorization header. */
  readonly authorization: readonly string[];
  /** Every value of the x-api-key header. */
  readonly apiKey: readonly string[];
  /** The User-Agent header, for counting who uses the legacy flow. */
  readonly userAgent?: string | undefined;
  /** Where the metadata of the firm's FHIR base is; a 401 names it (RFC 9728 §5.1). */
  readonly resourceMetadataUrl?: string;
  /** Where the request has an `access_token` parameter, if it has one; it is refused. */
  readonly tokenElsewhere?: TokenPlace;
}

export interface Principal {
  readonly application: number;
  readonly applicationName: string;
  readonly environment: string;
  readonly flow: Flow;
  /** `jti` of the token. */
  readonly tokenId: string;
  /** `sub` of the token. */
  readonly subject: string;
  readonly apiKeyId: number;
  readonly clientId?: string;
  /** `user@firm` of a legacy token. */
  readonly legacyUser?: string;
}

export interface Session {
  readonly principal: Principal;
  readonly scope: TenantScope;
  readonly policy: AccessPolicy;
  readonly settings: ApplicationSettings;
  /** When the token or the firm's authorisation ends or the legacy flow is refused, whichever is first; ms since 1970. */
  readonly expiresAtMs: number;
  /** Deprecation, Sunset and Link of every answer to a legacy token; absent when nothing is announced. */
  readonly legacyHeaders?: Readonly<Record<string, string>>;
}
