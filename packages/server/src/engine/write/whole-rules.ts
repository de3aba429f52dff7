/** Rules of the engine for resources of single types, beyond R4's own: each judges the resource as a whole. */
import type { JsonObject, StepBudget } from '@praxis/fhir';
import { readFirmParameter } from '../../search/index/firm-parameter.ts';
import { requireCollectedEntries } from './collected-entries.ts';

/** @throws PraxisError for a valid resource that breaks the rule */
type WholeRule = (resource: JsonObject, budget: StepBudget) => void;

/** By type. */
export const wholeRules: ReadonlyMap<string, WholeRule> = new Map<string, WholeRule>([
  ['Bundle', requireCollectedEntries],
  ['SearchParameter', readFirmParameter],
]);
