/**
 * capabilities: the CapabilityStatement, derived from the registries (https://hl7.org/fhir/R4/http.html#capabilities).
 */
import { r4Version, resourceTypesWithEndpoint, searchParametersOf } from '@praxis/fhir';
import { type Disclosed, serverWritten } from '../access/disclosure.ts';
import { isSearchable } from '../search/query.ts';
import { interactions } from './dispatch.ts';
import { isWritable } from './writable.ts';

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
}

/** The CapabilityStatement's JSON text. */
export function capabilities(facts: CapabilityFacts): Disclosed<string> {
  return serverWritten(
    JSON.stringify({
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: facts.date,
      publisher: 'Praxis',
      kind: 'instance',
      software: { name: 'Praxis', version: facts.softwareVersion },
      implementation: { description: 'Praxis practice-management FHIR service', url: facts.baseUrl },
      fhirVersion: r4Version,
      format: ['application/fhir+json', 'json', 'application/fhir+xml', 'xml'],
      patchFormat: ['application/json-patch+json', 'application/fhir+json'],
      rest: [
        {
          mode: 'server',
          security: security(facts),
          resource: resources(),
          interaction: [{ code: 'transaction' }, { code: 'batch' }],
          searchParam: commonParameters,
        },
      ],
    }),
  );
}

function security(facts: CapabilityFacts): object {
  return {
    cors: facts.cors,
    service: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'OAuth' }] },
    ],
    description: 'Every request carries a Bearer token and the x-api-key of the same application and flow.',
    extension: [
      {
        url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
        extension: [{ url: 'token', valueUri: facts.tokenUrl }],
      },
    ],
  };
}

const commonParameters = [
  { name: '_count', type: 'number', documentation: 'Rows of a page, clamped to the maximum of the type.' },
  { name: '_elements', type: 'string', documentation: 'Elements to return.' },
  { name: '_sort', type: 'string', documentation: 'Sort keys; a leading hyphen sorts downwards.' },
  { name: '_summary', type: 'token', documentation: 'count, true, text, data or false.' },
  { name: '_total', type: 'token', documentation: 'none or accurate.' },
];

let resourceList: readonly object[] | undefined;

/** One entry a type; made at the first request, since it is the same for the life of the process. */
function resources(): readonly object[] {
  resourceList ??= resourceTypesWithEndpoint.map((type) => ({
    type,
    profile: `http://hl7.org/fhir/StructureDefinition/${type}`,
    interaction: interactionCodes(type).map((code) => ({ code })),
    versioning: 'versioned',
    readHistory: true,
    updateCreate: isWritable(type),
    conditionalCreate: isWritable(type),
    conditionalRead: 'full-support',
    conditionalUpdate: isWritable(type),
    conditionalDelete: isWritable(type) ? 'single' : 'not-supported',
    referencePolicy: ['literal'],
    searchParam: searchParameters(type),
  }));
  return resourceList;
}

function interactionCodes(type: string): string[] {
  const writes: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);
  return Object.keys(interactions).filter(
    (name) => !name.startsWith('conditional-') && (isWritable(type) || !writes.has(name)),
  );
}

function searchParameters(type: string): object[] {
  return [...searchParametersOf(type).values()]
    .filter((parameter) => isSearchable(parameter))
    .map((parameter) => ({
      name: parameter.code,
      definition: parameter.url,
      type: parameter.type,
      documentation: parameter.description,
    }));
}
