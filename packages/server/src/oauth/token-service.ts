/**
 * What every grant works with. `app.ts` makes one per process.
 */
import type { Clock } from '../base/clock.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Database } from '../database/database.ts';
import type { BruteForceLimit } from '../limits/brute-force-limit.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { CredentialUses } from './client-auth/credential-uses.ts';
import type { RemoteKeys } from './client-auth/remote-keys.ts';
import type { OnLegacyUse } from './legacy/use.ts';
import type { SigningKeys } from './signing/signing-keys.ts';
import type { TokenScopes } from './signing/token-scopes.ts';

export interface TokenSettings {
  /** Refuse a client-credentials request without `x-api-key` at once. */
  readonly strictKeys: boolean;
  readonly clientTokenSeconds: number;
  readonly legacyTokenSeconds: number;
  readonly legacyRefreshSeconds: number;
}

export interface TokenService {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly keys: SigningKeys;
  /** Key sets that clients publish. */
  readonly remoteKeys: RemoteKeys;
  readonly scopes: TokenScopes;
  readonly uses: CredentialUses;
  readonly guesses: BruteForceLimit;
  readonly rateLimit: RateLimit;
  /** Public origin of a realm, e.g. `https://login.example.com`; the issuer is origin + realm path. */
  readonly originOfRealm: (realm: string) => string;
  readonly settings: TokenSettings;
  /** Told of each use of the legacy grants by a caller who proved who it is. */
  readonly onLegacyUse?: OnLegacyUse;
}
