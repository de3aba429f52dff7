/**
 * The FHIRPath invariants of profiles. Those of R4's base definitions are checked by @praxis/fhir.
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
import type { Invariant } from '@praxis/fhir';
import type { ElementNode } from './element-node.ts';
import { holds } from './fhirpath.ts';
import { type Findings, findBroken, findUnevaluated } from './finding.ts';

/** Evaluates one invariant of a profile on an element. One that cannot be evaluated is a warning. */
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
    findUnevaluated(findings, node.path, invariant.key, reason, profile);
  }
}
