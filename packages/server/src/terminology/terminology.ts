/**
 * The terminology that a caller can use: the code systems and value sets of R4 (@praxis/fhir) and, through a callback, the
 * firm's own ValueSet and CodeSystem resources. Made per request: what the callback found is remembered as long as it lives.
 *
 * https://hl7.org/fhir/R4/terminologies-systems.html · https://hl7.org/fhir/R4/terminology-service.html
 */
import type { Budget, JsonObject } from '@praxis/fhir';
import { findConcept, listAncestors, listDescendants, type SystemCode } from './code-system.ts';
import { type Definitions, openDefinitions, type TerminologyLookup } from './definitions.ts';
import { openCodeSystemEffort } from './effort.ts';
import { type Expansion, type ExpansionOptions, expandValueSet } from './expand.ts';
import { checkMembership, type Membership } from './membership.ts';

export { type CodeSystem, type Concept, findConcept, readCodeSystem, type SystemCode } from './code-system.ts';
export type { TerminologyKind, TerminologyLookup } from './definitions.ts';
export { openCodeSystemEffort } from './effort.ts';
export type { ExpandedCoding, Expansion, ExpansionOptions } from './expand.ts';
export type { Membership } from './membership.ts';

export interface Terminology extends Definitions {
  /**
   * All codes of a value set with their displays, in the order of its definition, each once.
   * @throws PraxisError `value-set-unknown`, `code-system-unknown`, `value-set-invalid`, `expansion-too-costly`, `too-costly`
   */
  expand(valueSet: string | JsonObject, options?: ExpansionOptions): Promise<Expansion>;

  /**
   * Whether `coding` is in the value set. Never expands what is only asked about, so it also answers for value sets that
   * are too large to expand. Without `system` any system will do.
   * @throws PraxisError `value-set-unknown`, `value-set-invalid`, `too-costly`
   */
  contains(valueSet: string | JsonObject, coding: SystemCode): Promise<Membership>;

  /**
   * The codes that the search modifiers `:in` and `:not-in` stand for (https://hl7.org/fhir/R4/search.html#token).
   * @throws PraxisError as `expand`
   */
  codings(canonical: string): Promise<readonly Required<SystemCode>[]>;

  /**
   * `:below`: the code and everything that it subsumes.
   * @throws PraxisError `code-system-unknown`, `code-unknown`
   */
  descendants(system: string, code: string): Promise<readonly string[]>;

  /**
   * `:above`: the code and everything that subsumes it.
   * @throws PraxisError `code-system-unknown`, `code-unknown`
   */
  ancestors(system: string, code: string): Promise<readonly string[]>;

  /** The display of a code; undefined when the system or the code is not loaded, or has none. */
  display(system: string, code: string): Promise<string | undefined>;
}

/** Loaded terminology alone: `openTerminology(budget)`. Everything that it is asked spends from `budget`. */
export function openTerminology(budget: Budget, lookup?: TerminologyLookup): Terminology {
  const definitions = openDefinitions(budget, lookup ?? (async () => undefined));
  const effort = (url: string) => openCodeSystemEffort(budget, url);
  return {
    ...definitions,
    expand: (valueSet, options) => expandValueSet(budget, definitions, valueSet, options),
    contains: (valueSet, coding) => checkMembership(budget, definitions, valueSet, coding),
    async codings(canonical) {
      const { codings } = await expandValueSet(budget, definitions, canonical);
      return codings.map(({ system, code }) => ({ system, code }));
    },
    descendants: async (system, code) =>
      listDescendants(await definitions.requireCodeSystem(system), code, effort(system)),
    ancestors: async (system, code) => listAncestors(await definitions.requireCodeSystem(system), code, effort(system)),
    async display(system, code) {
      const codeSystem = await definitions.codeSystem(system);
      return codeSystem && findConcept(codeSystem, code)?.display;
    },
  };
}
