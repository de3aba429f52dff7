/**
 * A resource against profiles. Pure and synchronous: it runs where it can be stopped (validator-worker.ts), since expressions
 * of profiles may run for ever.
 *
 * https://hl7.org/fhir/R4/validation.html
 */
import type { BindingCheck } from './bindings.ts';
import { checkElement } from './conform.ts';
import {
  buildResourceNode,
  type ElementNode,
  isPlainObject,
  listChildNodes,
  type PlainObject,
} from './element-node.ts';
import { type Finding, find } from './finding.ts';
import { isAbsoluteUrl } from './named-profiles.ts';
import { listStatedProfiles } from './plain.ts';
import type { LoadedProfiles } from './profiles.ts';
import { checkProfile, type Run } from './run.ts';

export interface Examination {
  readonly findings: readonly Finding[];
  /** Codes to look up in value sets. */
  readonly bindings: readonly BindingCheck[];
}

/** What is found in a resource of a known type; `profiles`: canonicals that it has to conform to beside its own. */
export function examine(
  resource: PlainObject,
  profiles: readonly string[],
  { profiles: known, problems }: LoadedProfiles,
  findingsMax: number,
): Examination {
  const findings = { list: [], max: findingsMax };
  const run: Run = { findings, profiles: known, profile: '', bindings: [], check: checkElement };
  const root = buildResourceNode(resource);
  if (root === undefined) return { findings: [], bindings: [] };
  for (const canonical of profiles) {
    const profile = known.get(canonical);
    if (profile !== undefined) checkProfile(run, profile, root);
  }
  walk(run, root, problems);
  return { findings: findings.list, bindings: run.bindings };
}

function walk(run: Run, node: ElementNode, problems: ReadonlyMap<string, string>): void {
  if (run.findings.list.length >= run.findings.max) return;
  if (node.definition.kind === 'resource' && isPlainObject(node.value)) checkStated(run, node, node.value, problems);
  const url = extensionUrl(node);
  const extension = url === undefined ? undefined : run.profiles.get(url);
  if (extension !== undefined) checkProfile(run, extension, node);
  for (const child of listChildNodes(node)) walk(run, child, problems);
}

/** A profile that the resource itself claims to conform to, but that is not known here, is a warning. */
function checkStated(run: Run, node: ElementNode, resource: PlainObject, problems: ReadonlyMap<string, string>): void {
  for (const [index, canonical] of listStatedProfiles(resource).entries()) {
    const profile = run.profiles.get(canonical);
    if (profile !== undefined) checkProfile(run, profile, node);
    else {
      const problem = `conformance to ${canonical} was not checked: ${problems.get(canonical) ?? 'it was not loaded'}`;
      const path = `${node.path}.meta.profile[${index}]`;
      find(run.findings, 'profile-unknown', path, problem, undefined, 'warning');
    }
  }
}

/** Extensions inside of extensions have names instead of URLs. */
function extensionUrl({ type, value }: ElementNode): string | undefined {
  return type === 'Extension' && isPlainObject(value) && isAbsoluteUrl(value.url) ? value.url : undefined;
}
