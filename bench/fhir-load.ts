// What loading the FHIR tables costs a server at its start, and what extracting search values costs a write.
//   node --expose-gc bench/fhir-load.ts
// "start": importing the package. "everything": besides, every type parsed and every search parameter of every type
// compiled, which a server does step by step as types are used. Heap is what stays after a collection; resident memory
// includes what Node needs to strip the types of the sources and what is not collected yet.
import { readFileSync } from 'node:fs';

const extractionRounds = 20_000;
const targetMs = 150;
const targetMegabytes = 40;

collectGarbage();
const before = process.memoryUsage();
const startedMs = performance.now();
const fhir = await import('@praxis/fhir');
const importedMs = performance.now();
const afterImport = used(before);

let parameters = 0;
for (const type of fhir.resourceTypes) {
  for (const parameter of fhir.getSearchParameters(type).values()) {
    parameters += 1;
    if (parameter.components !== undefined) fhir.compileCompositeExtractor(type, parameter);
    else if (parameter.expression !== undefined) fhir.compileExtractor(type, parameter.expression);
  }
}
const compiledMs = performance.now();
report(`start (at most ${targetMs} ms, ${targetMegabytes} MB)`, importedMs - startedMs, afterImport);
report(
  `everything (${parameters} parameters of ${fhir.resourceTypes.length} types)`,
  compiledMs - startedMs,
  used(before),
);

// As a request has it.
const limits = { steps: Number.POSITIVE_INFINITY, bytes: 0, ms: Number.POSITIVE_INFINITY };
const steps = fhir.openBudget(limits, {
  now: () => performance.now(),
  nextSlice: async () => undefined,
  errorOf: ({ what }) => new Error(what),
});
const work = { what: 'Extracting', cheaper: '' };

for (const example of ['Patient-example', 'Appointment-example', 'Observation-blood-pressure', 'Encounter-f001']) {
  const file = new URL(`../node_modules/hl7.fhir.r4.examples/${example}.json`, import.meta.url);
  const resource: import('@praxis/fhir').JsonObject = JSON.parse(readFileSync(file, 'utf8'));
  const type = example.replace(/-.*/, '');
  const extractors = [...fhir.getSearchParameters(type).values()].flatMap(({ expression }) =>
    expression === undefined ? [] : [fhir.compileExtractor(type, expression)],
  );
  const extractAll = () => extractors.reduce((sum, extract) => sum + extract(resource, steps, work).length, 0);
  for (let round = 0; round < extractionRounds; round += 1) extractAll();
  const roundsMs = performance.now();
  for (let round = 0; round < extractionRounds; round += 1) extractAll();
  const microseconds = ((performance.now() - roundsMs) / extractionRounds) * 1000;
  console.log(`${example}: ${extractors.length} parameters, ${extractAll()} values in ${microseconds.toFixed(1)} µs`);
}

function collectGarbage(): void {
  globalThis.gc?.();
}

function used(from: NodeJS.MemoryUsage): { heapMegabytes: number; residentMegabytes: number } {
  const residentMegabytes = (process.memoryUsage().rss - from.rss) / 1e6;
  collectGarbage();
  return { heapMegabytes: (process.memoryUsage().heapUsed - from.heapUsed) / 1e6, residentMegabytes };
}

function report(what: string, ms: number, memory: ReturnType<typeof used>): void {
  console.log(
    `${what}: ${ms.toFixed(0)} ms, heap +${memory.heapMegabytes.toFixed(1)} MB, ` +
      `resident +${memory.residentMegabytes.toFixed(1)} MB`,
  );
}
