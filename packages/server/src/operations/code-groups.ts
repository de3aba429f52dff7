/**
 * Which codes are one, as $lastn groups by them (https://hl7.org/fhir/R4/observation-operation-lastn.html): codings of the
 * same system and code are equal, the codings of one concept are equal to each other, and so on transitively; concepts
 * without codings are equal by their text.
 */
import type { JsonObject } from '@praxis/fhir';
import { listElements } from '../terminology/elements.ts';

/** For each CodeableConcept the number of its group; equal numbers: the same group. */
export function groupConcepts(concepts: readonly JsonObject[]): readonly number[] {
  const parents: number[] = [];
  const holders = new Map<string, number>();
  for (const [index, concept] of concepts.entries()) {
    parents.push(index);
    for (const key of keysOf(concept)) {
      const holder = holders.get(key);
      if (holder === undefined) holders.set(key, index);
      else parents[rootOf(parents, index)] = rootOf(parents, holder);
    }
  }
  return concepts.map((_concept, index) => rootOf(parents, index));
}

function rootOf(parents: number[], index: number): number {
  let root = index;
  for (let parent = parents[root]; parent !== undefined && parent !== root; parent = parents[root]) root = parent;
  parents[index] = root;
  return root;
}

function keysOf({ coding, text }: JsonObject): readonly string[] {
  const codings = listElements(coding).filter((each) => typeof each.code === 'string');
  if (codings.length > 0) return codings.map(({ system, code }) => JSON.stringify([system ?? '', code ?? '']));
  return [JSON.stringify([typeof text === 'string' ? text : null])];
}
