/**
 * What a resource type does beyond being stored: one file per type, named by the feature.ts beside it. Types without one are stored as
 * they are. Every interaction that writes goes through here (engine/write/save-version.ts); nothing here knows HTTP.
 */
import type { Budget, TypedResource } from '@praxis/fhir';
import type { Clock } from '../base/clock.ts';
import type { ResourceStore, ResourceWrite, WriteOutcome } from '../storage/store.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { Act } from './states/state-table.ts';

/** What features store with a version. Each declares its members here, where it hands them on. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface ChangeExtras {}

/** A version that is about to be stored. */
export interface VersionChange<T extends string = string> {
  readonly write: ResourceWrite<T>;
  /** The live version before; undefined: the resource comes into being. */
  readonly before: TypedResource<T> | undefined;
  /** undefined: it is deleted. */
  readonly after: TypedResource<T> | undefined;
  /** Who makes it, and by what; absent: an application by a plain write. */
  readonly act?: Act;
  readonly extras: ChangeExtras;
}

export interface BehaviourContext {
  readonly scope: TenantScope;
  /** Of the request, or of the job that changes it. */
  readonly budget: Budget;
  readonly clock: Clock;
  readonly store: ResourceStore;
  /** The FHIR base of the firm, absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether refusals may name free slots: what a search for slots would tell the caller anyway. */
  readonly maySeeSlots: boolean;
  /** Whether the caller may read or find the resource as it is now. */
  readonly maySee: (type: string, id: string) => Promise<boolean>;
}

/** Its functions are called with changes of its own type alone. */
export interface Behaviour<T extends string = string> {
  readonly type: T;
  /** Judges a change by itself, before any write: states and their transitions. @throws PraxisError `rule-broken` */
  judge?(change: VersionChange<T>): void;
  /** Top-level members that `judge` and `store` go by: the verdict tells of them, so who changes one must read them all. */
  readonly judged?: readonly string[];
  /**
   * Writes the version and all that goes with it, in one transaction.
   * @returns as `ResourceStore.write`; after `conflict` nothing is changed
   * @throws PraxisError of the rule that the change breaks; nothing is changed then
   */
  store?(context: BehaviourContext, change: VersionChange<T>): Promise<WriteOutcome>;
}
