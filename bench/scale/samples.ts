/**
 * Resources of a firm that arguments of searches are taken from: the practice is made again as it was loaded, and of each
 * type some are kept, evenly drawn.
 */
import type { JsonValue } from '../../packages/fhir/src/json.ts';
import { generatePractice, type SyntheticResource } from '../../packages/server/src/synthetic/practice.ts';
import { openRandom } from '../../packages/server/src/synthetic/random.ts';
import { changedMs, type DataSet, seed } from './data-set.ts';

export interface Sample {
  readonly resource: SyntheticResource;
  /** Its meta.lastUpdated. */
  readonly changedMs: number;
}

/** Samples by type. */
export type Samples = ReadonlyMap<string, readonly Sample[]>;

/** Resources of each type that are kept of a firm, at most. */
const keptMax = 40;

/** The samples of each firm of the data set, in their order. */
export function samplesOf(set: DataSet): readonly Samples[] {
  return set.members.map(({ prefix, name, timeZone }) => {
    const options = { seed, firm: prefix, name, timeZone, patients: set.patientsPerFirm, todayMs: set.todayMs };
    return draw(generatePractice(options), set, prefix);
  });
}

/** Reservoir sampling: each resource of a type is kept with the same chance. */
function draw(resources: Iterable<SyntheticResource>, set: DataSet, name: string): Samples {
  const random = openRandom(seed, 'samples', name);
  const kept = new Map<string, Sample[]>();
  const seen = new Map<string, number>();
  let number = 0;
  for (const resource of resources) {
    const { resourceType } = resource;
    const place = seen.get(resourceType) ?? 0;
    seen.set(resourceType, place + 1);
    const list = kept.get(resourceType) ?? [];
    kept.set(resourceType, list);
    const slot = place < keptMax ? place : random.integer(0, place);
    if (slot < keptMax) list[slot] = { resource, changedMs: changedMs(set, number) };
    number += 1;
  }
  return kept;
}

/** The text or number at a path of the resource; throws where there is none. */
export function textAt({ resource }: Sample, ...path: readonly (string | number)[]): string {
  let value: JsonValue | undefined = resource;
  for (const step of path) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  }
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new Error(`${resource.resourceType}/${resource.id} has no ${path.join('.')}`);
}

/** The id that a reference at a path ends in. */
export function idAt(sample: Sample, ...path: readonly (string | number)[]): string {
  return textAt(sample, ...path, 'reference').replace(/^.*\//, '');
}
