/**
 * What a FHIR path asks for, before the method and the type are looked at (https://hl7.org/fhir/R4/http.html#summary).
 * A shape outside this table is no path of the API: 404 without credentials being read. Requests and the entries of
 * batches and transactions are read by the same table.
 */
import { compartments, resourceTypesWithEndpoint, suggestName } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import type { CompartmentOwner, InteractionName } from './context.ts';
import { findCompartmentScope } from './search/compartment.ts';
import { requireValidId } from './write/build-write.ts';

export interface FhirTarget {
  readonly shape: keyof typeof shapes;
  readonly type: string;
  /** As it was sent, also where it is no id of R4: requireIds. */
  readonly id: string;
  readonly versionId: string;
  /** Name of the operation, without its `$`; '' for other shapes. */
  readonly operation: string;
  /** Of a search inside a compartment; `type` is the searched type then, empty for several, and `id` is empty. */
  readonly compartment?: CompartmentOwner;
}

/** A type name as R4 spells them; whether the type exists is said only to callers with credentials. */
const typePattern = /^[A-Z][A-Za-z]{2,40}$/;
/**
 * A segment in the place of an id: also one that is no id of R4 (`abc_def`, `CHG%7C1722`, 65 characters), which is said
 * to those who may ask (400 `id-invalid`). What names no resource at all has no meaning there: words of the API (`_…`,
 * `$…`, `*`), dots, and separators however they are written.
 */
function isIdPlace(segment: string): boolean {
  if (isEveryType(segment)) return false;
  if (!/^(?![_$]|\.+$)[A-Za-z0-9\-._~!$&'()*+,=:@|%]+$/.test(segment)) return false;
  try {
    const decoded = decodeURIComponent(segment);
    return !/^(?:[_$]|\.+$)/.test(decoded) && !separators.test(decoded);
  } catch {
    return false; // a broken percent-escape
  }
}

const separators = /[/\\?#;%\x00-\x1f\x7f]/;

/** `$name`; clients that encode the dollar sign (RFC 3986 leaves it to them) are understood. */
const operationPattern = /^(?:\$|%24)([a-z][A-Za-z0-9-]{0,63})$/;

/** The target of the segments after `/fhir/v2`, or undefined when they have no meaning. */
export function parseFhirTarget(segments: readonly string[]): FhirTarget | undefined {
  const operation = operationPattern.exec(segments.at(-1) ?? '')?.[1];
  return operation === undefined ? plainTarget(segments) : operationTarget(segments.slice(0, -1), operation);
}

/** The target with hyphens for bars in its ids, however they are encoded: for applications that keep the habit (docs/decisions/0339). */
export function replaceBars({ compartment, ...target }: FhirTarget): FhirTarget {
  const id = hyphenate(target.id);
  return { ...target, id, ...(compartment && { compartment: { ...compartment, id: hyphenate(compartment.id) } }) };
}

function hyphenate(id: string): string {
  return id.replaceAll(/\||%7C/gi, '-');
}

/** @throws PraxisError `id-invalid` where the target names an instance, version or compartment by what is no id of R4. */
export function requireIds({ id, versionId, compartment }: Pick<FhirTarget, 'id' | 'versionId' | 'compartment'>): void {
  for (const named of [id, versionId, compartment?.id ?? '']) if (named !== '') requireValidId(named);
}

/** An operation is asked of the base, a type, an instance or a version. */
function operationTarget(segments: readonly string[], operation: string): FhirTarget | undefined {
  const of = segments.includes('') ? undefined : plainTarget(segments);
  return of && operable.has(of.shape) ? { ...of, shape: 'operation', operation } : undefined;
}

const operable: ReadonlySet<string> = new Set(['system', 'type', 'instance', 'version']);

type TargetMaker = (shape: FhirTarget['shape'], id?: string, versionId?: string) => FhirTarget;

function plainTarget(segments: readonly string[]): FhirTarget | undefined {
  const [first = '', second] = segments;
  const target: TargetMaker = (shape, id = '', versionId = '') => ({
    shape,
    type: first,
    id,
    versionId,
    operation: '',
  });
  if (segments.length === 0) return target('system');
  if (segments.length === 1 && first === 'metadata') return target('metadata');
  if (segments.length === 1 && first === '_search') return { ...target('system-search'), type: '' };
  if (segments.length === 1 && first === '_history') return { ...target('system-history'), type: '' };
  if (!typePattern.test(first)) return undefined;
  if (second === undefined || (second === '' && segments.length === 2)) return target('type');
  if (segments.length === 2 && second === '_search') return target('search');
  if (segments.length === 2 && second === '_history') return target('type-history');
  return instanceTarget(target, segments);
}

/** What begins with type and id: the instance, its history, and what is in its compartment. */
function instanceTarget(target: TargetMaker, segments: readonly string[]): FhirTarget | undefined {
  const [type = '', id = '', third, fourth] = segments;
  if (!isIdPlace(id)) return undefined;
  if (third === undefined) return target('instance', id);
  if ((typePattern.test(third) || isEveryType(third)) && segments.length <= 4)
    return compartmentTarget(target('compartment'), { type, id }, segments);
  if (third !== '_history') return undefined;
  if (fourth === undefined) return target('history', id);
  return segments.length === 4 && isIdPlace(fourth) ? target('version', id, fourth) : undefined;
}

/** `*`, also where a client encodes it, which RFC 3986 §2.2 leaves to it. */
function isEveryType(segment: string): boolean {
  return segment === '*' || segment === '%2A';
}

/** `/Patient/1/Observation` and, of all types, `/Patient/1/*`; both also with `_search` behind. */
function compartmentTarget(
  target: FhirTarget,
  compartment: CompartmentOwner,
  [, , type = '', last]: readonly string[],
): FhirTarget | undefined {
  if (!compartments.has(compartment.type) || (last !== undefined && last !== '_search')) return undefined;
  if (!isEveryType(type))
    return { ...target, shape: last === undefined ? 'compartment' : 'compartment-search', type, compartment };
  const shape = last === undefined ? 'compartment-types' : 'compartment-types-search';
  return { ...target, shape, type: '', compartment };
}

/** An interaction, or what stands above `dispatch`: a batch or transaction of them, an operation. */
export type TargetName = InteractionName | 'bundle' | 'operation';

const shapes = {
  system: { GET: 'search-system', HEAD: 'search-system', POST: 'bundle' },
  'system-search': { POST: 'search-system' },
  'system-history': { GET: 'history-system', HEAD: 'history-system' },
  metadata: {},
  type: {
    GET: 'search-type',
    HEAD: 'search-type',
    POST: 'create',
    PUT: 'conditional-update',
    PATCH: 'conditional-patch',
    DELETE: 'conditional-delete',
  },
  search: { POST: 'search-type' },
  'type-history': { GET: 'history-type', HEAD: 'history-type' },
  instance: { GET: 'read', HEAD: 'read', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  history: { GET: 'history-instance', HEAD: 'history-instance' },
  version: { GET: 'vread', HEAD: 'vread' },
  compartment: { GET: 'search-type', HEAD: 'search-type' },
  'compartment-search': { POST: 'search-type' },
  'compartment-types': { GET: 'search-system', HEAD: 'search-system' },
  'compartment-types-search': { POST: 'search-system' },
  operation: {},
} satisfies Record<string, Readonly<Record<string, TargetName>>>;

/** Shape → method → interaction; HEAD is GET without a body (RFC 9110 §9.3.2). The OpenAPI document derives from it. */
export const methods: Readonly<Record<FhirTarget['shape'], Readonly<Record<string, TargetName>>>> = shapes;

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/** The interaction of a method on a target; undefined where there is none. */
export function findInteraction(target: FhirTarget, method: string): TargetName | undefined {
  if (!isServedType(target)) return undefined;
  if (target.shape === 'operation') return 'operation'; // its declaration says which methods it takes
  return methods[target.shape][method];
}

/**
 * The interaction of a method on a target.
 * @throws PraxisError `type-unknown`, `method-not-allowed` (with Allow)
 */
export function requireInteraction(target: FhirTarget, method: string): TargetName {
  const name = findInteraction(target, method);
  if (name !== undefined) return name;
  if (!isServedType(target)) fail('type-unknown', { diagnostics: describeUnknownType(target) });
  const allow = Object.keys(methods[target.shape]).join(', ');
  return fail('method-not-allowed', {
    diagnostics: allow === '' ? 'Nothing is served at this path' : `This path takes ${allow}`,
    headers: { allow },
  });
}

/** Whether the type has an endpoint, and is in the compartment where one is named. */
function isServedType({ type, compartment }: FhirTarget): boolean {
  if (type === '') return true;
  if (!served.has(type)) return false;
  return compartment === undefined || findCompartmentScope(compartment.type, compartment.id, type) !== undefined;
}

/** What is wrong with a type that is not served. */
function describeUnknownType({ type, compartment }: FhirTarget): string {
  if (!served.has(type))
    return `${type} is not a resource type with an endpoint in FHIR R4${suggestName(type, served)}`;
  return `${type} is not in the compartment of ${compartment?.type} in FHIR R4`;
}
