/**
 * $lastn: the most recent observations of each code (https://hl7.org/fhir/R4/observation-operation-lastn.html).
 */

import { parseJson } from '@praxis/fhir';
import { type Disclosed, unwrapDisclosed } from '../access/disclosure.ts';
import { toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import { makeUuid } from '../base/ids.ts';
import { buildGetRequest } from '../base/worst-case.ts';
import { buildBundleText } from '../engine/bundle-text.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from '../engine/context.ts';
import { requireGrants } from '../engine/rights/denials.ts';
import { discloseRows, parseElementFilter, type ShownRow } from '../engine/rights/disclosing.ts';
import { encodeQuery } from '../engine/search/search-links.ts';
import { planSearch } from '../engine/search/searching.ts';
import { selectPage } from '../engine/search/select-page.ts';
import { findObject } from '../search/json-values.ts';
import { getStandardParameters } from '../search/parameters.ts';
import type { PageRow } from '../storage/store.ts';
import { groupConcepts } from './code-groups.ts';
import { readIntegerInput } from './input.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from './operation.ts';
import { refuseParameter } from './parameter-problem.ts';
import { buildResourceResponse } from './result.ts';

/** Observations that are looked at, at most. */
const observationsMax = 5000;

export const lastn: Operation = {
  name: 'lastn',
  url: 'http://hl7.org/fhir/OperationDefinition/Observation-lastn',
  worstCase: {
    because: 'all observations of a patient, grouped by code',
    request: ({ patient }) =>
      buildGetRequest(
        `Observation/$lastn?patient=Patient/${patient}&max=1000&category=vital-signs,laboratory,social-history,exam,survey`,
      ),
  },
  rateUnits: 9, // up to 5,000 observations
  levels: ['type'],
  types: ['Observation'],
  affectsState: false,
  further: 'search',
  parameters: [
    declareInput('max', 'positiveInt', 'The number of Observations per code. The default is 1.'),
    declareOutput('return', 'Bundle', 'A searchset, most recent first.'),
  ],
  authorize: (context) => requireGrants(context, 'Observation', 's'),
  answer,
};

/**
 * A searchset of all that is found, in one page.
 * @throws PraxisError `operation-parameter-invalid`, `rule-broken` (too many observations), and as a search
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const asked = request.parameters.filter(([name]) => !formParameters.has(name));
  const criteria = asked.filter(([name]) => name !== 'max');
  requireScope(criteria);
  const found = await observations(context, request, criteria);
  const last = mostRecent(found, readIntegerInput(request.input, 'max') ?? 1);
  const entries = await discloseRows(context, 's', last, parseElementFilter(request.parameters));
  const body = buildBundleText({
    type: 'searchset',
    id: makeUuid(),
    lastUpdated: toInstant(context.clock.now()),
    total: last.length,
    links: [{ relation: 'self', url: `${context.baseUrl}/Observation/$lastn?${encodeQuery(asked)}` }],
    entries: entries.map(({ row, resource }) => ({
      fullUrl: `${context.baseUrl}/Observation/${row.id}`,
      resource,
      search: { mode: 'match' },
    })),
  });
  return buildResourceResponse(body);
}

const formParameters: ReadonlySet<string> = new Set(['_format', '_pretty']);

/** Parameters of a search that would change its order or cut it: the operation has its own. */
const notTaken: readonly string[] = ['_sort', '_count', '_cursor', 'page', '_include', '_revinclude', '_total'];

/** R4: a subject, and a category or a parameter that reads a code. @throws PraxisError `operation-parameter-invalid` */
function requireScope(criteria: FhirRequest['parameters']): void {
  const codes = new Set(criteria.map(([name]) => name.split(/[:.]/)[0] ?? ''));
  const refused = notTaken.find((name) => codes.has(name));
  if (refused !== undefined) refuseParameter(refused, 'is not taken: the operation has an order and an end of its own');
  if (!codes.has('patient') && !codes.has('subject')) {
    refuseParameter('patient', 'is missing: patient or subject says whose observations are meant');
  }
  if (![...codes].some((code) => code === 'category' || readsCode(code))) {
    refuseParameter('category', 'is missing: category or a parameter such as code says which observations are meant');
  }
}

function readsCode(name: string): boolean {
  return /code/.test(getStandardParameters('Observation').get(name)?.definition.expression ?? '');
}

/** All that the search finds, most recent first. */
async function observations(
  context: InteractionContext,
  { prefer }: OperationRequest,
  criteria: FhirRequest['parameters'],
): Promise<readonly ShownRow<PageRow>[]> {
  const found: ShownRow<PageRow>[] = [];
  let cursor: string | undefined;
  do {
    const position = cursor === undefined ? [] : [['_cursor', cursor] as const];
    const parameters = [...criteria, ['_sort', '-date'] as const, ...position];
    const { rows, next } = await selectPage(context, await planSearch(context, 'Observation', parameters, prefer));
    found.push(...(await discloseRows(context, 's', rows, {})));
    if (found.length > observationsMax) tooMany();
    cursor = next?.cursor;
  } while (cursor !== undefined);
  return found;
}

function tooMany(): never {
  return fail('rule-broken', {
    issue: 'too-costly',
    diagnostics: `More than ${observationsMax} observations fit: narrow them, for instance by date`,
  });
}

/** What the caller sees of the code; the groups go by that, so they tell nothing of what is hidden. */
function codeOf(resource: Disclosed<string>) {
  return findObject(parseJson(unwrapDisclosed(resource)), 'code') ?? {};
}

/** The first `max` of each group, and those of the same time, by which they are sorted, as the last of them. */
function mostRecent(found: readonly ShownRow<PageRow>[], max: number): readonly PageRow[] {
  const groups = groupConcepts(found.map(({ resource }) => codeOf(resource)));
  const taken = new Map<number, { count: number; time: string | null }>();
  const rows = found.map(({ row }) => row);
  return rows.filter(({ keys: [time = null] }, at) => {
    const group = groups[at] ?? at;
    const before = taken.get(group) ?? { count: 0, time: null };
    if (before.count >= max && (time === null || time !== before.time)) return false;
    taken.set(group, { count: before.count + 1, time });
    return true;
  });
}
