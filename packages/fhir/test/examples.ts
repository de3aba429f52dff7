// The official R4 example instances for tests: every type but the six that hold the definitions themselves.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type JsonObject, parseJson } from '../src/index.ts';
import { isJsonObject } from '../src/json.ts';

const bulkDefinition = /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-/;
const folder = fileURLToPath(new URL('../../../node_modules/hl7.fhir.r4.examples/', import.meta.url));

export interface Example {
  readonly file: string;
  readonly type: string;
  readonly resource: JsonObject;
}

/** All examples, or those of a size, by file name, one at a time: together they take hundreds of megabytes. */
export function* examples(bytesMax = Number.POSITIVE_INFINITY): Generator<Example> {
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.json') || file === 'package.json' || bulkDefinition.test(file)) continue;
    if (statSync(folder + file).size > bytesMax) continue;
    const resource = readExample(file);
    yield { file, type: String(resource['resourceType']), resource };
  }
}

export function readExample(file: string): JsonObject {
  const resource = parseJson(readFileSync(folder + file, 'utf8'));
  if (!isJsonObject(resource)) throw new Error(`${file} holds no JSON object`);
  return resource;
}
