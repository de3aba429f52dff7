/**
 * Validation of R4 resources against the definitions: unknown elements, cardinality, JSON types, formats of primitives,
 * choices, `_` siblings, extensions, references and their targets, contained resources, required bindings, narrative.
 * Invariants written in FHIRPath and profiles are not part of it.
 *
 * https://hl7.org/fhir/R4/validation.html
 */
import { type Budget, type StepBudget, StepMeter } from './budget.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { findUnreferenced } from './validation/contained.ts';
import { type Place, type Run, report, type ValidationIssue } from './validation/issue.ts';
import { isResourceType } from './validation/resource-types.ts';
import { buildResourceScope, isObject, type ResourceScope } from './validation/scope.ts';
import { checkResource, checkResourceInParts, validating } from './validation/walk.ts';

export type { ValidationIssue, ValidationRule } from './validation/issue.ts';

export interface ValidationOptions {
  /** The resource type that is expected; any when absent. */
  readonly type?: string;
  /** Issues reported, at most; the validation ends with the last of them. */
  readonly issuesMax?: number;
  /** Spent by a step for each element; absent: nobody outside chose the resource, or an operator did. */
  readonly budget?: StepBudget;
}

export const issuesMaxDefault = 100;

/**
 * What is wrong with a resource, in the order of its elements; [] when it is valid. Pure.
 * A value set without listed codes (media types, UCUM) does not bind.
 * Nesting is not limited here: parseJson does that.
 * @throws Error of the host of `budget` when its steps are used up
 */
export function validateResource(resource: JsonValue, options: ValidationOptions = {}): ValidationIssue[] {
  const meter = options.budget === undefined ? undefined : new StepMeter(options.budget, validating);
  const issues = check(resource, options, { meter });
  meter?.settle();
  return issues;
}

/** As `validateResource`, with a budget that is a whole one. Others go on while a large resource is looked at. */
export async function validateInSlices(
  resource: JsonValue,
  options: ValidationOptions & { readonly budget: Budget },
): Promise<ValidationIssue[]> {
  const meter = new StepMeter(options.budget, validating);
  const { run, place } = open(resource, options, { meter });
  if (run.issues.length === 0) {
    const parts = checkResourceInParts(run, resource, place);
    while (parts.next().done !== true) await options.budget.breathe(validating);
  }
  meter.settle();
  return run.issues;
}

/**
 * Places in `contained` of what nothing refers to (dom-3), and of what only such resources refer to; none where so much else is
 * wrong with the resource that its validation ends early. In linear time.
 */
export function findUnusedContained(resource: JsonObject, type: string): ReadonlySet<number> {
  const contained = Array.isArray(resource.contained) ? resource.contained : [];
  let unused: ReadonlySet<number> = new Set();
  const onRead = (scope: ResourceScope): void => {
    unused = findUnreferenced(contained, scope);
  };
  check(resource, { type }, { meter: undefined, onRead });
  return unused;
}

function check(
  resource: JsonValue,
  options: ValidationOptions,
  more: Pick<Run, 'meter' | 'onRead'>,
): ValidationIssue[] {
  const { run, place } = open(resource, options, more);
  if (run.issues.length === 0) checkResource(run, resource, place);
  return run.issues;
}

/** The account of a validation; an issue in it: the resource is of another type than expected, and is not looked into. */
function open(resource: JsonValue, options: ValidationOptions, more: Pick<Run, 'meter' | 'onRead'>) {
  const { type, issuesMax = issuesMaxDefault } = options;
  const run: Run = { issues: [], issuesMax, full: false, scope: buildResourceScope({}, undefined), ...more };
  const actual = isObject(resource) && typeof resource.resourceType === 'string' ? resource.resourceType : undefined;
  const name = type ?? (actual !== undefined && isResourceType(actual) ? actual : 'Resource');
  const place: Place = { parent: undefined, name, index: -1 };
  if (type !== undefined && actual !== undefined && actual !== type) {
    const problem = `must be a resource of type ${type}: resourceType is ${JSON.stringify(actual.slice(0, 64))}`;
    report(run, 'resource-type', place, problem);
  }
  return { run, place };
}
