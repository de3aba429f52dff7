/**
 * Whether an element conforms to a profile: types, cardinality, fixed values and patterns, bindings, invariants, slices,
 * at every depth that the snapshot speaks of. mustSupport asks nothing of a resource.
 *
 * https://hl7.org/fhir/R4/profiling.html#resources
 */
import { type Invariant, isSubtypeOf } from '@praxis/fhir';
import { listBoundCodes } from './bindings.ts';
import { type ElementNode, listNamedNodes, type Plain } from './element-node.ts';
import { holds } from './fhirpath.ts';
import { findBroken, findUnevaluated, quoteValue } from './finding.ts';
import { comparePlain, equalsFixed, matchesPattern } from './fixed-values.ts';
import type { ProfileElement, ProfileType } from './profile.ts';
import { resolveReference } from './resolve.ts';
import { checkProfile, conforms, findTargetType, type Run, report } from './run.ts';
import { checkCount, checkSlices } from './slicing.ts';

/** Adds what keeps an element from being what the snapshot says of it and of everything inside. */
export function checkElement(run: Run, rule: ProfileElement, node: ElementNode): void {
  checkTypes(run, rule, node);
  checkValue(run, rule, node);
  const codes = rule.binding && listBoundCodes(node);
  if (rule.binding !== undefined && codes !== undefined)
    run.bindings.push({ path: node.path, profile: run.profile, ...rule.binding, codes });
  for (const invariant of rule.invariants) checkInvariant(run, invariant, node);
  for (const child of rule.children.values()) checkChild(run, child, node);
}

function checkChild(run: Run, rule: ProfileElement, parent: ElementNode): void {
  const nodes = listNamedNodes(parent, rule.name);
  checkCount(run, 'cardinality', rule, parent, nodes);
  for (const node of nodes) checkElement(run, rule, node);
  if (rule.slices.length > 0) checkSlices(run, rule, parent, nodes);
}

/**
 * Those of R4's base definitions are checked by @praxis/fhir. One that cannot be evaluated is a warning.
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
function checkInvariant({ findings, profile }: Run, invariant: Invariant, node: ElementNode): void {
  try {
    if (!holds(invariant.expression, node)) findBroken(findings, node.path, invariant, profile);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'the expression failed';
    findUnevaluated(findings, node.path, invariant.key, reason, profile);
  }
}

function checkTypes(run: Run, { types }: ProfileElement, node: ElementNode): void {
  if (types === undefined || node.parent === undefined) return;
  const fitting = types.filter(({ code }) => code.includes(':') || isSubtypeOf(node.type, code));
  if (fitting.length === 0) {
    const codes = types.map(({ code }) => code).join(' or ');
    report(run, 'type', node.path, `must be ${codes}: it is ${node.type}`);
    return;
  }
  checkTypeProfiles(run, fitting, node);
  if (node.type === 'Reference') checkTarget(run, fitting, node);
}

/** An element whose type names profiles conforms to one of them. Those that are not known here cannot be asked. */
function checkTypeProfiles(run: Run, types: readonly ProfileType[], node: ElementNode): void {
  if (types.some(({ profiles }) => profiles.length === 0)) return;
  const urls = types.flatMap(({ profiles }) => profiles);
  const known = urls.flatMap((url) => run.profiles.get(url) ?? []);
  const [only] = known;
  if (only === undefined || known.length < urls.length) return;
  if (known.length === 1) checkProfile(run, only, node);
  else if (!known.some((each) => conforms(run, each, node)))
    report(run, 'profile-match', node.path, `conforms to none of ${urls.join(', ')}`);
}

function checkTarget(run: Run, types: readonly ProfileType[], node: ElementNode): void {
  const targets = types.flatMap((type) => type.targets);
  if (targets.length === 0) return;
  const found = resolveReference(node, node.value)?.resourceType;
  if (typeof found !== 'string') return;
  const allowed = targets.map((url) => findTargetType(run, url));
  if (allowed.some((type) => type === undefined || isSubtypeOf(found, type))) return;
  const problem = `may refer to ${[...new Set(allowed)].join(' or ')}: it refers to a ${found}`;
  report(run, 'reference-target', node.path, problem);
}

function checkValue(run: Run, rule: ProfileElement, { value, path }: ElementNode): void {
  const { fixed, pattern, minValue, maxValue, maxLength } = rule;
  if (fixed !== undefined && !equalsFixed(value, fixed)) report(run, 'fixed', path, `must be ${quoteValue(fixed)}`);
  if (pattern !== undefined && !matchesPattern(value, pattern))
    report(run, 'pattern', path, `must have at least ${quoteValue(pattern)}`);
  if (isBeyond(value, minValue, -1)) report(run, 'min-value', path, `must be ${quoteValue(minValue)} or more`);
  if (isBeyond(value, maxValue, 1)) report(run, 'max-value', path, `must be ${quoteValue(maxValue)} or less`);
  if (maxLength !== undefined && typeof value === 'string' && value.length > maxLength)
    report(run, 'max-length', path, `may have ${maxLength} characters at most: it has ${value.length}`);
}

function isBeyond(value: Plain, bound: Plain | undefined, sign: -1 | 1): boolean {
  const order = bound === undefined ? undefined : comparePlain(value, bound);
  return order !== undefined && order * sign > 0;
}
