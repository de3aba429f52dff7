/**
 * An operation (https://hl7.org/fhir/R4/operations.html), declared once: its routes, the checks of its parameters and its
 * lines in the CapabilityStatement derive from the declaration. `list.ts` and the features of the practice name them all.
 */
import type { JsonValue } from '@praxis/fhir';
import type { WorstCase } from '../base/worst-case.ts';
import type { FhirRequest, FhirResponse, InteractionContext, RateCost } from '../engine/context.ts';

/** `/$name`, `/{Type}/$name`, `/{Type}/{id}/$name`. */
export type OperationLevel = 'system' | 'type' | 'instance';

/** https://hl7.org/fhir/R4/operationdefinition-definitions.html#OperationDefinition.parameter */
export interface OperationParameter {
  readonly name: string;
  readonly use: 'in' | 'out';
  /** Times it has to occur. */
  readonly min: number;
  /** Times it may occur. */
  readonly max: number | '*';
  /** A datatype, a resource type, or `Resource` for any; absent for parameters that consist of `parts`. */
  readonly type?: string;
  readonly documentation: string;
  readonly parts?: readonly OperationParameter[];
  /** A resource that is handed on as it was sent: the operation itself judges it. Others are valid when they arrive. */
  readonly unchecked?: true;
}

/** An in-parameter: at most once, unless `more` says otherwise. */
export function declareInput(
  name: string,
  type: string,
  documentation: string,
  more: Partial<OperationParameter> = {},
): OperationParameter {
  return { name, use: 'in', min: 0, max: 1, type, documentation, ...more };
}

/** An out-parameter: once, unless `more` says otherwise. */
export function declareOutput(
  name: string,
  type: string,
  documentation: string,
  more: Partial<OperationParameter> = {},
): OperationParameter {
  return { name, use: 'out', min: 1, max: 1, type, documentation, ...more };
}

/** An out-parameter that consists of parts, any number of times. */
export function declareParts(
  name: string,
  documentation: string,
  parts: readonly OperationParameter[],
): OperationParameter {
  return { name, use: 'out', min: 0, max: '*', documentation, parts };
}

/** An answer that is no resource. */
export interface OperationAnswer {
  readonly description: string;
  /** Names of headers. */
  readonly headers: readonly string[];
  /** `json`: a document that is no resource; `lines`: a resource a line. Absent: none. */
  readonly body?: 'json' | 'lines';
}

/**
 * Where it is asked at fewer levels than all, `Level` names them: `authorize` and `answer` get places of these levels alone.
 */
export interface Operation<Level extends OperationLevel = OperationLevel> extends RateCost {
  /** Without the `$`. */
  readonly name: string;
  /** Canonical URL of its OperationDefinition. */
  readonly url: string;
  readonly worstCase: WorstCase;
  readonly levels: readonly Level[];
  /** The types it is defined on at type and instance level. */
  readonly types: readonly string[] | 'all';
  /** Whether it can be asked of a version: `/{Type}/{id}/_history/{vid}/$name`. */
  readonly ofVersions?: true;
  /** Whether it changes resources: only operations that do not answer GET. */
  readonly affectsState: boolean;
  /** It is no entry of a Bundle: what it answers with is no resource, or lies in headers. */
  readonly standsAlone?: true;
  /** The methods that it takes; absent: POST, and GET and HEAD where it changes nothing. */
  readonly methods?: readonly string[];
  /** The type of a resource that it creates: it answers with that, and 201, as a create does. */
  readonly creates?: string;
  /** What it answers with, by status, where that is not the out-parameters with 200. */
  readonly answers?: Readonly<Record<number, OperationAnswer>>;
  /** Its answer is a list, which can also be had as lines (docs/decisions/0139). */
  readonly isList?: true;
  readonly parameters: readonly OperationParameter[];
  /**
   * `search`: a GET takes search parameters beside its own; the operation reads them from `request.parameters`, where
   * all parameters of the query stand, and refuses those that it does not know.
   */
  readonly further?: 'search';
  /**
   * Called before anything is said about media types, parameters or the body.
   * @throws PraxisError `access-denied`, `method-not-allowed`
   */
  authorize(context: Pick<InteractionContext, 'policy'>, place: PlaceAt<Level>): void;
  answer(context: InteractionContext, request: OperationRequest<Level>): Promise<FhirResponse>;
}

interface Places {
  readonly system: { readonly level: 'system' };
  readonly type: { readonly level: 'type'; readonly type: string };
  readonly instance: {
    readonly level: 'instance';
    readonly type: string;
    readonly id: string;
    /** Absent: the current one. */
    readonly versionId?: string;
  };
}

/** What an operation is asked of at some of the levels. */
export type PlaceAt<Level extends OperationLevel> = Places[Level];

/** What an operation is asked of. */
export type OperationPlace = PlaceAt<OperationLevel>;

/** One occurrence of an in-parameter. */
export interface InputValue {
  /** The datatype or resource type that was sent. */
  readonly type: string;
  /** The primitive, datatype or resource; null where there are parts instead. */
  readonly value: JsonValue;
  /** Checked like the whole; empty unless the declaration has parts. */
  readonly parts: OperationInput;
}

/** The in-parameters by name; those that were not sent are absent. */
export type OperationInput = ReadonlyMap<string, readonly InputValue[]>;

export interface OperationRequest<Level extends OperationLevel = OperationLevel> extends FhirRequest {
  readonly place: PlaceAt<Level>;
  /** Names, cardinalities and types are those of the declaration. */
  readonly input: OperationInput;
}
