/**
 * Slices: which slice an element belongs to, and how many of each there may be.
 *
 * https://hl7.org/fhir/R4/profiling.html#slicing
 */
import { belongsTo } from './discriminator.ts';
import { buildAbsentPath, type ElementNode } from './element-node.ts';
import { find } from './finding.ts';
import { formatCardinality, type ProfileElement, type Slicing } from './profile.ts';
import type { Run } from './run.ts';

/** What a choice is sliced by when the snapshot does not say. */
const byType: Slicing = { discriminators: [{ type: 'type', path: '$this' }], rules: 'open', ordered: false };

/** The slice for everything that is in no other. */
const defaultSlice = '@default';

/** Adds what is wrong with the elements of one name as slices: each element, their number and their order. */
export function checkSlices(
  run: Run,
  sliced: ProfileElement,
  parent: ElementNode,
  nodes: readonly ElementNode[],
  profile: string,
): void {
  const slicing = sliced.slicing ?? byType;
  const members = new Map<ProfileElement, ElementNode[]>();
  const sequence: number[] = [];
  let isCertain = true;
  for (const node of nodes) {
    const found = sliceOf(run, sliced, slicing, node);
    if (found === 'unknown') {
      isCertain = false;
      continue;
    }
    sequence.push(found === undefined ? -1 : sliced.slices.indexOf(found));
    if (found !== undefined) {
      members.set(found, [...(members.get(found) ?? []), node]);
      run.check(run, found, node, profile);
    } else if (slicing.rules === 'closed') {
      const names = sliced.slices.map(({ sliceName }) => sliceName).join(', ');
      find(
        run.findings,
        'slicing',
        node.path,
        `is in none of the slices ${names}, and others are not allowed`,
        profile,
      );
    }
  }
  checkOrder(run, slicing, nodes, sequence, profile);
  for (const slice of sliced.slices) {
    const inside = members.get(slice) ?? [];
    checkCount(run, slice, parent, inside, isCertain, profile);
    if (slice.slices.length > 0) checkSlices(run, slice, parent, inside, profile);
  }
}

/** Undefined: in none. 'unknown': what would tell cannot be seen from here. */
function sliceOf(
  run: Run,
  sliced: ProfileElement,
  slicing: Slicing,
  node: ElementNode,
): ProfileElement | 'unknown' | undefined {
  let isUnknown = false;
  for (const slice of sliced.slices) {
    if (slice.sliceName === defaultSlice) continue;
    const answer = belongsTo(run, slice, slicing, node);
    if (answer === true) return slice;
    isUnknown ||= answer === 'unknown';
  }
  return isUnknown ? 'unknown' : sliced.slices.find(({ sliceName }) => sliceName === defaultSlice);
}

/** `sequence`: the number of the slice that each element is in, −1 for none. */
function checkOrder(
  run: Run,
  { rules, ordered }: Slicing,
  nodes: readonly ElementNode[],
  sequence: readonly number[],
  profile: string,
): void {
  if (sequence.length < nodes.length) return;
  const lastSliced = sequence.findLastIndex((slice) => slice >= 0);
  let highest = -1;
  for (const [index, slice] of sequence.entries()) {
    const path = nodes[index]?.path ?? '';
    if (slice < 0 && rules === 'openAtEnd' && index < lastSliced) {
      find(run.findings, 'slice-order', path, 'is in no slice, so it must stand after all that are', profile);
    }
    if (slice >= 0 && ordered && slice < highest) {
      find(run.findings, 'slice-order', path, 'stands after an element of a later slice: slices are in order', profile);
    }
    highest = Math.max(highest, slice);
  }
}

function checkCount(
  run: Run,
  slice: ProfileElement,
  parent: ElementNode,
  nodes: readonly ElementNode[],
  isCertain: boolean,
  profile: string,
): void {
  const path = buildAbsentPath(parent, slice.name);
  const count = nodes.length;
  if (count < slice.min && isCertain) {
    const problem = `the slice ${slice.sliceName} is required (cardinality ${formatCardinality(slice)}): there ${count === 1 ? 'is' : 'are'} ${count}`;
    find(run.findings, 'slice-min', path, problem, profile);
  }
  if (count > slice.max) {
    const problem =
      slice.max === 0
        ? `the slice ${slice.sliceName} is prohibited (0..0)`
        : `the slice ${slice.sliceName} may occur ${slice.max} times at most: there are ${count}`;
    find(run.findings, 'slice-max', nodes[0]?.path ?? path, problem, profile);
  }
}
