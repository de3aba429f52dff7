/**
 * capabilities: the CapabilityStatement, derived from the registries (https://hl7.org/fhir/R4/http.html#capabilities).
 */
import {
  compartments,
  getSearchParameters,
  r4Version,
  resourceTypesWithEndpoint,
  type SearchParameter,
} from '@praxis/fhir';
import { type Disclosed, markServerWritten } from '../access/disclosure.ts';
import { ownRowParameters } from '../access/own-rows.ts';
import { listIncludes, listRevincludes } from '../search/includes/supported.ts';
import { isSearchable } from '../search/query/query.ts';
import { interactions } from './dispatch.ts';
import { listHooks } from './hooks.ts';
import { buildWebsocketUrl, websocketExtension } from './websocket-url.ts';
import { isWritable } from './write/read-only-types.ts';

export interface CapabilityFacts {
  /** FHIR base, absolute; the statement is the same for every well-formed firm but for this URL. */
  readonly baseUrl: string;
  /** Token endpoint of the environment's realm. */
  readonly tokenUrl: string;
  /** Whether browsers may call from elsewhere. */
  readonly cors: boolean;
  readonly softwareVersion: string;
  /** When this version was released, a FHIR date. */
  readonly date: string;
  /** For whoever calls: the search parameters of the firm's own that it may search by, by type. None: nobody known does. */
  readonly own?: ReadonlyMap<string, readonly SearchParameter[]>;
}

/** What the statement tells of an operation (operations/operation.ts declares them). */
export interface OperationFacts {
  readonly name: string;
  /** Canonical URL of its OperationDefinition. */
  readonly url: string;
  readonly levels: readonly ('system' | 'type' | 'instance')[];
  readonly types: readonly string[] | 'all';
}

/** The CapabilityStatement's JSON text. */
export function buildCapabilities(facts: CapabilityFacts, operations: readonly OperationFacts[]): Disclosed<string> {
  return markServerWritten(
    JSON.stringify({
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: facts.date,
      publisher: 'Praxis',
      kind: 'instance',
      instantiates: ['http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data'],
      software: { name: 'Praxis', version: facts.softwareVersion },
      implementation: { description: 'Praxis practice-management FHIR service', url: facts.baseUrl },
      fhirVersion: r4Version,
      format: ['application/fhir+json', 'json', 'application/fhir+xml', 'xml', 'application/fhir+ndjson'],
      patchFormat: ['application/json-patch+json', 'application/fhir+json'],
      rest: [
        {
          mode: 'server',
          extension: [{ url: websocketExtension, valueUri: buildWebsocketUrl(facts.baseUrl) }],
          documentation: integrity,
          security: security(facts),
          resource: resources(operations).map((resource) => withOwn(resource, facts.own)),
          interaction: ['transaction', 'batch', ...interactionNames.filter(isOfSystem)].map((code) => ({ code })),
          searchParam: commonParameters,
          operation: operationList(operations.filter(({ levels }) => levels.includes('system'))),
          compartment: [...compartments.keys()].map(compartmentUrl),
        },
      ],
    }),
  );
}

/** https://hl7.org/fhir/R4/http.html#conformance-rules */
const integrity =
  'Each change, and each transaction as a whole, is one database transaction. Resources are stored and returned as they were sent, but for id, versionId and lastUpdated; what cannot be stored so is refused. If-Match is honoured by update, patch and delete.';

function security(facts: CapabilityFacts): object {
  return {
    cors: facts.cors,
    service: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'OAuth' }] },
    ],
    // Not by the extension oauth-uris: it needs an authorization endpoint, and there is none. SMART's discovery tells the rest.
    description: `Every request carries a Bearer token and the x-api-key of the same application and flow. Tokens of clients are issued at ${facts.tokenUrl}`,
  };
}

const commonParameters = [
  { name: '_count', type: 'number', documentation: 'Rows of a page, clamped to the maximum of the type.' },
  { name: '_elements', type: 'string', documentation: 'Elements to return.' },
  { name: '_sort', type: 'string', documentation: 'Sort keys; a leading hyphen sorts downwards.' },
  { name: '_summary', type: 'token', documentation: 'count, true, text, data or false.' },
  { name: '_total', type: 'token', documentation: 'none or accurate.' },
];

let resourceList: readonly ResourceEntry[] | undefined;

interface ResourceEntry {
  readonly type: string;
  readonly searchParam: readonly object[];
}

function withOwn(entry: ResourceEntry, own: CapabilityFacts['own']): ResourceEntry {
  const parameters = own?.get(entry.type);
  if (parameters === undefined) return entry;
  return { ...entry, searchParam: [...entry.searchParam, ...parameters.map(entryOf)] };
}

function compartmentUrl(type: string): string {
  return `http://hl7.org/fhir/CompartmentDefinition/${type.charAt(0).toLowerCase()}${type.slice(1)}`;
}

/** Of the statement or of one type; nothing where there are none, since R4 JSON forbids empty arrays. */
function operationList(operations: readonly OperationFacts[]) {
  return operations.length === 0 ? undefined : operations.map(({ name, url }) => ({ name, definition: url }));
}

/** Those asked of the type or of its instances. */
function operationsOf(operations: readonly OperationFacts[], type: string): readonly OperationFacts[] {
  return operations.filter(
    ({ levels, types }) => levels.some((level) => level !== 'system') && (types === 'all' || types.includes(type)),
  );
}

/** What a client cannot guess. */
const documentation: Readonly<Record<string, string>> = {
  Binary:
    'A create without data answers a URL that takes one file within 300 seconds, by PUT and without any header (docs/integrate/documents.md).',
  DocumentReference:
    'A read gives attachments that lie here a URL that opens without any header for 300 seconds; rows of a search come without content.',
};

/** One entry a type; made at the first request, since it is the same for the life of the process. */
function resources(operations: readonly OperationFacts[]): readonly ResourceEntry[] {
  resourceList ??= resourceTypesWithEndpoint.map((type) => ({
    type,
    profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
    interaction: interactionCodes(type).map((code) => ({ code })),
    documentation: documentation[type],
    versioning: 'versioned',
    readHistory: true,
    updateCreate: isWritable(type) && !ownRowParameters.has(type),
    conditionalCreate: isWritable(type),
    conditionalRead: 'full-support',
    conditionalUpdate: isWritable(type),
    conditionalDelete: isWritable(type) ? 'single' : 'not-supported',
    referencePolicy: ['literal'],
    searchInclude: listIncludes(type),
    searchRevInclude: listRevincludes(type),
    searchParam: [...getSearchParameters(type).values()].filter((each) => isSearchable(each)).map(entryOf),
    operation: operationList(operationsOf(operations, type)),
    ...Object.assign({}, ...listHooks('capability', type)),
  }));
  return resourceList;
}

function interactionCodes(type: string): string[] {
  const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);
  return interactionNames.filter(
    (name) => !name.startsWith('conditional-') && !isOfSystem(name) && (isWritable(type) || !writes.has(name)),
  );
}

const interactionNames = Object.keys(interactions);

/** R4's codes of interactions with all types end so (https://hl7.org/fhir/R4/valueset-system-restful-interaction.html). */
function isOfSystem(name: string): boolean {
  return name.endsWith('-system');
}

function entryOf({ code, url, type, description }: SearchParameter): object {
  return { name: code, definition: url, type, documentation: description };
}
