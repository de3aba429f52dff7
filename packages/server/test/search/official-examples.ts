/**
 * The official example instances of R4 (npm hl7.fhir.r4.examples, CC0), without the six types that its definitions fill.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type JsonObject, parseJson, resourceTypesWithEndpoint } from '@praxis/fhir';

const directory = new URL('../../../../node_modules/hl7.fhir.r4.examples/', import.meta.url);

/** Types of which the package holds hundreds of definitions rather than examples. */
const definitionTypes: ReadonlySet<string> = new Set([
  'CodeSystem',
  'ConceptMap',
  'OperationDefinition',
  'SearchParameter',
  'StructureDefinition',
  'ValueSet',
]);

/** All examples with an id and an endpoint; of several with the same type and id the first. */
export function officialExamples(): readonly JsonObject[] {
  const examples = new Map<string, JsonObject>();
  for (const name of readdirSync(directory)) {
    const type = /^([A-Za-z]+)-.*\.json$/.exec(name)?.[1];
    if (type === undefined || definitionTypes.has(type)) continue;
    const resource = parseJson(readFileSync(new URL(name, directory), 'utf8'), limits) as JsonObject;
    const key = `${resource['resourceType']}/${resource['id']}`;
    if (!resourceTypesWithEndpoint.includes(String(resource['resourceType'])) || typeof resource['id'] !== 'string')
      continue;
    if (!examples.has(key)) examples.set(key, resource);
  }
  return [...examples.values()];
}

const limits = { depthMax: 64, arrayLengthMax: 200_000, stringLengthMax: 50_000_000 };
