/**
 * What the endpoints share.
 */
import type { JsonLimits } from '@praxis/fhir';
import type { Administration } from '../admin/administration.ts';
import type { Ledger } from '../audit/ledger.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Tracer } from '../base/tracing/tracer.ts';
import type { ResponseBudgets } from '../bundle/response-budget.ts';
import type { Content } from '../content/content.ts';
import type { OpenBudget } from '../limits/budgets.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import type { Slices } from '../limits/slices.ts';
import type { LegacyUseCounter } from '../oauth/legacy/use.ts';
import type { Sessions } from '../oauth/session/sessions.ts';
import type { SigningKeys } from '../oauth/signing/signing-keys.ts';
import type { TokenEndpoints } from '../oauth/token-endpoint.ts';
import type { Bindings } from '../practice/subscriptions/sockets/bindings.ts';
import type { ResourceStore } from '../storage/store.ts';
import type { EnvironmentDirectory } from '../tenancy/environments.ts';
import type { Validator } from '../validation/validation.ts';
import type { Compressor } from './answer/compression.ts';
import type { RequestPlaces } from './connections/request-places.ts';
import type { Origins } from './origins.ts';
import type { PublicRoutes } from './pages/public-routes.ts';
import type { BodyAdmission } from './request/body-admission.ts';
import type { RequestLog } from './request-log.ts';

/** What the endpoints work with; made once by `app.ts`. */
export interface ServerServices {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly requestLog: RequestLog;
  readonly secrets: Secrets;
  readonly origins: Origins;
  readonly environments: EnvironmentDirectory;
  readonly sessions: Sessions;
  readonly signingKeys: SigningKeys;
  readonly tokens: TokenEndpoints;
  readonly legacyUse: LegacyUseCounter;
  readonly store: ResourceStore;
  readonly tracer: Tracer | undefined;
  readonly content: Content;
  readonly ledger: Ledger;
  readonly rateLimit: RateLimit;
  readonly responseBudgets: ResponseBudgets;
  readonly bodies: BodyAdmission;
  readonly places: RequestPlaces;
  /** What websockets are bound to. */
  readonly bindings: Bindings;
  readonly jsonLimits: JsonLimits;
  readonly openPages: PublicRoutes;
  readonly administration: Administration;
  readonly compressor: Compressor;
  readonly validator: Validator;
  readonly openBudget: OpenBudget;
  readonly slices: Slices;
  /** Aborted when the process stops taking requests: what waits for something is answered at once. */
  readonly stopping: AbortSignal;
}
