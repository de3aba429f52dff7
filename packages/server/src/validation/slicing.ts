/**
 * Slices: which slice an element belongs to, and how many of each there may be.
 *
 * https://hl7.org/fhir/R4/profiling.html#slicing
 */
import { belongsTo } from './discriminator.ts';
import type { ElementNode } from './element-node.ts';
import type { ProfileElement, Slicing } from './profile.ts';
import { type Run, report } from './run.ts';

/** What a choice is sliced by when the snapshot does not say. */
const byType: Slicing = { discriminators: [{ type: 'type', path: '$this' }], rules: 'open', ordered: false };

/** The slice for everything that is in no other. */
const defaultSlice = '@default';

/** Adds what is wrong with the elements of one name as slices: each element, their number and their order. */
export function checkSlices(
  run: Run,
  { slices, slicing = byType }: ProfileElement,
  parent: ElementNode,
  nodes: readonly ElementNode[],
): void {
  const found = nodes.map((node) => ({ node, slice: findSlice(run, slices, slicing, node) }));
  for (const { node, slice } of found) {
    if (slice === undefined && slicing.rules === 'closed') {
      const names = slices.map(({ sliceName }) => sliceName).join(', ');
      report(run, 'slicing', node.path, `is in none of the slices ${names}, and others are not allowed`);
    } else if (slice !== undefined && slice !== 'unknown') run.check(run, slice, node);
  }
  const isCertain = found.every(({ slice }) => slice !== 'unknown');
  const sequence = found.map(({ slice }) => (typeof slice === 'object' ? slices.indexOf(slice) : -1));
  if (isCertain) checkOrder(run, slicing, nodes, sequence);
  const members = Map.groupBy(found, ({ slice }) => slice);
  for (const slice of slices) {
    const inside = (members.get(slice) ?? []).map(({ node }) => node);
    checkCount(run, 'slice', slice, parent, inside, isCertain);
    if (slice.slices.length > 0) checkSlices(run, slice, parent, inside);
  }
}

/** Undefined: in none. 'unknown': what would tell cannot be seen from here. */
function findSlice(run: Run, slices: readonly ProfileElement[], slicing: Slicing, node: ElementNode) {
  let isUnknown = false;
  for (const slice of slices) {
    if (slice.sliceName === defaultSlice) continue;
    const answer = belongsTo(run, slice, slicing, node);
    if (answer === true) return slice;
    isUnknown ||= answer === 'unknown';
  }
  return isUnknown ? ('unknown' as const) : slices.find(({ sliceName }) => sliceName === defaultSlice);
}

/** `sequence`: the number of the slice that each element is in, −1 for none. */
function checkOrder(
  run: Run,
  { rules, ordered }: Slicing,
  nodes: readonly ElementNode[],
  sequence: readonly number[],
): void {
  const lastSliced = sequence.findLastIndex((slice) => slice >= 0);
  let highest = -1;
  for (const [index, slice] of sequence.entries()) {
    const path = nodes[index]?.path ?? '';
    if (slice < 0 && rules === 'openAtEnd' && index < lastSliced)
      report(run, 'slice-order', path, 'is in no slice, so it must stand after all that are');
    if (slice >= 0 && ordered && slice < highest)
      report(run, 'slice-order', path, 'stands after an element of a later slice: slices are in order');
    highest = Math.max(highest, slice);
  }
}

/**
 * Adds that there are fewer elements of a name, or in a slice, than there must be, or more than there may be.
 * @param isCertain whether all of them are known
 */
export function checkCount(
  run: Run,
  kind: 'cardinality' | 'slice',
  { name, sliceName, min, max }: ProfileElement,
  parent: ElementNode,
  nodes: readonly ElementNode[],
  isCertain = true,
): void {
  const path = `${parent.path}.${name}`;
  const what = kind === 'slice' ? `the slice ${sliceName} ` : '';
  const count = nodes.length;
  if (count < min && isCertain) {
    const cardinality = `${min}..${max === Number.POSITIVE_INFINITY ? '*' : max}`;
    const counted = `there ${count === 1 ? 'is' : 'are'} ${count}`;
    report(run, `${kind}-min`, path, `${what}is required (cardinality ${cardinality}): ${counted}`);
  }
  if (count > max) {
    const problem = max === 0 ? 'is prohibited (0..0)' : `may occur ${max} times at most: there are ${count}`;
    report(run, `${kind}-max`, nodes[0]?.path ?? path, `${what}${problem}`);
  }
}
