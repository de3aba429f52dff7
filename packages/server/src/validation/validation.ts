/**
 * A resource against everything that R4 and profiles ask of it: structure, invariants, profiles, bindings.
 *
 * https://hl7.org/fhir/R4/validation.html
 */
import {
  type Budget,
  type BudgetedWork,
  checkInvariantsInSlices,
  isJsonObject,
  isSubtypeOf,
  type JsonObject,
  type JsonValue,
  loadOfficialProfiles,
  validateResource,
} from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import type { TurnOf } from '../limits/fair-queue.ts';
import { findCanonicalUnit } from '../search/kinds/ucum.ts';
import { checkBindings, type ValueSetMembership } from './bindings.ts';
import { type Finding, type Findings, find, findBroken, findUnevaluated } from './finding.ts';
import { listNamedProfiles } from './named-profiles.ts';
import { loadProfiles, type ProfileLookup } from './profiles.ts';
import type { Validator } from './validator.ts';

export type { BoundCode, ValueSetMembership } from './bindings.ts';
export type { Finding } from './finding.ts';
export type { ProfileLookup } from './profiles.ts';
export { openValidator, type Validator } from './validator.ts';

export interface ValidationOptions {
  /** The resource type that is expected; any when absent. */
  readonly type?: string;
  /** Canonicals that the resource has to conform to, beside those in its meta.profile. */
  readonly profiles: readonly string[];
  /** Finds profiles that do not come with R4. */
  readonly lookup: ProfileLookup;
  readonly isMember: ValueSetMembership;
  /** For whom it is. */
  readonly of: TurnOf;
  /** Of the request. Expressions of profiles run in a thread that has limits of its own. */
  readonly budget: Budget;
}

/** Findings of one validation, at most; those after them are left out. */
export const findingsMax = 500;

/**
 * What is wrong with a resource or deserves a remark: structure first, then R4's own invariants as writes check them, then
 * profiles, each in the order of the elements.
 * @throws PraxisError `profile-unknown` for one of `profiles` that cannot be used, `too-costly`, and as `Validator.examine`
 */
export async function validate(
  validator: Validator,
  resource: JsonValue,
  options: ValidationOptions,
): Promise<readonly Finding[]> {
  const expected = options.type === undefined ? {} : { type: options.type };
  const structure = validateResource(resource, { ...expected, issuesMax: findingsMax, budget: options.budget }).map(
    ({ severity, code, path, rule, diagnostics }): Finding => ({ severity, code, path, rule, diagnostics }),
  );
  if (!isResource(resource, options.type)) return structure;
  await options.budget.turn(examining);
  const found = [
    ...(await findingsOfInvariants(resource, options.budget)),
    ...(await findingsOfProfiles(validator, resource, options)),
  ];
  const more = found.filter(({ path, code }) => !structure.some((same) => same.path === path && same.code === code));
  return [...structure, ...more].slice(0, findingsMax);
}

async function findingsOfInvariants(resource: JsonObject, budget: Budget): Promise<readonly Finding[]> {
  const findings: Findings = { list: [], max: findingsMax };
  const findUnit = (code: string) => findCanonicalUnit(code, budget);
  const options = { severity: 'all', breachesMax: findingsMax, budget, findUnit } as const;
  for (const { path, unevaluated, ...invariant } of await checkInvariantsInSlices(resource, options)) {
    if (unevaluated === undefined) findBroken(findings, path, invariant, undefined);
    else findUnevaluated(findings, path, invariant.key, unevaluated, undefined);
  }
  return findings.list;
}

const examining: BudgetedWork = { what: 'Checking the resource by its profiles', cheaper: 'send a smaller one' };

async function findingsOfProfiles(
  validator: Validator,
  resource: JsonObject,
  { profiles, lookup, isMember, of, budget }: ValidationOptions,
): Promise<readonly Finding[]> {
  await budget.turn(examining);
  const named = listNamedProfiles(resource);
  if (profiles.length === 0 && named.length === 0) return [];
  const loaded = await loadProfiles(await loadOfficialProfiles(), [...profiles, ...named], lookup);
  requireKnown(profiles, loaded.problems);
  const definitions = [...loaded.definitions];
  const task = { text: JSON.stringify(resource), profiles, named, definitions, findingsMax };
  const examination = await validator.examine(task, of);
  const findings = { list: [...(examination?.findings ?? [])], max: findingsMax };
  if (examination === undefined) {
    const problem = 'profiles were not checked: evaluating them takes longer than allowed';
    find(findings, 'too-costly', String(resource.resourceType), problem, undefined);
  }
  await checkBindings(findings, examination?.bindings ?? [], isMember);
  return findings.list;
}

function requireKnown(profiles: readonly string[], problems: ReadonlyMap<string, string>): void {
  for (const canonical of profiles) {
    const problem = problems.get(canonical);
    if (problem === undefined) continue;
    fail('profile-unknown', {
      diagnostics: `profile ${canonical.slice(0, 200)} cannot be validated against: ${problem}`,
      expression: ['profile'],
    });
  }
}

/** Whether there is a type to go by, and the one that is expected. */
function isResource(resource: JsonValue, expected: string | undefined): resource is JsonObject {
  const type = isJsonObject(resource) ? resource.resourceType : undefined;
  return typeof type === 'string' && isSubtypeOf(type, 'Resource') && (expected === undefined || type === expected);
}
