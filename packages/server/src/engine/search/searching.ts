/**
 * From the parameters of a search to what storage can run, with the caller's rights applied: shared by search itself and by
 * everything that is conditional on a search.
 */
import type { BudgetedWork, SearchParameter } from '@praxis/fhir';
import { explainDenial } from '../../access/explain.ts';
import { type Grant, searchGrants } from '../../access/policy.ts';
import { includeNames } from '../../search/includes/include.ts';
import { resolveCodes } from '../../search/query/codes.ts';
import type { CompartmentScope } from '../../search/query/compartment-scope.ts';
import { resolveHierarchies } from '../../search/query/hierarchies.ts';
import type { SearchRights } from '../../search/query/parse-condition.ts';
import { parseSearch, type SearchParameters, type SearchQuery } from '../../search/query/query.ts';
import { resultParameterNames } from '../../search/query/result-parameters.ts';
import { refuseValue } from '../../search/query/search-values.ts';
import { suggestParameter } from '../../search/query/suggest-parameter.ts';
import type { SearchTarget } from '../../search/sql/plan.ts';
import { openTerminology } from '../../terminology/terminology.ts';
import type { InteractionContext, Preferences } from '../context.ts';
import { denyAccess, type RightsContext } from '../rights/denials.ts';
import { openFirmTerminology, type Plan } from './firm-terminology.ts';
import { openHierarchySource } from './hierarchy-steps.ts';
import { limitOwnParameters } from './own-parameters.ts';
import { requireNoLedger } from './refuse-mixed-audit-search.ts';

/** For searches that the service makes of what it was told: what it does not know is refused. */
export const strictly: Preferences = { return: undefined, handling: 'strict' };

/**
 * The search of `parameters` on `type` with the caller's row restrictions.
 * @throws PraxisError `search-invalid`, `access-denied` (a parameter touches what may not be read), `cursor-invalid`,
 *   `page-too-deep`, `too-costly`
 */
export async function planSearch(
  context: InteractionContext,
  type: string,
  parameters: SearchParameters,
  prefer: Preferences,
  compartment?: CompartmentScope,
): Promise<SearchTarget> {
  requireNoLedger(context, parameters);
  spendOnReading(context, parameters);
  await context.budget.turn(readingSearch);
  const plan: Plan = (kind, asked) => planSearch(context, kind, asked, prefer);
  const terminology = openTerminology(context.budget, openFirmTerminology(context, plan));
  const codes = await resolveCodes(parameters, terminology);
  const hierarchies = await resolveHierarchies(parameters, context.baseUrl, openHierarchySource(context, plan));
  const query = parseSearch(
    type,
    parameters,
    {
      timeZone: context.scope.timeZone,
      baseUrl: context.baseUrl,
      nowMs: context.clock.now(),
      limits: context.limits,
      searchParameters: limitOwnParameters(context.policy, context.scope.searchParameters),
      rights: buildSearchRights(context),
      codes: hierarchies === undefined ? codes : new Map([...(codes ?? []), ...hierarchies]),
    },
    compartment,
  );
  refuseUnknown(context, query, prefer);
  const grants = requireUsable(context, type, query.usedParameters);
  return {
    scope: context.scope,
    query,
    mandatory: grants.map((grant) => grant.criteria),
    cursor: { secrets: context.secrets, policyFingerprint: context.policy.fingerprint },
  };
}

/** Steps of a character, which is looked at by several who split, unescape and check: the worst takes 0.2 µs. */
const stepsPerCharacter = 8;

/** @throws PraxisError `too-costly` */
function spendOnReading({ budget }: InteractionContext, parameters: SearchParameters): void {
  const characters = parameters.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  budget.spend(stepsPerCharacter * characters, readingSearch);
}

const readingSearch: BudgetedWork = { what: 'Reading the search', cheaper: 'name fewer values' };

/** What the caller may search by on the types that a chain or a reverse chain leads to. */
export function buildSearchRights(context: RightsContext): SearchRights {
  return {
    rowsOf(type, used) {
      const grants = searchGrants(context.policy, type, used);
      return grants.length === 0 ? undefined : grants.map((grant) => grant.criteria);
    },
    refuse: (type, used) => refuseSearch(context, type, used),
  };
}

/** What a search of one type takes beside the parameters of the type. */
const searchNames = [...resultParameterNames, ...includeNames, '_has', '_list', '_filter'];

/** Unknown parameters are refused unless the caller or the application's setting asks for lenience. */
function refuseUnknown(context: InteractionContext, query: SearchQuery, prefer: Preferences): void {
  const [first] = query.unknown;
  if (first === undefined) return;
  // https://hl7.org/fhir/R4/search.html#query: a named query that is not known is an error, whoever is lenient.
  if (query.unknown.includes('_query')) refuseValue('_query', 'names a query; no named queries are defined here');
  if (isLenient(context, prefer)) return;
  const own = limitOwnParameters(context.policy, context.scope.searchParameters).find(
    ({ definition }) => definition.code === first && definition.base.includes(query.type),
  );
  if (own?.failed)
    refuseValue(first, 'cannot be searched by, since its indexing failed: SearchParameter/$status tells why');
  if (own !== undefined) refuseValue(first, 'is being indexed: SearchParameter/$status tells how far it is');
  refuseValue(
    first,
    `is not a search parameter of ${query.type}${suggestParameter(query.type, first, searchNames) || ';'} metadata lists those that are (Prefer: handling=lenient ignores unknown ones)`,
  );
}

/** Whether unknown parameters are ignored: as the caller asks, else as the application is set. */
export function isLenient({ settings }: Pick<InteractionContext, 'settings'>, { handling }: Preferences): boolean {
  return handling === 'lenient' || (handling === undefined && settings.lenientSearch);
}

/** The grants under which every used parameter is usable; at least one. */
function requireUsable(context: InteractionContext, type: string, used: readonly SearchParameter[]): readonly Grant[] {
  const grants = searchGrants(context.policy, type, used);
  return grants.length > 0 ? grants : refuseSearch(context, type, used);
}

function refuseSearch(context: RightsContext, type: string, used: readonly SearchParameter[]): never {
  if (!context.policy.allows(type, 's')) denyAccess(explainDenial(context.policy, type, 's').diagnostics);
  const hidden = used.filter((parameter) => searchGrants(context.policy, type, [parameter]).length === 0);
  return denyAccess(explainDenial(context.policy, type, hidden.length > 0 ? hidden : used).diagnostics);
}
