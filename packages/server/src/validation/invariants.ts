/**
 * The FHIRPath invariants of R4's base definitions, evaluated on every element of a resource.
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
import { type DefinedRules, type Invariant, typeDefinition } from '@praxis/fhir';
import type { ElementNode } from './element-node.ts';
import { holds } from './fhirpath.ts';
import { type Findings, find, findBroken } from './finding.ts';
import { invariantErrata } from './invariant-errata.ts';

/** Invariants that the structure check of @praxis/fhir makes of its own accord, on every write: it is much faster. */
const checkedWithStructure: ReadonlySet<string> = new Set([
  'ele-1',
  'ext-1',
  'dom-2',
  'dom-3',
  'dom-4',
  'dom-5',
  'txt-1',
  'txt-2',
]);

/** Contained resources should have no narrative of their own (https://hl7.org/fhir/R4/narrative.html). */
const narrativeAdvice = 'dom-6';

const byNode = new Map<string, readonly Invariant[]>();

/** Evaluates the invariants that R4 declares for an element and for its type. */
export function checkInvariants(findings: Findings, rules: DefinedRules, node: ElementNode): void {
  const isContained = node.element?.name === 'contained';
  for (const invariant of invariantsOf(rules, node)) {
    if (isContained && invariant.key === narrativeAdvice) continue;
    checkInvariant(findings, invariant, node, undefined);
  }
}

/** Evaluates one invariant, of a profile where one is named. One that cannot be evaluated is a warning. */
export function checkInvariant(
  findings: Findings,
  invariant: Invariant,
  node: ElementNode,
  profile: string | undefined,
): void {
  try {
    if (!holds(invariant.expression, node)) findBroken(findings, node.path, invariant, profile);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'the expression failed';
    const problem = `the invariant ${invariant.key} could not be evaluated: ${reason}`;
    find(findings, 'invariant-unevaluated', node.path, problem, profile, 'warning');
  }
}

/** Those of the element as declared, of the declaration it shares ("see Questionnaire.item"), of its type and its bases. */
function invariantsOf(rules: DefinedRules, node: ElementNode): readonly Invariant[] {
  const path = node.element?.path ?? '';
  const key = `${path} ${node.type} ${node.definition.name}`;
  let found = byNode.get(key);
  if (found === undefined) {
    const paths = new Set([path, node.definition.name, ...lineage(node.type)]);
    found = [...paths].flatMap((each) => correctedAt(rules, each));
    byNode.set(key, found);
  }
  return found;
}

function lineage(type: string): string[] {
  const names: string[] = [];
  for (let at: string | undefined = type; at !== undefined; at = typeDefinition(at)?.base) names.push(at);
  return names;
}

function correctedAt(rules: DefinedRules, path: string): Invariant[] {
  return rules
    .invariantsAt(path)
    .filter(({ key, expression }) => !checkedWithStructure.has(key) && expression !== '')
    .flatMap((invariant) => {
      const erratum = invariantErrata.find((each) => each.key === invariant.key && each.path === path);
      if (erratum === undefined) return [invariant];
      return erratum.to === undefined ? [] : [{ ...invariant, expression: erratum.to }];
    });
}
