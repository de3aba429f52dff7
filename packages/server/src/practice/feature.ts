/** What a feature of the practice declares, in its `feature.ts`; features.ts lists all of them (docs/decisions/0267, 0279). */
import type { Action, ActionContext } from '../actions/action.ts';
import type { Fields } from '../actions/schema.ts';
import type { Ledger } from '../audit/ledger.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Tracer } from '../base/tracing/tracer.ts';
import type { Content } from '../content/content.ts';
import type { InteractionLimits } from '../engine/context.ts';
import type { ResourceHooks } from '../engine/hooks.ts';
import type { DeclaredJob } from '../jobs/declared-job.ts';
import type { FirmWorkContext } from '../jobs/firm-work.ts';
import type { OpenBudget } from '../limits/budgets.ts';
import type { ApplicationSessions } from '../oauth/session/application-session.ts';
import type { Operation } from '../operations/operation.ts';
import type { Behaviour } from '../resources/behaviour.ts';
import type { StateTable } from '../resources/states/state-table.ts';
import type { ResourceStore } from '../storage/store.ts';
import type { Firm } from '../tenancy/firms.ts';
import type { Validator } from '../validation/validation.ts';
import type { DeliveryMeter } from './subscriptions/delivering/delivery-meter.ts';
import type { Bindings } from './subscriptions/sockets/bindings.ts';

/** What a job of a feature may use. */
export interface FeatureServices extends FirmWorkContext {
  readonly secrets: Secrets;
  readonly limits: InteractionLimits;
  readonly validator: Validator;
  readonly ledger: Pick<Ledger, 'keep'>;
  /** What applications may do at a moment when none of them calls. */
  readonly applications: ApplicationSessions;
  /** The sockets of this process. */
  readonly bindings: Bindings;
  /** Told of each notification. */
  readonly deliveryMeter: DeliveryMeter;
  /** Pause after the first of several failed attempts to deliver, in ms. */
  readonly deliveryPauseMs: number;
  readonly store: ResourceStore;
  /** undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  readonly content: Content;
  readonly openBudget: OpenBudget;
  /** The FHIR base URL of a firm, without a trailing slash. */
  readonly baseUrlOf: (firm: Pick<Firm, 'environment' | 'prefix'>) => string;
}

export interface PracticeFeature {
  /** What resource types do beyond being stored. */
  readonly behaviours?: readonly Behaviour[];
  /** The states of resource types. */
  readonly states?: readonly StateTable[];
  /** Where the feature takes part in interactions, in the order in which hooks are called. */
  readonly hooks?: readonly ResourceHooks[];
  readonly operations?: readonly Operation[];
  /** Administration: API, commands and documentation derive from it. */
  readonly actions?: readonly Action<string, Fields, ActionContext>[];
  readonly jobs?: readonly DeclaredJob<FeatureServices>[];
}
