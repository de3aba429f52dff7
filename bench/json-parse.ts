/**
 * Speed of the lossless JSON parser beside JSON.parse, over the official R4 example instances, in one run.
 * Usage: node bench/json-parse.ts [rounds]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseJson } from '../packages/fhir/src/json.ts';

const folder = new URL('../node_modules/hl7.fhir.r4.examples/', import.meta.url);
const definitions =
  /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-|^package\.json$/;
const sizeMax = 200_000; // characters: what an API call carries; a few definition bundles of up to 35 MB are left out
const rounds = Number(process.argv[2] ?? 8);

const texts = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && !definitions.test(name))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'))
  .filter((text) => text.length <= sizeMax);
const compact = texts.map((text) => JSON.stringify(parseJson(text)));

/** Milliseconds for one pass over all texts, the best of the rounds; the two parsers take turns. */
function compare(inputs: readonly string[]): { native: number; lossless: number } {
  const best = { native: Number.POSITIVE_INFINITY, lossless: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round++) {
    best.native = Math.min(best.native, time(JSON.parse, inputs));
    best.lossless = Math.min(best.lossless, time(parseJson, inputs));
  }
  return best;
}

function time(parse: (text: string) => unknown, inputs: readonly string[]): number {
  const start = performance.now();
  for (const text of inputs) parse(text);
  return performance.now() - start;
}

for (const [label, inputs] of [
  ['as published', texts],
  ['compact', compact],
] as const) {
  const { native, lossless } = compare(inputs);
  const megabytes = inputs.reduce((sum, text) => sum + text.length, 0) / 1e6;
  console.log(
    `${label}: ${inputs.length} texts, ${megabytes.toFixed(1)} MB · JSON.parse ${((megabytes / native) * 1000).toFixed(0)} MB/s · ` +
      `parseJson ${((megabytes / lossless) * 1000).toFixed(0)} MB/s · ratio ${(native / lossless).toFixed(2)}`,
  );
}
