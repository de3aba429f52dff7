/**
 * Expansion: all codes of a value set. https://hl7.org/fhir/R4/valueset.html#expansion
 */
import type { Budget, JsonObject, JsonValue } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import { type CodeSystem, type Concept, findConcept } from './code-system.ts';
import { type ComposePart, parseCompose, refuseValueSet } from './compose.ts';
import { type Definitions, describeValueSet, type Evaluated, findEvaluated, splitCanonical } from './definitions.ts';
import { type Effort, openValueSetEffort } from './effort.ts';
import { filterTest } from './filters.ts';

/** Codes that one expansion may go through, those of imported and excluded value sets counted too. */
export const expansionCodesMax = 20_000;
/** Concepts that are looked at between two looks at whether others should go on. */
const conceptsPerBreath = 64;
/** Value sets that import each other in a row. */
export const importDepthMax = 20;

export interface ExpansionOptions {
  /** Leaves out codes that their code system calls deprecated, retired or inactive. */
  readonly activeOnly?: boolean;
  /** Code systems (canonical URL without version) whose codes are left out. */
  readonly excludedSystems?: ReadonlySet<string>;
}

export interface ExpandedCoding {
  readonly system: string;
  readonly code: string;
  readonly display?: string;
  readonly designations: readonly JsonValue[];
  readonly isAbstract: boolean;
  readonly isInactive: boolean;
}

export interface Expansion {
  /** The ValueSet resource that was expanded. */
  readonly valueSet: JsonObject;
  readonly codings: readonly ExpandedCoding[];
}

/** By system and code. */
type Codings = Map<string, ExpandedCoding>;

interface Work {
  readonly definitions: Definitions;
  /** Value sets that were expanded on the way, by canonical. */
  readonly known: Map<string, Codings>;
  codes: number;
  readonly effort: Effort;
}

/** See `Terminology.expand`. */
export async function expandValueSet(
  budget: Budget,
  definitions: Definitions,
  valueSet: string | JsonObject,
  options: ExpansionOptions = {},
): Promise<Expansion> {
  const evaluated = await findEvaluated(definitions, valueSet);
  const effort = openValueSetEffort(budget, describeValueSet(evaluated.valueSet));
  const codings = await codingsOf({ definitions, known: new Map(), codes: 0, effort }, evaluated);
  const kept = [...codings.values()].filter(
    ({ isInactive, system }) => !(options.activeOnly && isInactive) && !options.excludedSystems?.has(system),
  );
  return { valueSet: evaluated.valueSet, codings: kept };
}

/** @throws PraxisError `value-set-invalid` when a value set imports itself */
export function requireNoCycle({ valueSet, path }: Evaluated, canonical: string, at: string): void {
  if (path.includes(canonical)) refuseValueSet(valueSet, `imports ${canonical}, which imports it: a cycle`, at);
  if (path.length >= importDepthMax) refuseValueSet(valueSet, `imports over more than ${importDepthMax} levels`, at);
}

async function codingsOf(work: Work, evaluated: Evaluated): Promise<Codings> {
  const compose = parseCompose(evaluated.valueSet, work.effort);
  const codings: Codings = new Map();
  for (const part of compose.include) {
    for (const [key, coding] of await partCodings(work, evaluated, part)) {
      if (!codings.has(key) && (compose.inactive || !coding.isInactive)) codings.set(key, coding);
    }
  }
  for (const part of compose.exclude) {
    for (const key of (await partCodings(work, evaluated, part)).keys()) codings.delete(key);
  }
  return codings;
}

/** What is in all that the part names: its system's codes and each of its value sets. */
async function partCodings(work: Work, evaluated: Evaluated, part: ComposePart): Promise<Codings> {
  const { valueSet, path } = evaluated;
  const sets: Codings[] = [];
  if (part.system !== undefined) sets.push(await systemCodings(work, valueSet, part, part.system));
  for (const canonical of part.valueSets) {
    requireNoCycle(evaluated, canonical, part.path);
    const known = work.known.get(canonical);
    const imported = known ?? (await codingsOf(work, await findEvaluated(work.definitions, canonical, path)));
    work.known.set(canonical, imported);
    sets.push(imported);
  }
  const [first, ...others] = sets;
  if (first === undefined) return refuseValueSet(valueSet, 'has a part with neither system nor valueSet', part.path);
  count(work, first.size, valueSet);
  work.effort.spend(first.size * sets.length);
  return new Map([...first].filter(([key]) => others.every((set) => set.has(key))));
}

async function systemCodings(work: Work, valueSet: JsonObject, part: ComposePart, canonical: string): Promise<Codings> {
  const system = await work.definitions.codeSystem(canonical);
  const [url] = splitCanonical(canonical);
  if (part.concepts.length > 0) return listedCodings(part, url, system);
  if (system === undefined) {
    return fail('code-system-unknown', {
      diagnostics: `The value set ${describeValueSet(valueSet)} takes codes from ${canonical}, a code system that is not loaded here`,
      expression: [part.path],
    });
  }
  const tests = part.filters.map((filter) => filterTest(valueSet, system, filter, work.effort));
  work.effort.spend(system.concepts.size * (tests.length + 1));
  const codings: Codings = new Map();
  let untilBreath = conceptsPerBreath;
  for (const concept of system.concepts.values()) {
    untilBreath--;
    if (untilBreath === 0) {
      untilBreath = conceptsPerBreath;
      await work.effort.breathe();
    }
    if (tests.every((test) => test(concept))) codings.set(keyOf(url, concept.code), codingOf(url, concept));
  }
  return codings;
}

function listedCodings(part: ComposePart, url: string, system: CodeSystem | undefined): Codings {
  return new Map(
    part.concepts.map(({ code, display, designations }) => {
      const concept = system && findConcept(system, code);
      const known = concept && codingOf(url, concept);
      const shown = display ?? known?.display;
      const coding = {
        system: url,
        code,
        ...(shown === undefined ? {} : { display: shown }),
        designations: [...designations, ...(known?.designations ?? [])],
        isAbstract: known?.isAbstract ?? false,
        isInactive: known?.isInactive ?? false,
      };
      return [keyOf(url, code), coding];
    }),
  );
}

function codingOf(system: string, { code, display, designations, isAbstract, isInactive }: Concept): ExpandedCoding {
  return { system, code, ...(display === undefined ? {} : { display }), designations, isAbstract, isInactive };
}

/** Neither a URI nor a code holds a line break. */
function keyOf(system: string, code: string): string {
  return `${system}\n${code}`;
}

function count(work: Work, codes: number, valueSet: JsonObject): void {
  work.codes += codes;
  if (work.codes <= expansionCodesMax) return;
  fail('expansion-too-costly', {
    diagnostics: `The value set ${describeValueSet(valueSet)} cannot be listed: more than ${expansionCodesMax} codes have to be gone through; ask about one code with $validate-code`,
  });
}
