/**
 * Discriminators: how it is told which slice an element belongs to.
 *
 * https://hl7.org/fhir/R4/profiling.html#discriminator
 */
import { findValueSetCodings, isSubtypeOf } from '@praxis/fhir';
import { buildResourceNode, type ElementNode, isPlainObject, listNamedNodes } from './element-node.ts';
import { blankElement, type ProfileElement, type ProfileType, type Slicing } from './profile.ts';
import { resolveReference } from './resolve.ts';
import { conforms, findTargetType, hasFailed, makeTrial, type Run, stripVersion } from './run.ts';

/** 'silent': the slice says nothing about it. 'unknown': what would tell is outside of the resource. */
type Answer = boolean | 'silent' | 'unknown';

/** Whether an element belongs to a slice: every discriminator that the slice speaks of fits, and it speaks of one. */
export function belongsTo(
  run: Run,
  slice: ProfileElement,
  { discriminators }: Slicing,
  node: ElementNode,
): boolean | 'unknown' {
  if (discriminators.length === 0) return satisfies(run, slice, node);
  const answers = discriminators.map(({ type, path }) => answer(run, type, stepsOf(path), slice, node));
  if (answers.includes(false)) return false;
  if (answers.includes('unknown')) return 'unknown';
  return answers.includes(true);
}

function answer(run: Run, kind: string, steps: readonly string[], slice: ProfileElement, node: ElementNode): Answer {
  const nodes = steps.reduce<readonly ElementNode[]>((at, step) => at.flatMap((each) => stepNode(each, step)), [node]);
  const rules = steps.reduce<readonly ProfileElement[]>(
    (at, step) => at.flatMap((each) => stepRule(run, each, step)),
    [slice],
  );
  switch (kind) {
    case 'exists':
      return exists(rules, nodes.length > 0);
    case 'type':
      return hasType(rules, nodes);
    case 'profile':
      return hasProfile(run, rules, nodes);
    default: // value, pattern
      return hasValue(run, rules, nodes);
  }
}

function exists(rules: readonly ProfileElement[], isThere: boolean): Answer {
  if (rules.some(({ max }) => max === 0)) return !isThere;
  return rules.some(({ min }) => min > 0) ? isThere : 'silent';
}

function hasType(rules: readonly ProfileElement[], nodes: readonly ElementNode[]): Answer {
  const types = rules.flatMap((rule) => rule.types ?? []);
  if (types.length === 0) return 'silent';
  return nodes.some((node) => types.some(({ code }) => isSubtypeOf(node.type, code)));
}

function hasProfile(run: Run, rules: readonly ProfileElement[], nodes: readonly ElementNode[]): Answer {
  const urls = rules.flatMap((rule) => rule.types ?? []).flatMap(({ profiles }) => profiles);
  if (urls.length === 0) return 'silent';
  if (nodes.some(isOutside)) return 'unknown';
  const profiles = urls.flatMap((url) => run.profiles.get(url) ?? []);
  return nodes.some((node) => profiles.some((profile) => conforms(run, profile, node)));
}

function hasValue(run: Run, rules: readonly ProfileElement[], nodes: readonly ElementNode[]): Answer {
  const telling = rules.filter(prescribes);
  if (telling.length === 0) return 'silent';
  if (nodes.some(isOutside)) return 'unknown';
  return nodes.some((node) => telling.some((rule) => satisfies(run, rule, node)));
}

/** Whether the snapshot prescribes a value here or further inside. What slices it has are rules of their own. */
function prescribes(rule: ProfileElement): boolean {
  if (rule.fixed !== undefined || rule.pattern !== undefined || rule.binding?.strength === 'required') return true;
  return [...rule.children.values()].some((child) => prescribes(child) || child.slices.some(prescribes));
}

function satisfies(run: Run, rule: ProfileElement, node: ElementNode): boolean {
  const trial = makeTrial(run);
  run.check(trial, rule, node);
  return (
    !hasFailed(trial) &&
    trial.bindings.every(({ strength, valueSet, codes }) => {
      const codings = strength === 'required' ? findValueSetCodings(stripVersion(valueSet)) : undefined;
      if (codings === undefined) return true;
      return codes.some(({ system, code }) =>
        system === undefined ? [...codings.values()].some((each) => each.has(code)) : codings.get(system)?.has(code),
      );
    })
  );
}

/** A resource of which only the type is known stands for one outside. */
function isOutside({ parent, value }: ElementNode): boolean {
  return parent === undefined && isPlainObject(value) && Object.keys(value).length === 1;
}

/** "code.coding.code", "extension('http://…').value", "resolve().code", "$this" → its steps. */
function stepsOf(path: string): readonly string[] {
  const steps = path.match(/[^.(]+(\([^)]*\))?/g) ?? [];
  return steps.filter((step) => step !== '$this');
}

const extensionStep = /^extension\(\s*['"](.*)['"]\s*\)$/;
const typeStep = /^(?:ofType|as)\(\s*(?:FHIR\.)?(\w+)\s*\)$/;

function stepNode(node: ElementNode, step: string): readonly ElementNode[] {
  if (isOutside(node)) return [node];
  if (step === 'resolve()') {
    const resource = resolveReference(node, node.value);
    const found = resource === undefined ? undefined : buildResourceNode(resource);
    return found === undefined ? [] : [found];
  }
  const [, url] = extensionStep.exec(step) ?? [];
  if (url !== undefined) {
    return listNamedNodes(node, 'extension').filter(({ value }) => isPlainObject(value) && value.url === url);
  }
  const [, type] = typeStep.exec(step) ?? [];
  if (type !== undefined) return isSubtypeOf(node.type, type) ? [node] : [];
  return listNamedNodes(node, step);
}

/** What the snapshot says of a step from an element, also where it goes on in the profile of the element's type. */
function stepRule(run: Run, rule: ProfileElement, step: string): readonly ProfileElement[] {
  if (typeStep.test(step)) return [rule];
  if (step === 'resolve()') return (rule.types ?? []).flatMap((type) => targetRules(run, type));
  const [, url] = extensionStep.exec(step) ?? [];
  if (url !== undefined) {
    const slices = rule.children.get('extension')?.slices ?? [];
    return slices.filter(({ types }) =>
      types?.some(({ profiles }) => profiles.some((each) => stripVersion(each) === url)),
    );
  }
  const child = rule.children.get(step);
  const inherited = (rule.types ?? [])
    .flatMap(({ profiles }) => profiles)
    .flatMap((canonical) => run.profiles.get(canonical)?.root ?? extensionRoot(canonical))
    .flatMap(({ children }) => children.get(step) ?? []);
  return [...(child === undefined ? [] : [child]), ...inherited].flatMap((each) => [each, ...each.slices]);
}

function targetRules(run: Run, { targets }: ProfileType): readonly ProfileElement[] {
  return targets.flatMap((canonical) => {
    const profile = run.profiles.get(canonical);
    const type = findTargetType(run, canonical);
    if (type === undefined) return [];
    const types = [{ code: type, profiles: profile === undefined ? [] : [canonical], targets: [] }];
    return [{ ...(profile?.root ?? blankElement), types }];
  });
}

/** Of an extension whose definition is not known here at least the url is. */
function extensionRoot(canonical: string): ProfileElement {
  const url: ProfileElement = { ...blankElement, name: 'url', fixed: stripVersion(canonical) };
  return { ...blankElement, children: new Map([['url', url]]) };
}
