/**
 * One validation against profiles while it runs, and what its parts ask of each other.
 */
import { isSubtypeOf } from '@praxis/fhir';
import type { BindingCheck } from './bindings.ts';
import type { ElementNode } from './element-node.ts';
import { type Finding, type Findings, find, type ProfileRule } from './finding.ts';
import type { Profile, ProfileElement } from './profile.ts';

export interface Run {
  readonly findings: Findings;
  /** By canonical URL as it was asked for: all that were found. */
  readonly profiles: ReadonlyMap<string, Profile>;
  /** Canonical URL of the one whose rules are checked; '': none yet. */
  readonly profile: string;
  /** Codes to look up in value sets afterwards. */
  readonly bindings: BindingCheck[];
  /** Adds what keeps an element from being what a snapshot says of it and of everything inside (conform.ts). */
  readonly check: (run: Run, rule: ProfileElement, node: ElementNode) => void;
}

/** Adds what a rule of the run's profile finds; the problem is a sentence without the path. */
export function report(
  run: Run,
  rule: ProfileRule,
  path: string,
  problem: string,
  severity?: Finding['severity'],
): void {
  find(run.findings, rule, path, problem, run.profile, severity);
}

/** Adds what keeps an element from conforming to a profile. */
export function checkProfile(run: Run, profile: Profile, node: ElementNode): void {
  const inside = { ...run, profile: profile.url };
  if (isSubtypeOf(node.type, profile.type)) return run.check(inside, profile.root, node);
  const problem = `must be a ${profile.type} to conform to the profile: it is a ${node.type}`;
  report(inside, 'profile-type', node.path, problem);
}

/** Whether an element conforms to a profile; nothing is added. */
export function conforms(run: Run, profile: Profile, node: ElementNode): boolean {
  const trial = makeTrial(run);
  checkProfile(trial, profile, node);
  return !hasFailed(trial);
}

/** The same with an account of its own, for finding out whether something conforms. */
export function makeTrial(run: Run): Run {
  return { ...run, findings: { list: [], max: 1, errorsOnly: true }, bindings: [] };
}

/** Whether a trial found an error. */
export function hasFailed({ findings }: Run): boolean {
  return findings.list.length > 0;
}

const baseTypePrefix = 'http://hl7.org/fhir/StructureDefinition/';

/** The resource type of a target profile; undefined when the profile is not known here. */
export function findTargetType(run: Run, canonical: string): string | undefined {
  const profile = run.profiles.get(canonical);
  if (profile !== undefined) return profile.type;
  const url = stripVersion(canonical);
  const name = url.startsWith(baseTypePrefix) ? url.slice(baseTypePrefix.length) : '';
  return isSubtypeOf(name, 'Resource') ? name : undefined;
}

/** A canonical without its version. */
export function stripVersion(canonical: string): string {
  const bar = canonical.indexOf('|');
  return bar < 0 ? canonical : canonical.slice(0, bar);
}
