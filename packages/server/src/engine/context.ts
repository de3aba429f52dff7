/**
 * What an interaction gets and gives. Nothing here knows HTTP: a Bundle entry enters at `dispatch` with the same types.
 */
import type { Budget, JsonValue } from '@praxis/fhir';
import type { Disclosed } from '../access/disclosure.ts';
import type { AccessPolicy } from '../access/policy.ts';
import type { Clock } from '../base/clock.ts';
import type { Secrets } from '../base/secrets.ts';
import type { WorstCase } from '../base/worst-case.ts';
import type { ResourceKey, ResourceStore } from '../storage/store.ts';
import type { ApplicationSettings } from '../tenancy/application-settings.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { Validator } from '../validation/validation.ts';
import type { AuditRecord, AuditRows } from './audit-record.ts';
import type { BundleLink } from './bundle-text.ts';

/** Who calls, for the audit row of a write. */
export interface Caller {
  readonly flow: 'legacy' | 'client';
  readonly tokenId: string;
  readonly subject: string;
  readonly requestId: string;
  /** Number of the API key, where the call came with one. */
  readonly apiKey?: number;
}

export interface InteractionLimits {
  readonly searchValuesMax: number;
  readonly searchParametersMax: number;
  readonly pageRowsMax: number;
  /** Of a body, and of what patches make of a resource. */
  readonly bodyBytesMax: number;
  /** Of a file that is uploaded by URL. */
  readonly uploadBytesMax: number;
  /** Environments whose subscriptions may name endpoints on this machine; absent: none. */
  readonly outboundLoopback?: readonly string[];
  /** Subscriptions of an application at a firm that are not off; absent: any number. */
  readonly subscriptionsMax?: number;
}

export interface InteractionContext {
  readonly scope: TenantScope;
  readonly policy: AccessPolicy;
  readonly caller: Caller;
  readonly settings: ApplicationSettings;
  readonly store: ResourceStore;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly validator: Validator;
  readonly limits: InteractionLimits;
  /** What the request may cost; of a Bundle, all of its entries together. */
  readonly budget: Budget;
  /** The FHIR base of this firm, absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** What the request leaves in the audit ledger. */
  readonly trail: AuditRows;
  /** An entry of a transaction Bundle: it must take effect with the others. */
  readonly allOrNothing?: true;
  /** What the transaction under way makes or has found: `Type/id`. It exists when the transaction does. */
  readonly comingResources?: ReadonlySet<string>;
  /** The URL of content in a resource that is sent, where it is another than that of a read or a search. @param holder Type/id */
  readonly contentUrlOf?: (holder: string, content: string) => string;
  /** Of the interaction or operation under way. */
  readonly note?: AuditRecord;
  /** What is shown of an answer that shares a limit with others; absent: all. @throws PraxisError where it is refused */
  readonly fitted?: ((response: FhirResponse) => FhirResponse) | undefined;
  /** Waits; false: in vain, since nobody is there to be answered or the process stops. Absent where there is no waiting. */
  readonly pause?: (ms: number) => Promise<boolean>;
}

export type InteractionName =
  | 'read'
  | 'vread'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'history-instance'
  | 'history-type'
  | 'history-system'
  | 'search-type'
  | 'search-system'
  | 'conditional-update'
  | 'conditional-patch'
  | 'conditional-delete';

/** Whose compartment a search stays inside (https://hl7.org/fhir/R4/compartmentdefinition.html). */
export type CompartmentOwner = ResourceKey;

/** What a request wants done to what: all that access is decided by. */
export interface FhirCall {
  readonly interaction: InteractionName;
  readonly type: string;
  readonly id: string;
  readonly versionId: string;
  /** Of a search inside a compartment; absent: of all that is stored. */
  readonly compartment?: CompartmentOwner | undefined;
  /**
   * The request in full; called only after the access check.
   * @throws PraxisError when the answer cannot be sent in a form the caller takes, or the parameters cannot be read
   */
  readonly open: () => Promise<FhirRequest>;
}

export interface FhirRequest extends Omit<FhirCall, 'interaction' | 'open'> {
  /** Query and form parameters in order. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** Reads and parses the body. */
  readonly body: () => Promise<JsonValue>;
  /** Whether there is no body at all; absent: there is one. */
  readonly isBodyEmpty?: () => Promise<boolean>;
  /** Reads and parses the body of a PATCH, whose media type says which kind of patch it is. */
  readonly patch: () => Promise<PatchDocument>;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  /** Criteria of a conditional create alone, without a URL before them. */
  readonly ifNoneExist: string | undefined;
  readonly prefer: Preferences;
  /** What the header Content-flag asks for; absent: nothing. */
  readonly contentFlags?: ReadonlySet<ContentFlag>;
  /** The request takes effect once (docs/decisions/0173); absent: each time that it comes. */
  readonly idempotency?: IdempotencyKey;
  /** The id of what a create makes, where links lead to it before it is made; absent: a new one. */
  readonly newId?: string;
}

/** The header Idempotency-Key (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/). */
export interface IdempotencyKey {
  readonly key: string;
  /** All that makes two requests the same one: method, URL, preconditions and body. */
  readonly asked: () => Promise<string>;
}

/** Values of the header Content-flag, and what each asks for (docs/decisions/0207). */
export const contentFlagMeanings = {
  Pagination_optimization_disabled: 'Bundle.total of a search is that of all pages, and the link last is given.',
  Referral:
    'A Patient has its referring practitioners as contacts; an Appointment has the referral source of its patient as an extension, and the referring practitioners as supportingInformation. As far as the caller may read Patient and Practitioner.',
  Universal_Id: 'A Patient has an identifier that no other patient of any firm has: urn:ietf:rfc:3986, urn:uuid:….',
} as const;

export type ContentFlag = keyof typeof contentFlagMeanings;

const isContentFlag = (name: string): name is ContentFlag => Object.hasOwn(contentFlagMeanings, name);
export const contentFlags: readonly ContentFlag[] = Object.keys(contentFlagMeanings).filter(isContentFlag);

/** The body of a PATCH (https://hl7.org/fhir/R4/http.html#patch). */
export interface PatchDocument {
  readonly kind: 'json-patch' | 'fhirpath-patch';
  readonly document: JsonValue;
}

/** The Prefer header (RFC 7240) as far as R4 names it. */
export interface Preferences {
  readonly return: 'minimal' | 'representation' | 'OperationOutcome' | undefined;
  readonly handling: 'strict' | 'lenient' | undefined;
  /** The answer may come later, from another URL (RFC 7240 §4.1). */
  readonly respondAsync?: true;
  /** Seconds that the caller would wait for an answer with something in it (RFC 7240 §4.3). */
  readonly waitSeconds?: number;
}

/** What is known of a request, or of an entry of a Bundle, before its body is read. */
export type RatedRequest = Pick<FhirRequest, 'type' | 'id' | 'parameters' | 'contentFlags'>;

/**
 * What a request counts against the rate limits beside the one unit that every request counts (docs/decisions/0168, 0209):
 * those that make the database read more than one page cost more. Each interaction and operation declares its own; without
 * it, a few rows are read by their keys, or tables in memory.
 */
export interface RateCost {
  readonly rateUnits?: number | ((asked: RatedRequest) => number);
  /** Units that only the body tells: nobody has checked it yet. */
  readonly rateUnitsOfBody?: (body: JsonValue) => number;
}

/**
 * One interaction. `dispatch` calls `authorize`, then opens the call, then `answer`: so a refusal of access comes before
 * anything is said about media types, parameters or bodies (docs/integrate/contract.md#order-of-checks).
 */
export interface Interaction extends RateCost {
  readonly worstCase: WorstCase;
  /** @throws PraxisError `access-denied`, `method-not-allowed` */
  readonly authorize: (context: Pick<InteractionContext, 'policy'>, call: Omit<FhirCall, 'open'>) => void;
  readonly answer: (context: InteractionContext, request: FhirRequest) => Promise<FhirResponse>;
}

export interface FhirResponse {
  readonly status: number;
  /** Id of the resource that was created, changed, or found instead. */
  readonly id?: string;
  /** A JSON text, absent for an empty answer. */
  readonly body?: Disclosed<string>;
  /** What the Bundle in `body` is made of, where the answer is a list. */
  readonly list?: FhirList;
  readonly versionId?: number;
  readonly lastUpdatedMs?: number;
  /** Absolute, of a created or updated version. */
  readonly location?: string;
  /** What the answer tells is complete up to this moment: nothing last updated before it is yet to come. */
  readonly completeUntilMs?: number;
  /** The body is no resource: it is sent as application/json in any case. */
  readonly isPlainJson?: true;
  /** Further headers, by names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer was given before, to a request with the same Idempotency-Key. */
  readonly isReplayed?: true;
  /** There was a body, for which the Bundle around the answer has no room. */
  readonly isLeftOut?: true;
}

export interface FhirList {
  /** JSON texts without line breaks: the resources of the entries, in order. */
  readonly resources: readonly Disclosed<string>[];
  /** Entries without a resource: deletions in a history. */
  readonly omitted: number;
  readonly links: readonly BundleLink[];
  readonly total?: number;
  /** There is no Bundle: the answer is lines in any case. */
  readonly isLinesOnly?: true;
}
