/**
 * A resource against the invariants of R4's base definitions: of its type, of all elements inside, of what it contains and of
 * the resources of a Bundle. Profiles are not part of it.
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
import { type Budget, type BudgetedWork, StepMeter } from '../budget.ts';
import { FhirPathError } from '../fhirpath/fhirpath-error.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { type Place, pathOf } from '../validation/issue.ts';
import type { FindUnit } from './compare.ts';
import type { Evaluation } from './evaluation.ts';
import { type Item, isObject, resourceItem } from './item.ts';
import { type CompiledInvariant, type Member, membersOf, type Plan, resourcePlan } from './plan.ts';

/** An invariant that does not hold at an element. */
export interface InvariantBreach {
  /** 'obs-6'. */
  readonly key: string;
  readonly severity: 'error' | 'warning';
  /** FHIRPath of the element: 'Patient.contact[0]'. */
  readonly path: string;
  /** R4's words for the invariant. */
  readonly human: string;
  /** Why it could not be evaluated: then nothing is known to be wrong, and the severity is warning. */
  readonly unevaluated?: string;
}

export interface InvariantOptions {
  /** 'error': those of severity warning are not evaluated. */
  readonly severity: 'error' | 'all';
  /** Breaches that are told, at most: the check ends with the last of them. */
  readonly breachesMax: number;
  /** What it may cost: about one step per element, and per value that an invariant reads. */
  readonly budget: Budget;
  /** For quantities in different units of UCUM; absent: they are not compared. */
  readonly findUnit?: FindUnit;
}

const work: BudgetedWork = {
  what: "Checking R4's invariants on the resource",
  cheaper: 'send a smaller resource, or split it',
};

/** One check while it runs. */
interface Run {
  readonly breaches: InvariantBreach[];
  readonly breachesMax: number;
  readonly severity: InvariantOptions['severity'];
  readonly evaluation: Evaluation;
}

/**
 * The invariants that a resource breaks, outer elements first, in the order of the resource. Of one whose structure is not
 * right the parts that fit the definitions are judged.
 * @throws Error of the budget
 */
export function checkInvariants(resource: JsonObject, options: InvariantOptions): InvariantBreach[] {
  const item = resourceItem(resource);
  if (item === undefined) return [];
  const { severity, breachesMax, budget, findUnit } = options;
  const meter = new StepMeter(budget, work);
  const evaluation: Evaluation = {
    resource: item,
    rootResource: item,
    context: item,
    bundles: [],
    remembered: new Map(),
    findUnit,
    spend: (steps) => meter.spend(steps),
  };
  const run: Run = { breaches: [], breachesMax, severity, evaluation };
  checkResource(run, item, { parent: undefined, name: item.type, index: -1 }, false);
  meter.settle();
  return run.breaches;
}

function checkResource(run: Run, item: Item, place: Place, isContained: boolean): void {
  const plan = resourcePlan(item.type);
  if (plan === undefined || !isObject(item.value)) return;
  const { evaluation } = run;
  const { resource, rootResource } = evaluation;
  evaluation.resource = item;
  if (!isContained) evaluation.rootResource = item;
  const isBundle = item.type === 'Bundle';
  if (isBundle) evaluation.bundles.push(item);
  // Contained resources should have no narrative (https://hl7.org/fhir/R4/narrative.html).
  judge(run, plan, item, place, isContained ? 'dom-6' : undefined);
  checkMembers(run, plan, item.value, place);
  if (isBundle) evaluation.bundles.pop();
  evaluation.resource = resource;
  evaluation.rootResource = rootResource;
}

function checkMembers(run: Run, { definition }: Plan, object: JsonObject, parent: Place): void {
  const members = membersOf(definition);
  const keys = Object.keys(object);
  run.evaluation.spend(keys.length);
  for (const key of keys) {
    const member = members.get(key);
    const value = object[key];
    if (member === undefined || value === undefined || run.breaches.length >= run.breachesMax) continue;
    if (!Array.isArray(value)) checkMember(run, member, value, object, parent, -1);
    else if (member.repeats) checkEntries(run, member, value, object, parent);
  }
}

function checkEntries(run: Run, member: Member, values: readonly JsonValue[], owner: JsonObject, parent: Place): void {
  for (let index = 0; index < values.length; index += 1) {
    if (run.breaches.length >= run.breachesMax) return;
    checkMember(run, member, values[index] ?? null, owner, parent, index);
  }
}

function checkMember(
  run: Run,
  member: Member,
  value: JsonValue,
  owner: JsonObject,
  parent: Place,
  index: number,
): void {
  const { kind, plan, name, repeats } = member;
  const place: Place = { parent, name, index: repeats ? index : -1 };
  if (kind === 'resource' || kind === 'contained') {
    const item = resourceItem(value);
    if (item !== undefined) checkResource(run, item, place, kind === 'contained');
  } else if (kind === 'sibling') checkSibling(run, value, place);
  else if (plan !== undefined && kind === 'primitive') {
    const besides = owner[member.siblingName];
    const sibling = Array.isArray(besides) ? besides[index] : besides;
    if (typeof value === 'object' && value !== null) return;
    judge(run, plan, itemOf(plan, value, isObject(sibling) ? sibling : undefined), place, undefined);
  } else if (plan !== undefined && isObject(value)) {
    judge(run, plan, itemOf(plan, value, undefined), place, undefined);
    checkMembers(run, plan, value, place);
  }
}

/** Extensions of a primitive. */
function checkSibling(run: Run, value: JsonValue, place: Place): void {
  const plan = extensionPlan();
  if (plan === undefined || !isObject(value) || !Array.isArray(value['extension'])) return;
  for (const [index, extension] of value['extension'].entries())
    if (isObject(extension)) checkMembers(run, plan, extension, { parent: place, name: 'extension', index });
}

/** That of the extensions of any element. */
function extensionPlan(): Plan | undefined {
  const definition = resourcePlan('Basic')?.definition;
  return definition === undefined ? undefined : membersOf(definition).get('extension')?.plan;
}

function itemOf({ type, definition }: Plan, value: JsonValue, sibling: JsonObject | undefined): Item {
  return { value, sibling, type, definition };
}

function judge(run: Run, plan: Plan, item: Item, place: Place, except: string | undefined): void {
  const invariants = run.severity === 'error' ? plan.errors : plan.all;
  if (invariants.length === 0) return;
  run.evaluation.context = item;
  for (const invariant of invariants) {
    if (invariant.key === except || run.breaches.length >= run.breachesMax) continue;
    const { key, human, severity } = invariant;
    const result = evaluate(run, invariant, item);
    if (result === false) run.breaches.push({ key, severity, human, path: pathOf(place) });
    else if (typeof result === 'string' && run.severity === 'all')
      run.breaches.push({ key, severity: 'warning', human, path: pathOf(place), unevaluated: result });
  }
}

/** A text: why it cannot be told. What an invariant speaks of is not there when it is undefined. */
function evaluate({ evaluation }: Run, { test }: CompiledInvariant, item: Item): boolean | string | undefined {
  try {
    return test(item, evaluation);
  } catch (error) {
    if (!(error instanceof FhirPathError)) throw error;
    return error.message;
  }
}
