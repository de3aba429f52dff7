/**
 * What an entry of a batch or transaction asks for (https://hl7.org/fhir/R4/bundle.html#transaction): method and URL are
 * read by the table that reads requests, so an entry reaches what a request of its own would reach and nothing else.
 */
import { isJsonObject, type JsonObject } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import type { FhirCall, FhirRequest, InteractionContext, InteractionName } from '../engine/context.ts';
import { type FhirTarget, parseFhirTarget, requireIds, requireInteraction } from '../engine/fhir-target.ts';
import { suggestTarget } from '../engine/suggest-target.ts';
import { parseCriteria } from '../engine/write/criteria.ts';

type Preconditions = Pick<FhirRequest, 'ifMatch' | 'ifNoneMatch' | 'ifModifiedSince' | 'ifNoneExist'>;

export interface EntryRequest extends Preconditions, Pick<FhirCall, 'type' | 'id' | 'versionId' | 'compartment'> {
  /** Position in Bundle.entry. */
  readonly index: number;
  readonly fullUrl: string | undefined;
  readonly method: string;
  readonly interaction: InteractionName | 'operation';
  /** Name of the operation, without its `$`; '' for interactions. */
  readonly operation: string;
  /** Text after the `?` of the URL. */
  readonly query: string;
  readonly resource: JsonObject | undefined;
}

const carrying: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Reads an entry of a Bundle whose shell is valid.
 * @throws PraxisError `bundle-invalid`, `path-unknown`, `id-invalid`, `type-unknown`, `method-not-allowed`
 */
export function readEntry(context: InteractionContext, entry: JsonObject, index: number): EntryRequest {
  const { request, resource, fullUrl } = entry;
  if (!isJsonObject(request)) return fail('bundle-invalid', { diagnostics: 'request is missing: it says what to do' });
  const method = String(request.method); // the shell is valid, so both are there
  const { target, query } = readUrl(context, String(request.url));
  const { shape: _shape, ...place } = target;
  const interaction = requireInteraction(target, method);
  if (interaction === 'bundle') return refuseUrl('is empty: a batch or transaction cannot stand inside another');
  if (carrying.has(method) && !isJsonObject(resource) && interaction !== 'operation')
    fail('bundle-invalid', { diagnostics: `resource is missing: ${method} needs one` });
  return {
    index,
    fullUrl: text(fullUrl),
    method,
    interaction,
    ...place,
    query,
    resource: carrying.has(method) && isJsonObject(resource) ? resource : undefined,
    ifMatch: text(request.ifMatch),
    ifNoneMatch: text(request.ifNoneMatch),
    ifModifiedSince: text(request.ifModifiedSince),
    ifNoneExist: interaction === 'create' ? ifNoneExistOf(context, text(request.ifNoneExist), target.type) : undefined,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function readUrl(context: InteractionContext, url: string): { target: FhirTarget; query: string } {
  const local = withoutBase(context, url);
  const at = local.indexOf('?');
  const path = at < 0 ? local : local.slice(0, at);
  if (path === '' && at < 0) return refuseUrl('is empty: a batch or transaction cannot stand inside another');
  const target = parseFhirTarget(path === '' ? [] : path.split('/'));
  if (target === undefined)
    return fail('path-unknown', {
      diagnostics: `request.url must be Type, Type/id, Type?criteria, Type/id/_history or one of them with $operation${suggestTarget(path.split('/'))}`,
    });
  requireIds(target);
  if (target.shape === 'metadata') return refuseUrl('is metadata, which needs no rights: read it alone');
  if (searchShapes.has(target.shape)) return refuseUrl('ends in _search: in an entry, search by GET');
  return { target, query: at < 0 ? '' : local.slice(at + 1) };
}

const searchShapes: ReadonlySet<FhirTarget['shape']> = new Set([
  'search',
  'system-search',
  'compartment-search',
  'compartment-types-search',
]);

/** R4's URLs are relative to the base, also those of its examples that begin with a slash; absolute ones must be below it. */
function withoutBase({ baseUrl }: InteractionContext, url: string): string {
  if (url === baseUrl || url.startsWith(`${baseUrl}?`)) return url.slice(baseUrl.length);
  if (url.startsWith(`${baseUrl}/`)) return url.slice(baseUrl.length + 1);
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(url) || url.startsWith('//'))
    return refuseUrl('is of another server: use URLs relative to the base, such as Patient/1');
  return url.startsWith('/') ? url.slice(1) : url;
}

function refuseUrl(problem: string): never {
  return fail('bundle-invalid', { diagnostics: `request.url ${problem}` });
}

/** @throws PraxisError `bundle-invalid` */
function ifNoneExistOf({ baseUrl }: InteractionContext, sent: string | undefined, type: string): string | undefined {
  if (sent === undefined) return undefined;
  const diagnostics = `request.ifNoneExist must be criteria of ${type}, the type that is created, at this base`;
  return parseCriteria(sent, type, baseUrl) ?? fail('bundle-invalid', { diagnostics });
}
