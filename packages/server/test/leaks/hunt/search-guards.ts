/**
 * Guards of what a search reaches beside the rows that it returns: value sets, hierarchies, compartments, chains, includes.
 */
import type * as policies from '../../../src/access/policy.ts';
import type * as disclosing from '../../../src/engine/rights/disclosing.ts';
import type * as compartmentTypes from '../../../src/engine/search/compartment-types.ts';
import type * as includes from '../../../src/search/includes/include-statement.ts';
import type * as compartments from '../../../src/search/query/compartment-scope.ts';
import type * as rowCriteria from '../../../src/search/query/row-criteria.ts';
import { fields, type Guard, grantsOfAll, type Off, orders, type Replacement } from './guard.ts';

/** Searches of the types are planned with all rights. */
function plannedFreely(...types: readonly string[]): Replacement {
  return {
    file: 'access/policy.ts',
    name: 'searchGrants',
    importers: ['engine/search/searching.ts'],
    replace:
      (original: typeof policies.searchGrants, isOff: Off): typeof policies.searchGrants =>
      (policy, type, used) =>
        original(isOff() && types.includes(type) ? grantsOfAll(policy) : policy, type, used),
  };
}

/** What the importer discloses is disclosed whole. */
function disclosedWhole(importer: string): Replacement {
  return {
    file: 'engine/rights/disclosing.ts',
    name: 'discloseRow',
    importers: [importer],
    replace:
      (original: typeof disclosing.discloseRow, isOff: Off): typeof disclosing.discloseRow =>
      (context, ...row) =>
        original(isOff() ? { ...context, policy: grantsOfAll(context.policy) } : context, ...row),
  };
}

const terminology = ['ValueSet', 'CodeSystem'];

export const searchGuards: readonly Guard[] = [
  {
    name: 'value sets that searches name',
    at: fields('value'),
    by: ['names', 'partial'],
    ways: ['search modifier'],
    replaced: [plannedFreely(...terminology), disclosedWhole('engine/search/firm-terminology.ts')],
  },
  {
    name: 'value sets that operations name',
    at: fields('value'),
    by: ['partial'],
    ways: ['operation $expand', 'operation $validate-code', 'operation $lookup'],
    replaced: [plannedFreely(...terminology), disclosedWhole('engine/search/firm-terminology.ts')],
  },
  {
    name: 'value sets and code systems of a path',
    at: fields('value'),
    by: ['partial'],
    ways: ['operation $expand', 'operation $validate-code'],
    replaced: [disclosedWhole('engine/search/own-terminology.ts')],
  },
  {
    name: 'steps of hierarchies of references',
    at: fields('link'),
    by: ['names', 'partial'],
    ways: ['search modifier'],
    replaced: [plannedFreely('Location', 'Organization')],
  },
  {
    name: 'parameters that make a compartment',
    at: fields('link'),
    by: ['names'],
    ways: ['search compartment'],
    replaced: [
      {
        file: 'search/query/compartment-scope.ts',
        name: 'buildCompartmentCondition',
        replace:
          (
            original: typeof compartments.buildCompartmentCondition,
            isOff: Off,
          ): typeof compartments.buildCompartmentCondition =>
          (...asked) => {
            const within = original(...asked);
            return isOff() ? { ...within, used: [] } : within;
          },
      },
      {
        file: 'engine/search/compartment-types.ts',
        name: 'findUsableScope',
        replace:
          (original: typeof compartmentTypes.findUsableScope, isOff: Off): typeof compartmentTypes.findUsableScope =>
          (context, ...asked) =>
            original(isOff() ? { ...context, policy: grantsOfAll(context.policy) } : context, ...asked),
      },
    ],
  },
  {
    name: 'rows that links lead to',
    at: orders('value', 'link'),
    by: ['coded'],
    ways: ['search _has'],
    replaced: [
      {
        file: 'search/query/row-criteria.ts',
        name: 'buildMandatoryGroups',
        importers: ['search/query/parse-condition.ts'],
        replace:
          (original: typeof rowCriteria.buildMandatoryGroups, isOff: Off): typeof rowCriteria.buildMandatoryGroups =>
          (...asked) =>
            isOff() ? [] : original(...asked),
      },
    ],
  },
  {
    name: 'rows that includes go on from',
    at: orders('link'),
    by: ['coded'],
    ways: ['search include'],
    replaced: [
      {
        file: 'search/includes/include-statement.ts',
        name: 'includeStatement',
        importers: ['engine/search/including.ts'],
        replace:
          (original: typeof includes.includeStatement, isOff: Off): typeof includes.includeStatement =>
          (asked) => {
            if (!isOff()) return original(asked);
            const targets = new Map([...asked.targets.keys()].map((type) => [type, [[]]]));
            const sources = asked.sources.map((source) => ({ ...source, restriction: [[]] }));
            return original({ ...asked, targets, sources });
          },
      },
    ],
  },
];
