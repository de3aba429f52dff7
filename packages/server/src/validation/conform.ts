/**
 * Whether an element conforms to a profile: types, cardinality, fixed values and patterns, bindings, invariants, slices,
 * at every depth that the snapshot speaks of. mustSupport asks nothing of a resource.
 *
 * https://hl7.org/fhir/R4/profiling.html#resources
 */
import { isSubtypeOf } from '@praxis/fhir';
import { buildBindingCheck } from './bindings.ts';
import { buildAbsentPath, type ElementNode, listNamedNodes, type Plain } from './element-node.ts';
import { find, quoteValue } from './finding.ts';
import { comparePlain, equalsFixed, matchesPattern } from './fixed-values.ts';
import { checkInvariant } from './invariants.ts';
import { formatCardinality, type ProfileElement, type ProfileType } from './profile.ts';
import { resolveReference } from './resolve.ts';
import { checkProfile, conforms, findTargetType, type Run } from './run.ts';
import { checkSlices } from './slicing.ts';

/** Adds what keeps an element from being what the snapshot says of it and of everything inside. */
export function checkElement(run: Run, rule: ProfileElement, node: ElementNode, profile: string): void {
  checkTypes(run, rule, node, profile);
  checkValue(run, rule, node, profile);
  if (rule.binding !== undefined) {
    const check = buildBindingCheck(node, rule.binding, profile);
    if (check !== undefined) run.bindings.push(check);
  }
  for (const invariant of rule.invariants) checkInvariant(run.findings, invariant, node, profile);
  for (const child of rule.children.values()) checkChild(run, child, node, profile);
}

function checkChild(run: Run, rule: ProfileElement, parent: ElementNode, profile: string): void {
  const nodes = listNamedNodes(parent, rule.name);
  const path = buildAbsentPath(parent, rule.name);
  if (nodes.length < rule.min) {
    const problem = `is required (cardinality ${formatCardinality(rule)}): there ${nodes.length === 1 ? 'is' : 'are'} ${nodes.length}`;
    find(run.findings, 'cardinality-min', path, problem, profile);
  }
  if (nodes.length > rule.max) {
    const problem =
      rule.max === 0 ? 'is prohibited (0..0)' : `may occur ${rule.max} times at most: there are ${nodes.length}`;
    find(run.findings, 'cardinality-max', nodes[0]?.path ?? path, problem, profile);
  }
  for (const node of nodes) checkElement(run, rule, node, profile);
  if (rule.slices.length > 0) checkSlices(run, rule, parent, nodes, profile);
}

function checkTypes(run: Run, { types }: ProfileElement, node: ElementNode, profile: string): void {
  if (types === undefined || node.parent === undefined) return;
  const fitting = types.filter(({ code }) => code.includes(':') || isSubtypeOf(node.type, code));
  if (fitting.length === 0) {
    const codes = types.map(({ code }) => code).join(' or ');
    find(run.findings, 'type', node.path, `must be ${codes}: it is ${node.type}`, profile);
    return;
  }
  checkTypeProfiles(run, fitting, node, profile);
  if (node.type === 'Reference') checkTarget(run, fitting, node, profile);
}

/** An element whose type names profiles conforms to one of them. Those that are not known here cannot be asked. */
function checkTypeProfiles(run: Run, types: readonly ProfileType[], node: ElementNode, profile: string): void {
  if (types.some(({ profiles }) => profiles.length === 0)) return;
  const urls = types.flatMap(({ profiles }) => profiles);
  const known = urls.flatMap((url) => run.profiles.get(url) ?? []);
  const [only] = known;
  if (only === undefined || known.length < urls.length) return;
  if (known.length === 1) checkProfile(run, only, node);
  else if (!known.some((each) => conforms(run, each, node))) {
    find(run.findings, 'profile-match', node.path, `conforms to none of ${urls.join(', ')}`, profile);
  }
}

function checkTarget(run: Run, types: readonly ProfileType[], node: ElementNode, profile: string): void {
  const targets = types.flatMap((type) => type.targets);
  if (targets.length === 0) return;
  const found = resolveReference(node, node.value)?.resourceType;
  if (typeof found !== 'string') return;
  const allowed = targets.map((url) => findTargetType(run, url));
  if (allowed.some((type) => type === undefined || isSubtypeOf(found, type))) return;
  const problem = `may refer to ${[...new Set(allowed)].join(' or ')}: it refers to a ${found}`;
  find(run.findings, 'reference-target', node.path, problem, profile);
}

function checkValue(run: Run, rule: ProfileElement, node: ElementNode, profile: string): void {
  const { findings } = run;
  const { value, path } = node;
  if (rule.fixed !== undefined && !equalsFixed(value, rule.fixed)) {
    find(findings, 'fixed', path, `must be ${quoteValue(rule.fixed)}`, profile);
  }
  if (rule.pattern !== undefined && !matchesPattern(value, rule.pattern)) {
    find(findings, 'pattern', path, `must have at least ${quoteValue(rule.pattern)}`, profile);
  }
  if (isBeyond(value, rule.minValue, -1)) {
    find(findings, 'min-value', path, `must be ${quoteValue(rule.minValue)} or more`, profile);
  }
  if (isBeyond(value, rule.maxValue, 1)) {
    find(findings, 'max-value', path, `must be ${quoteValue(rule.maxValue)} or less`, profile);
  }
  if (rule.maxLength !== undefined && typeof value === 'string' && value.length > rule.maxLength) {
    find(
      findings,
      'max-length',
      path,
      `may have ${rule.maxLength} characters at most: it has ${value.length}`,
      profile,
    );
  }
}

function isBeyond(value: Plain, bound: Plain | undefined, sign: -1 | 1): boolean {
  if (bound === undefined) return false;
  const order = comparePlain(value, bound);
  return order !== undefined && order * sign > 0;
}
