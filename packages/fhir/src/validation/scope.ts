/**
 * The resource within which `#id` references resolve: a resource and what it contains.
 *
 * https://hl7.org/fhir/R4/references.html#contained
 */
import type { JsonObject, JsonValue } from '../json.ts';

export interface ResourceScope {
  /** id → resource type of the contained resources, '' where it is missing; those without id are not there. */
  readonly contained: ReadonlyMap<string, string>;
  /** Ids of contained resources that something refers to → what does: contained resources, undefined: the resource itself. */
  readonly referred: Map<string, Set<JsonValue | undefined>>;
  /** The contained resources that refer to their container (`#`). */
  readonly referring: Set<JsonValue>;
  /** The contained resource that is being checked. */
  inside: JsonValue | undefined;
  /** Whether `Patient?identifier=…` may stand for a reference: in transactions only. */
  readonly conditionalReferences: boolean;
}

const nothingContained: ReadonlyMap<string, string> = new Map();

/** The scope of a resource that is not contained in another one. */
export function buildResourceScope(resource: JsonObject, outer: ResourceScope | undefined): ResourceScope {
  const transaction = resource.resourceType === 'Bundle' && resource.type === 'transaction';
  return {
    contained: Array.isArray(resource.contained) ? containedTypes(resource.contained) : nothingContained,
    referred: new Map(),
    referring: new Set(),
    inside: undefined,
    conditionalReferences: transaction || (outer?.conditionalReferences ?? false),
  };
}

function containedTypes(contained: readonly JsonValue[]): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const resource of contained) {
    if (!isObject(resource) || typeof resource.id !== 'string') continue;
    types.set(resource.id, typeof resource.resourceType === 'string' ? resource.resourceType : '');
  }
  return types;
}

/** Notes that something refers to `#id`, or to the container by `#`. Returns whether there is such a resource. */
export function useFragment(scope: ResourceScope, id: string): boolean {
  if (id === '') {
    if (scope.inside === undefined) return false;
    scope.referring.add(scope.inside);
    return true;
  }
  if (!scope.contained.has(id)) return false;
  const referrers = scope.referred.get(id);
  if (referrers === undefined) scope.referred.set(id, new Set([scope.inside]));
  else referrers.add(scope.inside);
  return true;
}

/** Whether a value is a JSON object. A raw decimal passes, too. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
