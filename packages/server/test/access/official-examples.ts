/** The official example instances of R4 (npm hl7.fhir.r4.examples). */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const folder = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r4.examples/package.json'));
/** Thousands of names, by type; read once. */
const files = Map.groupBy(
  readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted(),
  (file) => file.slice(0, file.indexOf('-')),
);

export interface Example {
  readonly file: string;
  readonly text: string;
}

/** The examples of a type, by file name; at most `limit`. */
export function examplesOf(type: string, limit = Number.POSITIVE_INFINITY): readonly Example[] {
  return (files.get(type) ?? [])
    .slice(0, limit)
    .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));
}
