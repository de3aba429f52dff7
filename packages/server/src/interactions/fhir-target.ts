/**
 * What a FHIR path asks for, before the method and the type are looked at (https://hl7.org/fhir/R4/http.html#summary).
 * A shape outside this table is no path of the API: 404 without credentials being read. Requests and the entries of
 * batches and transactions are read by the same table.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { type ErrorCode, fail } from '../base/errors.ts';
import type { InteractionName } from './context.ts';

export interface FhirTarget {
  readonly shape: 'system' | 'metadata' | 'type' | 'search' | 'instance' | 'history' | 'version';
  readonly type: string;
  readonly id: string;
  readonly versionId: string;
}

/** A type name as R4 spells them; whether the type exists is said only to callers with credentials. */
const typePattern = /^[A-Z][A-Za-z]{2,40}$/;
/** R4's id characters and the encoded bar of foreign ids (`CHG%7C1722`), which exist in links of other services. */
const idPattern = /^[A-Za-z0-9\-.]{1,64}$/;

/** The target of the segments after `/fhir/v2`, or undefined when they have no meaning. */
export function fhirTarget(segments: readonly string[]): FhirTarget | undefined {
  const [first = '', second, third, fourth] = segments;
  const target = (shape: FhirTarget['shape'], id = '', versionId = ''): FhirTarget => ({
    shape,
    type: first,
    id,
    versionId,
  });
  if (segments.length === 0) return target('system');
  if (segments.length === 1 && first === 'metadata') return target('metadata');
  if (!typePattern.test(first)) return undefined;
  if (second === undefined || (second === '' && segments.length === 2)) return target('type');
  if (segments.length === 2 && second === '_search') return target('search');
  if (!idPattern.test(second) || /^\.+$/.test(second)) return undefined;
  if (third === undefined) return target('instance', second);
  if (third !== '_history') return undefined;
  if (fourth === undefined) return target('history', second);
  return segments.length === 4 && idPattern.test(fourth) ? target('version', second, fourth) : undefined;
}

/** An interaction, or a batch or transaction of them, which stands above `dispatch`. */
export type TargetName = InteractionName | 'bundle';

/** Shape → method → interaction; HEAD is GET without a body (RFC 9110 §9.3.2). */
const methods: Readonly<Record<FhirTarget['shape'], Readonly<Record<string, TargetName>>>> = {
  system: { POST: 'bundle' },
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
  instance: { GET: 'read', HEAD: 'read', PUT: 'update', PATCH: 'patch', DELETE: 'delete' },
  history: { GET: 'history-instance', HEAD: 'history-instance' },
  version: { GET: 'vread', HEAD: 'vread' },
};

const served: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/**
 * The interaction of a method on a target.
 * @throws PraxisError `type-unknown`, `method-not-allowed` (with Allow)
 */
export function interactionOf(target: FhirTarget, method: string): TargetName {
  if (target.type !== '' && !served.has(target.type)) {
    fail('type-unknown', { diagnostics: `${target.type} is not a resource type with an endpoint in FHIR R4` });
  }
  const name = methods[target.shape][method];
  if (name !== undefined) return name;
  const allow = Object.keys(methods[target.shape]).join(', ');
  const code: ErrorCode = 'method-not-allowed';
  return fail(code, {
    diagnostics: allow === '' ? 'Nothing is served at this path' : `This path takes ${allow}`,
    headers: { allow },
  });
}
