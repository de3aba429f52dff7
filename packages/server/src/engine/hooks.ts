/**
 * Where the features of a practice take part in the interactions (docs/decisions/0267). Each says for which resource
 * types; app.ts registers all of them, so that the interactions import none.
 */
import type { JsonObject } from '@praxis/fhir';
import type { Disclosed } from '../access/disclosure.ts';
import type { ElementFilter } from '../access/mask.ts';
import type { AccessPolicy, Permission } from '../access/policy.ts';
import type { ErrorIssue } from '../base/errors.ts';
import type { Behaviour } from '../resources/behaviour.ts';
import type { ResourceWrite, StoredResource, WriteOutcome } from '../storage/store.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from './context.ts';

/** What storing needs of an interaction's context. */
export type StoringContext = Pick<InteractionContext, 'scope' | 'clock' | 'store' | 'baseUrl' | 'policy' | 'budget'> &
  Partial<Pick<InteractionContext, 'settings' | 'comingResources' | 'limits'>>;

/** What preparing needs of it; what is absent for imports and jobs, which no application asks for. */
export type PreparingContext = Pick<InteractionContext, 'scope' | 'clock' | 'budget' | 'baseUrl'> &
  Partial<InteractionContext>;

/** A write before it is made. */
export interface PreparedWrite {
  readonly id: string;
  /** The version before, deleted or not; undefined: there is none, or it is not at hand. */
  readonly before: StoredResource | undefined;
}

/** What judging by bindings needs of it. */
export type BindingContext = Pick<InteractionContext, 'scope' | 'store' | 'policy' | 'budget'>;

/** What sending needs of it. */
export type SendingContext = Pick<
  InteractionContext,
  'scope' | 'caller' | 'secrets' | 'clock' | 'baseUrl' | 'contentUrlOf'
>;

/** A write that has passed every check, and is about to be stored. */
export interface CheckedWrite {
  readonly write: ResourceWrite;
  /** The version before, deleted or not; undefined: there is none. */
  readonly current: StoredResource | undefined;
  /** The elements that a patch names; absent: the whole resource was sent. */
  readonly touched?: readonly (string | undefined)[];
}

/** Adds to what the caller sees of a row. */
export type Decorate = (
  letter: Permission,
  row: StoredResource,
  shown: Disclosed<string>,
  filter: ElementFilter,
) => Promise<Disclosed<string>>;

export interface ResourceHooks {
  /** Resource types that they are for; absent: all. */
  readonly types?: readonly string[];
  /** A create that stores nothing, for which other rights do than for a create. */
  readonly replaceCreate?: {
    readonly isAllowed: (policy: AccessPolicy) => boolean;
    /** undefined: it is a create. @throws PraxisError */
    readonly answer: (context: InteractionContext, request: FhirRequest) => Promise<FhirResponse | undefined>;
  };
  /** The new resource, of a type that the hooks are for, with what the service adds to it; the same object where it adds nothing. */
  complete?(context: InteractionContext, resource: JsonObject): Promise<JsonObject>;
  /**
   * The resource as it is to be stored, of all writes of the types: what the service owns of it is set here, whatever was sent.
   * @throws PraxisError where it must not be stored
   */
  readonly prepare?: (context: PreparingContext, resource: JsonObject, write: PreparedWrite) => Promise<JsonObject>;
  /** A write that is not stored now. */
  readonly intercept?: {
    /** Whether writes of the type are, at this firm. */
    readonly isActive: (context: InteractionContext, type: string) => Promise<boolean>;
    /** The answer; undefined: the write is stored. @throws PraxisError */
    readonly answer: (
      context: InteractionContext,
      request: Pick<FhirRequest, 'prefer'>,
      checked: CheckedWrite,
    ) => Promise<FhirResponse | undefined>;
  };
  /** Elements whose codes the firm binds to value sets of its own. */
  readonly bindings?: {
    /** Top-level members: the verdict tells what they said before. */
    readonly membersOf: (type: string) => readonly string[];
    /** Every concept that is new in `after` and has no code of its binding: bindings.ts. */
    readonly find: (
      context: BindingContext,
      type: string,
      before: JsonObject | undefined,
      after: JsonObject,
    ) => Promise<readonly ErrorIssue[]>;
  };
  /** States, and what is stored with a version. */
  readonly behaviour?: Behaviour;
  /** Runs `work`, which stores the version, in one transaction with what goes with it. */
  readonly wrapStore?: (
    context: StoringContext,
    write: ResourceWrite,
    work: (inside: StoringContext) => Promise<WriteOutcome>,
  ) => Promise<WriteOutcome>;
  /** The JSON text as it is stored. @param baseUrl the FHIR base of the firm */
  readonly toStored?: (text: string, baseUrl: string) => string;
  /** What was disclosed under a letter, as it is sent. */
  readonly toSent?: (
    context: SendingContext,
    letter: Permission,
    resource: { readonly type: string; readonly id: string; readonly disclosed: Disclosed<string> },
  ) => Disclosed<string>;
  /** What a request asks to be added to resources that are read or found; undefined: nothing. */
  readonly decorate?: (context: InteractionContext, request: FhirRequest) => Decorate | undefined;
  /** What a search costs more against the rate limits for what `decorate` adds. */
  readonly decorateUnits?: (asked: Pick<FhirRequest, 'contentFlags'>) => number;
  /** Members of the entry of the type in the CapabilityStatement, beside those that are derived. */
  readonly capability?: object;
  /** Instances that are computed instead of being stored (docs/decisions/0182). */
  readonly computed?: ComputedType;
}

export interface ComputedType {
  /** The searchset; undefined: at this firm the type is stored. @throws PraxisError as the search of a stored type */
  readonly search: (context: InteractionContext, request: FhirRequest) => Promise<FhirResponse | undefined>;
  /** The instance as it is now, unmasked; undefined: none of this id is computed. It has no versions. */
  readonly read: (context: InteractionContext, id: string) => Promise<StoredResource | undefined>;
}

type HookName = Exclude<keyof ResourceHooks, 'types'>;

const registered = new Set<ResourceHooks>();
const found = new Map<HookName, Map<string, readonly unknown[]>>();

/** Adds hooks, in the order in which they are called; those that are there already stay where they are. */
export function registerHooks(hooks: readonly ResourceHooks[]): void {
  for (const each of hooks) registered.add(each);
  found.clear();
}

/** The values of one hook for a type, in order. */
export function listHooks<K extends HookName>(name: K, type: string): readonly NonNullable<ResourceHooks[K]>[] {
  const ofName = found.get(name) ?? new Map<string, readonly unknown[]>();
  found.set(name, ofName);
  const hooks = ofName.get(type) ?? findHooks(name, type);
  ofName.set(type, hooks);
  return hooks as readonly NonNullable<ResourceHooks[K]>[]; // filled by name
}

/** The value of a hook that a type has once; undefined: it has none. */
export function findHook<K extends HookName>(name: K, type: string): ResourceHooks[K] | undefined {
  return listHooks(name, type)[0];
}

function findHooks(name: HookName, type: string): readonly unknown[] {
  const hooks = [...registered].filter(({ types }) => types === undefined || types.includes(type));
  return hooks.flatMap((each) => each[name] ?? []);
}

/** What was disclosed under a letter, as it is sent. */
export function toSent(
  context: SendingContext,
  letter: Permission,
  { type, id }: Pick<ResourceWrite, 'type' | 'id'>,
  disclosed: Disclosed<string>,
): Disclosed<string> {
  return listHooks('toSent', type).reduce(
    (sent, hook) => hook(context, letter, { type, id, disclosed: sent }),
    disclosed,
  );
}
