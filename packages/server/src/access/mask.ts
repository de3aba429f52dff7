/**
 * The field mask: the only way from stored content to what may be sent. Without a matching grant there is nothing to
 * send; with a grant on all elements the stored text passes as it is; otherwise the readable members are copied and the
 * resource is tagged SUBSETTED (https://hl7.org/fhir/R4/resource.html#Meta.tag, valueset-common-tags).
 *
 * The tag is added whether or not something was left out: it must not tell whether hidden elements exist.
 */
import type { Coding } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import {
  allowByElements,
  allowByFilter,
  type ElementAllowList,
  type ElementFilter,
  intersectAllowLists,
} from './allowed-elements.ts';
import { type Disclosed, getStoredText, markMasked, type Stored } from './disclosure.ts';
import type { Grant } from './grants.ts';
import { findMemberText, keepMembers, withMember } from './json-members.ts';
import { memoize } from './memoize.ts';
import type { AccessPolicy, Criterion, Permission } from './policy.ts';

export type { ElementFilter } from './allowed-elements.ts';

/** Whether a row meets a criterion. */
type RowTest = (criterion: Criterion) => boolean;

/**
 * What the caller may see of a resource, as JSON text; undefined: nothing, answer as if it did not exist.
 *
 * `r` and `s` are for whatever is read or found. `c` and `u` are for the answer to a create or PUT alone, whose content
 * the caller has just sent whole, whatever elements it may change (PATCH answers under `r` or `s`).
 * @param matches whether the resource meets a row criterion; asked only where grants have criteria
 * @param filter what the caller asked to leave out; pass one object for all rows of an answer
 * @throws PraxisError `internal` when the content is of another type
 */
export function disclose(
  policy: AccessPolicy,
  letter: Permission,
  type: string,
  content: Stored,
  matches: RowTest,
  filter: ElementFilter = {},
): Disclosed<string> | undefined {
  const readable = readableMembers(policy, letter, type, matches);
  if (readable === undefined) return undefined;
  const text = getStoredText(content);
  requireType(text, type);
  const wanted = allowByFilter(type, filter);
  if (readable === 'all') return markMasked(wanted ? subset(text, wanted) : text);
  return markMasked(subset(text, wanted ? intersectAllowLists(readable, wanted) : readable));
}

/** Whether some grant of the letter covers a row; for writes, asked of the row before and after. */
export function coversRow(policy: AccessPolicy, letter: Permission, type: string, matches: RowTest): boolean {
  return policy.grants(type, letter).some((grant) => covers(grant, matches));
}

function covers(grant: Grant, matches: RowTest): boolean {
  return grant.criteria.every((criterion) => matches(criterion));
}

/** The members that the grants covering the row open together; undefined when none covers it. */
function readableMembers(
  policy: AccessPolicy,
  letter: Permission,
  type: string,
  matches: RowTest,
): 'all' | ElementAllowList | undefined {
  let readable: ElementAllowList | undefined;
  for (const grant of policy.grants(type, letter)) {
    if (!covers(grant, matches)) continue;
    if (grant.elements === 'all' || letter === 'c' || letter === 'u') return 'all';
    const members = membersOf(type, grant, grant.elements);
    readable = readable ? new Map([...readable, ...members]) : members;
  }
  return readable;
}

const membersByGrant = new WeakMap<Grant, ElementAllowList>();

function membersOf(type: string, grant: Grant, elements: ReadonlySet<string>): ElementAllowList {
  return memoize(membersByGrant, grant, () => allowByElements(type, elements));
}

/**
 * Whether the grants of a write letter that cover the row let a top-level member be written, `_` siblings included;
 * undefined when none covers it. `id` is nobody's to write. `meta` is written by those whose grants name it or reach
 * all elements.
 */
export function compileWritable(
  policy: AccessPolicy,
  letter: 'c' | 'u',
  type: string,
  matches: RowTest,
): ((member: string) => boolean) | undefined {
  const covering = policy.grants(type, letter).filter((grant) => covers(grant, matches));
  if (covering.length === 0) return undefined;
  return (member) => covering.some((grant) => writes(grant, type, member));
}

function writes(grant: Grant, type: string, member: string): boolean {
  if (grant.elements === 'all') return true;
  if (member === 'meta' || member === '_meta') return grant.elements.has(`${type}.meta`);
  return member !== 'id' && member !== 'resourceType' && membersOf(type, grant, grant.elements).has(member);
}

/** A mask made for one type must not be laid on another. */
function requireType(text: string, type: string): void {
  if (text.startsWith(`{"resourceType":"${type}"`)) return;
  if (findMemberText(text, 'resourceType') === `"${type}"`) return;
  fail('internal', { diagnostics: 'A stored resource is of another type than asked for', log: { type } });
}

const subsettedSystem = 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue';
const subsettedTag = JSON.stringify({ system: subsettedSystem, code: 'SUBSETTED' });

function subset(text: string, kept: ElementAllowList): string {
  return tagSubsetted(keepMembers(text, kept));
}

/** The JSON text of a resource of which something was left out, tagged so. */
export function tagSubsetted(left: string): string {
  const meta = findMemberText(left, 'meta') ?? '{}';
  return withMember(left, 'meta', withMember(meta, 'tag', taggedSubset(findMemberText(meta, 'tag') ?? '[]')));
}

/** The tags with SUBSETTED among them once. */
function taggedSubset(tags: string): string {
  if (tags.includes('SUBSETTED') && holdsSubsetted(JSON.parse(tags))) return tags;
  const inner = tags.slice(1, tags.lastIndexOf(']')).trim();
  return inner === '' ? `[${subsettedTag}]` : `[${inner},${subsettedTag}]`;
}

function holdsSubsetted(tags: unknown): boolean {
  return (
    Array.isArray(tags) &&
    tags.some((tag: Coding | null) => tag?.code === 'SUBSETTED' && tag.system === subsettedSystem)
  );
}
