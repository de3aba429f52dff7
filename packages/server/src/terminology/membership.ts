/**
 * Whether one code is in a value set, decided without listing the set.
 * https://hl7.org/fhir/R4/valueset.html#compositions
 */
import type { Budget, JsonObject, JsonValue } from '@praxis/fhir';
import { type Concept, findConcept, type SystemCode } from './code-system.ts';
import { type ComposePart, parseCompose, refuseValueSet } from './compose.ts';
import { type Definitions, describeValueSet, type Evaluated, findEvaluated, splitCanonical } from './definitions.ts';
import { type Effort, openValueSetEffort } from './effort.ts';
import { requireNoCycle } from './expand.ts';
import { filterTest } from './filters.ts';

/** `undecided`: a code system that it depends on is not loaded here, or not all of it. */
export type Membership =
  | {
      readonly is: 'member';
      readonly system: string;
      readonly code: string;
      readonly display?: string;
      /** It only groups others: no value to be chosen, unless the context says so. */
      readonly isAbstract: boolean;
      readonly designations: readonly JsonValue[];
    }
  | { readonly is: 'not-member' }
  | { readonly is: 'undecided'; readonly system: string };

const notMember: Membership = { is: 'not-member' };

/** Value sets that one question may walk through. */
export const walkedMax = 1000;

interface Work {
  readonly definitions: Definitions;
  readonly coding: SystemCode;
  /** Answers on the way, by canonical. */
  readonly known: Map<string, Membership>;
  readonly effort: Effort;
}

/** See `Terminology.contains`. */
export async function checkMembership(
  budget: Budget,
  definitions: Definitions,
  valueSet: string | JsonObject,
  coding: SystemCode,
): Promise<Membership> {
  const evaluated = await findEvaluated(definitions, valueSet);
  const effort = openValueSetEffort(budget, describeValueSet(evaluated.valueSet));
  return inValueSet({ definitions, coding, known: new Map(), effort }, evaluated);
}

async function inValueSet(work: Work, evaluated: Evaluated): Promise<Membership> {
  const compose = parseCompose(evaluated.valueSet, work.effort);
  let found = notMember;
  for (const part of compose.include) {
    const membership = await inPart(work, evaluated, part);
    if (membership.is !== 'not-member') found = membership;
    if (membership.is === 'member') break;
  }
  if (found.is === 'member' && !compose.inactive && (await isInactive(work.definitions, found))) return notMember;
  for (const part of found.is === 'not-member' ? [] : compose.exclude) {
    // A code that was asked for without system is excluded only in the system that it was found in.
    const coding = found.is === 'member' ? { system: found.system, code: found.code } : work.coding;
    const excluded = await inPart({ ...work, coding }, evaluated, part);
    if (excluded.is === 'member') return notMember;
    if (excluded.is === 'undecided') found = excluded;
  }
  return found;
}

async function isInactive(definitions: Definitions, { system, code }: { system: string; code: string }) {
  const codeSystem = await definitions.codeSystem(system);
  return (codeSystem && findConcept(codeSystem, code)?.isInactive) ?? false;
}

/** In all that the part names. */
async function inPart(work: Work, evaluated: Evaluated, part: ComposePart): Promise<Membership> {
  const { valueSet } = evaluated;
  await work.effort.breathe();
  const answers: Membership[] = [];
  if (part.system !== undefined) answers.push(await inSystem(work, valueSet, part, part.system));
  for (const canonical of part.valueSets) {
    if (answers.some(({ is }) => is === 'not-member')) return notMember;
    answers.push(await inImported(work, evaluated, part, canonical));
  }
  const [first] = answers;
  if (first === undefined) return refuseValueSet(valueSet, 'has a part with neither system nor valueSet', part.path);
  return answers.find(({ is }) => is === 'not-member') ?? answers.find(({ is }) => is === 'undecided') ?? first;
}

async function inImported(work: Work, evaluated: Evaluated, part: ComposePart, canonical: string): Promise<Membership> {
  requireNoCycle(evaluated, canonical, part.path);
  const key = [canonical, work.coding.system ?? '', work.coding.code].join('\n');
  const known = work.known.get(key);
  if (known !== undefined) return known;
  if (work.known.size >= walkedMax)
    refuseValueSet(evaluated.valueSet, `imports more than ${walkedMax} value sets`, part.path);
  const answer = await inValueSet(work, await findEvaluated(work.definitions, canonical, evaluated.path));
  work.known.set(key, answer);
  return answer;
}

async function inSystem(
  { definitions, coding, effort }: Work,
  valueSet: JsonObject,
  part: ComposePart,
  canonical: string,
): Promise<Membership> {
  const [url] = splitCanonical(canonical);
  if (coding.system !== undefined && coding.system !== url) return notMember;
  const system = await definitions.codeSystem(canonical);
  const concept = system && findConcept(system, coding.code);
  effort.spend(1 + part.concepts.length);
  if (part.concepts.length > 0) {
    const listed = part.concepts.find(({ code }) => code === (concept?.code ?? coding.code));
    return listed === undefined ? notMember : member(url, { ...concept, ...listed });
  }
  if (system === undefined) return { is: 'undecided', system: url };
  if (concept === undefined) return system.isComplete ? notMember : { is: 'undecided', system: url };
  const passes = part.filters.every((filter) => filterTest(valueSet, system, filter, effort)(concept));
  return passes ? member(url, concept) : notMember;
}

function member(system: string, concept: Pick<Concept, 'code'> & Partial<Concept>): Membership {
  const { code, display, isAbstract = false, designations = [] } = concept;
  return { is: 'member', system, code, ...(display === undefined ? {} : { display }), isAbstract, designations };
}
