/**
 * An entry as a call of `dispatch`: what HTTP carries in headers and body, an entry carries in its request and resource.
 */
import { JsonError, type JsonObject, type JsonValue, parseJson } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import type { FhirCall, PatchDocument, Preferences } from '../engine/context.ts';
import { parseParameters } from '../search/query/query-string.ts';
import type { Charging } from './bundle-rate.ts';
import type { EntryRequest } from './entry-request.ts';

export interface CallOptions {
  readonly prefer: Preferences;
  /** The resource with its links replaced; absent: as it was sent. */
  readonly resource?: JsonObject;
  /** Replaces links in a JSON Patch. */
  readonly patchLinks?: (document: JsonValue) => JsonValue;
  readonly newId?: string;
  /** Counts what the entry costs; absent: it is counted already. */
  readonly charging?: Charging;
}

/** What an operation without parameters is sent. */
const noParameters: JsonObject = { resourceType: 'Parameters' };

/** The call that the entry makes, but for what it asks for. */
export function buildEntryCall(entry: EntryRequest, options: CallOptions): Omit<FhirCall, 'interaction'> {
  const { type, id, versionId, compartment, query, ifMatch, ifNoneMatch, ifModifiedSince, ifNoneExist } = entry;
  const place = { type, id, versionId, compartment };
  const preconditions = { ifMatch, ifNoneMatch, ifModifiedSince, ifNoneExist };
  const { prefer, newId } = options;
  const resource = options.resource ?? entry.resource ?? (entry.interaction === 'operation' ? noParameters : null);
  return {
    ...place,
    open: async () => ({
      ...place,
      ...preconditions,
      parameters: parseParameters(query),
      body: async () => resource,
      patch: async () => patchOf(resource, options.patchLinks ?? ((document) => document)),
      prefer,
      ...(newId === undefined ? {} : { newId }),
    }),
  };
}

/** Parameters hold a FHIRPath Patch, a Binary holds a JSON Patch (https://hl7.org/fhir/R4/http.html#patch). */
function patchOf(resource: JsonObject | null, links: (document: JsonValue) => JsonValue): PatchDocument {
  if (resource?.resourceType !== 'Binary') return { kind: 'fhirpath-patch', document: resource };
  const { contentType, data } = resource;
  if (contentType !== jsonPatchType || typeof data !== 'string')
    fail('patch-invalid', { diagnostics: `A Binary that patches must have contentType ${jsonPatchType}, and data` });
  try {
    return { kind: 'json-patch', document: links(parseJson(Buffer.from(data, 'base64').toString('utf8'))) };
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    return fail('json-malformed', { diagnostics: `The data of the Binary: ${cause.message}`, cause });
  }
}

const jsonPatchType = 'application/json-patch+json';
