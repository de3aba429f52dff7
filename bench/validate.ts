/**
 * Speed of what is checked on every write, structure and R4's invariants, on official R4 example instances, warmed up.
 * Usage: node bench/validate.ts [rounds]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { openBudget } from '../packages/fhir/src/budget.ts';
import { checkInvariants } from '../packages/fhir/src/invariants/check.ts';
import { type JsonObject, type JsonValue, parseJson } from '../packages/fhir/src/json.ts';
import { validateResource } from '../packages/fhir/src/validate.ts';

const folder = new URL('../node_modules/hl7.fhir.r4.examples/', import.meta.url);
const definitions =
  /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-|^package\.json$/;
const rounds = Number(process.argv[2] ?? 30);

interface Example {
  readonly name: string;
  /** Characters of the text without indentation. */
  readonly size: number;
  readonly resource: JsonValue;
}

function load(name: string): Example {
  const resource = parseJson(readFileSync(new URL(name, folder), 'utf8'));
  return { name, size: JSON.stringify(resource).length, resource };
}

const enough = 1e9;
const host = {
  now: () => performance.now(),
  nextSlice: async () => undefined,
  errorOf: ({ limit }: { limit: string }) => new Error(limit),
};

const checks: Readonly<Record<string, (resource: JsonValue) => void>> = {
  structure: (resource) => validateResource(resource),
  invariants: (resource) => {
    const budget = openBudget({ steps: enough, bytes: enough, ms: enough }, host);
    checkInvariants(resource as JsonObject, { severity: 'error', breachesMax: 100, budget });
  },
};

/** Microseconds for one pass over the examples: the median of the rounds. */
function measure(examples: readonly Example[], check: (resource: JsonValue) => void): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    for (const { resource } of examples) check(resource);
    return (performance.now() - start) * 1000;
  });
  return times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
}

const all = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && !definitions.test(name))
  .map(load)
  .filter(({ size }) => size <= 200_000);
const typical = all.filter(({ size }) => size >= 1_500 && size <= 2_500);

for (const [label, examples] of [
  ['all up to 200 kB', all],
  ['1.5 to 2.5 kB', typical],
] as const) {
  const kilobytes = examples.reduce((sum, { size }) => sum + size, 0) / 1000;
  for (const [what, check] of Object.entries(checks)) {
    measure(examples, check);
    const micros = measure(examples, check);
    console.log(
      `${what}, ${label}: ${examples.length} resources of ${(kilobytes / examples.length).toFixed(1)} kB · ` +
        `${(micros / examples.length).toFixed(1)} µs each · ${((2 * micros) / kilobytes).toFixed(1)} µs per 2 kB`,
    );
  }
}
