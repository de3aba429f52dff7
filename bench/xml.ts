/**
 * The cost of the XML format on a Patient of about 2 kB, in µs per resource and as a ratio to JSON.parse + JSON.stringify
 * of the same resource in the same run. Limit: 60 µs from JSON text to XML text. Run: node bench/xml.ts
 */
import { readFileSync } from 'node:fs';
import { type JsonObject, parseJson, parseXml, toXml } from '@praxis/fhir';

const limitMicros = 60;
const rounds = 9;
const callsPerRound = 5_000;

const example = new URL('../node_modules/hl7.fhir.r4.examples/Patient-example.json', import.meta.url);
const json = JSON.stringify(JSON.parse(readFileSync(example, 'utf8')));
const resource = parsed();
const xml = toXml(resource);
console.log(`JSON ${json.length} characters, XML ${xml.length}`);

/** What an answer costs that is sent: its bytes are counted, so that no work is left for later. */
const calls: readonly (readonly [name: string, call: () => number])[] = [
  ['JSON.parse + JSON.stringify', () => Buffer.byteLength(JSON.stringify(JSON.parse(json)))],
  ['lossless parse of JSON', () => Object.keys(parsed()).length],
  ['toXml', () => Buffer.byteLength(toXml(resource))],
  ['JSON text to XML text', () => Buffer.byteLength(toXml(parsed()))],
  ['JSON text to pretty XML text', () => Buffer.byteLength(toXml(parsed(), { pretty: true }))],
  ['parseXml', () => Object.keys(parseXml(xml)).length],
];

const best = calls.map(() => Number.POSITIVE_INFINITY);
for (let round = 0; round <= rounds; round++) {
  calls.forEach(([, call], index) => {
    const micros = timed(call);
    if (round > 0) best[index] = Math.min(best[index] ?? micros, micros); // the first round warms up
  });
}
const [floor = 1] = best;
calls.forEach(([name], index) => {
  const micros = best[index] ?? 0;
  console.log(`${name.padEnd(30)} ${micros.toFixed(1).padStart(7)} µs  ${(micros / floor).toFixed(2)}`);
});
if ((best[3] ?? 0) > limitMicros) {
  console.error(`JSON to XML takes more than ${limitMicros} µs`);
  process.exitCode = 1;
}

function timed(call: () => number): number {
  const start = performance.now();
  for (let index = 0; index < callsPerRound; index++) call();
  return ((performance.now() - start) * 1000) / callsPerRound;
}

function parsed(): JsonObject {
  const value = parseJson(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('the example is an object');
  return value as JsonObject;
}
