/**
 * A resource against the invariants of R4's base definitions: of its type, of all elements inside, of what it contains and of
 * the resources of a Bundle. Profiles are not part of it.
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
import { type Budget, type BudgetedWork, StepMeter } from '../budget.ts';
import { FhirPathError } from '../fhirpath/fhirpath-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { buildElementPath, type Place, stepInto } from '../validation/issue.ts';
import type { FindUnit } from './compare.ts';
import type { Evaluation } from './evaluation.ts';
import { type Item, makeResourceItem } from './item.ts';
import { type CompiledInvariant, type Member, type Plan, planMembers, planResource } from './plan.ts';

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
  /** What is left to be judged, the last first: a stack, so that others can go on between two of them. */
  readonly tasks: (() => void)[];
  readonly breaches: InvariantBreach[];
  readonly breachesMax: number;
  readonly severity: InvariantOptions['severity'];
  readonly evaluation: Evaluation;
  readonly meter: StepMeter;
}

/**
 * The invariants that a resource breaks, outer elements first, in the order of the resource. Of one whose structure is not
 * right the parts that fit the definitions are judged.
 * @throws Error of the budget
 */
export function checkInvariants(resource: JsonObject, options: InvariantOptions): InvariantBreach[] {
  const { tasks, breaches, meter } = begin(resource, options);
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) task();
  meter.settle();
  return breaches;
}

/** The same, letting others go on in between. @throws Error of the budget */
export async function checkInvariantsInSlices(resource: JsonObject, options: InvariantOptions) {
  const { tasks, breaches, meter } = begin(resource, options);
  for (let done = 1, task = tasks.pop(); task !== undefined; done += 1, task = tasks.pop()) {
    task();
    if (done % tasksPerBreath === 0) await options.budget.breathe(work);
  }
  meter.settle();
  return breaches;
}

/** Tasks between two looks at the clock: about a tenth of a millisecond. */
const tasksPerBreath = 64;

function begin(resource: JsonObject, { severity, breachesMax, findUnit, budget }: InvariantOptions): Run {
  const meter = new StepMeter(budget, work);
  const item = makeResourceItem(resource);
  // Without a known type there is nothing to judge by.
  const root: Item = item ?? { value: resource, sibling: undefined, type: '', definition: undefined };
  const evaluation: Evaluation = {
    resource: root,
    rootResource: root,
    context: root,
    bundles: [],
    remembered: new Map(),
    findUnit,
    spend: (steps) => meter.spend(steps),
  };
  const run: Run = { tasks: [], breaches: [], breachesMax, severity, evaluation, meter };
  if (item !== undefined) checkResource(run, item, { parent: undefined, name: item.type, index: -1 }, false);
  return run;
}

function checkResource(run: Run, item: Item, place: Place, isContained: boolean): void {
  const plan = planResource(item.type);
  if (plan === undefined || !isJsonObject(item.value)) return;
  const { evaluation } = run;
  const { resource, rootResource } = evaluation;
  evaluation.resource = item;
  if (!isContained) evaluation.rootResource = item;
  const isBundle = item.type === 'Bundle';
  if (isBundle) evaluation.bundles.push(item);
  run.tasks.push(() => {
    // After all that is in it.
    if (isBundle) evaluation.bundles.pop();
    evaluation.resource = resource;
    evaluation.rootResource = rootResource;
  });
  // Contained resources should have no narrative (https://hl7.org/fhir/R4/narrative.html).
  judge(run, plan, item, place, isContained ? 'dom-6' : undefined);
  checkMembers(run, plan, item.value, place);
}

function checkMembers(run: Run, { definition }: Plan, object: JsonObject, parent: Place): void {
  const members = planMembers(definition);
  const keys = Object.keys(object);
  run.evaluation.spend(keys.length);
  // The last first, so that the first is done first.
  for (let at = keys.length - 1; at >= 0; at -= 1) {
    const key = keys[at] ?? '';
    const member = members.get(key);
    const value = object[key];
    if (member === undefined || value === undefined) continue;
    if (!Array.isArray(value)) run.tasks.push(() => checkMember(run, member, value, object, parent));
    else if (member.repeats) {
      for (let index = value.length - 1; index >= 0; index -= 1)
        run.tasks.push(() => checkMember(run, member, value[index] ?? null, object, parent, index));
    }
  }
}

/** @param at its index, where it stands in an array */
function checkMember(run: Run, member: Member, value: JsonValue, owner: JsonObject, parent: Place, at = -1): void {
  if (run.breaches.length >= run.breachesMax) return;
  const { kind, plan, name, repeats } = member;
  const place = stepInto(parent, name, repeats ? at : -1);
  if (kind === 'resource' || kind === 'contained') {
    const item = makeResourceItem(value);
    if (item !== undefined) checkResource(run, item, place, kind === 'contained');
  } else if (kind === 'sibling') checkSibling(run, value, place);
  else if (plan !== undefined && kind === 'primitive') {
    const besides = owner[member.siblingName];
    const sibling = Array.isArray(besides) ? besides[at] : besides;
    if (typeof value === 'object' && value !== null) return;
    judge(run, plan, itemOf(plan, value, isJsonObject(sibling) ? sibling : undefined), place);
  } else if (plan !== undefined && isJsonObject(value)) {
    judge(run, plan, itemOf(plan, value, undefined), place);
    checkMembers(run, plan, value, place);
  }
}

/** Extensions of a primitive. */
function checkSibling(run: Run, value: JsonValue, place: Place): void {
  // Extensions of any element have the same.
  const definition = planResource('Basic')?.definition;
  const plan = definition && planMembers(definition).get('extension')?.plan;
  if (plan === undefined || !isJsonObject(value) || !Array.isArray(value['extension'])) return;
  const extensions = value['extension'];
  for (let index = extensions.length - 1; index >= 0; index -= 1) {
    const extension = extensions[index];
    if (isJsonObject(extension)) checkMembers(run, plan, extension, stepInto(place, 'extension', index));
  }
}

function itemOf({ type, definition }: Plan, value: JsonValue, sibling: JsonObject | undefined): Item {
  return { value, sibling, type, definition };
}

function judge(run: Run, plan: Plan, item: Item, place: Place, except?: string): void {
  const invariants = run.severity === 'error' ? plan.errors : plan.all;
  if (invariants.length === 0) return;
  run.evaluation.context = item;
  for (const invariant of invariants) {
    if (invariant.key === except || run.breaches.length >= run.breachesMax) continue;
    const { key, human, severity } = invariant;
    const result = evaluate(run, invariant, item);
    if (result === false) run.breaches.push({ key, severity, human, path: buildElementPath(place) });
    else if (typeof result === 'string' && run.severity === 'all')
      run.breaches.push({ key, severity: 'warning', human, path: buildElementPath(place), unevaluated: result });
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
