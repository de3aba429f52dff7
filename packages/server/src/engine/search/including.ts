/**
 * What comes with the matches of a page by `_include` and `_revinclude` (https://hl7.org/fhir/R4/search.html#revinclude), as
 * far as the caller may know of it: a reference is followed where the caller may read it on the resource that holds it, and
 * leads to rows that the caller may search. Each resource comes once, and none that is a match of the page.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { explainDenial } from '../../access/explain.ts';
import { type AccessPolicy, searchGrants } from '../../access/policy.ts';
import { isUsable } from '../../access/usable-parameters.ts';
import { makeUuid } from '../../base/ids.ts';
import { type Include, listReferenceParameters, refersElsewhere } from '../../search/includes/include.ts';
import { includedBytesMax, includedRowsMax, includeRoundsMax } from '../../search/includes/include-limits.ts';
import {
  type Incoming,
  type IncomingParameter,
  includeStatement,
  type Outgoing,
} from '../../search/includes/include-statement.ts';
import type { Parameter } from '../../search/kinds/kind.ts';
import type { SearchParameters, SearchQuery } from '../../search/query/query.ts';
import { countBytes, type PageRow } from '../../storage/store.ts';
import type { BundleEntry } from '../bundle-text.ts';
import type { InteractionContext } from '../context.ts';
import { buildWarningOutcome } from '../outcome.ts';
import { denyAccess } from '../rights/denials.ts';
import { compileCriterionTest, discloseRows, parseElementFilter } from '../rights/disclosing.ts';

/** From so many resources few others are reached, as a rule. */
const fewMatches = 64;

/** Types of a refused parameter that its message explains at most. */
const typesExplainedMax = 3;

/**
 * Passes when the caller may use every include that names what it asks for: `s` on the types, and the parameter readable.
 * What a `*` stands for is left out where it is not granted, and so are those types of several that a reference may lead to.
 * @throws PraxisError `access-denied` naming the entries that would allow it
 */
export function requireIncludes({ policy }: InteractionContext, { includes }: SearchQuery): void {
  for (const { name, source, parameter, target } of includes) {
    if (source !== undefined) requireOneOf(policy, [source]);
    if (source !== undefined && parameter !== undefined) requireParameter(policy, source, parameter);
    if (target !== undefined) requireOneOf(policy, [target]);
    else if (name === '_include' && parameter !== undefined) requireOneOf(policy, parameter.definition.targets);
  }
}

function requireOneOf(policy: AccessPolicy, types: readonly string[]): void {
  if (types.some((type) => policy.allows(type, 's'))) return;
  const denials = types.slice(0, typesExplainedMax).map((type) => explainDenial(policy, type, 's').diagnostics);
  denyAccess(denials.join('; or '));
}

function requireParameter(policy: AccessPolicy, type: string, { definition }: Parameter): void {
  if (searchGrants(policy, type, [definition]).length > 0) return;
  denyAccess(explainDenial(policy, type, definition).diagnostics);
}

/**
 * The entries after those of the matches: included resources in the order in which they were reached, then a warning where
 * a limit left some out. `_elements` does not apply to them (https://hl7.org/fhir/R4/search.html#elements), `_summary` does.
 * @throws PraxisError `stale-access`, `statement-timeout`, `too-costly`
 */
export async function buildIncludedEntries(
  context: InteractionContext,
  query: SearchQuery,
  matches: readonly PageRow[],
  parameters: SearchParameters,
): Promise<BundleEntry[]> {
  if (query.includes.length === 0 || matches.length === 0) return [];
  const { rows, limit } = await reach(context, query.includes, matches);
  const { summary } = parseElementFilter(parameters);
  const filter = summary === undefined ? {} : { summary };
  const shown = await discloseRows(context, 's', rows, filter);
  const entries: BundleEntry[] = shown.map(({ row, resource }) => ({
    fullUrl: `${context.baseUrl}/${row.type}/${row.id}`,
    resource,
    search: { mode: 'include' },
  }));
  if (limit === undefined) return entries;
  const warning = buildWarningOutcome('too-costly', limitTexts[limit]);
  return [...entries, { fullUrl: `urn:uuid:${makeUuid()}`, resource: warning, search: { mode: 'outcome' } }];
}

const limitTexts = {
  rows: `More than ${includedRowsMax} resources would be included with this page, and some are missing: ask for smaller pages (_count) or for fewer includes`,
  bytes: `The resources that would be included with this page take more than ${includedBytesMax} bytes, and some are missing: ask for smaller pages (_count) or for fewer includes`,
  rounds: `References are followed ${includeRoundsMax} times at most by :iterate, and some included resources are missing: go on with a search from the last ones`,
} as const;

interface Reached {
  readonly rows: readonly PageRow[];
  /** The limit that left resources out. */
  readonly limit?: keyof typeof limitTexts;
}

/** One statement a round: first from the matches, then, along what iterates, from what the round before has found. */
async function reach(
  context: InteractionContext,
  includes: readonly Include[],
  matches: readonly PageRow[],
): Promise<Reached> {
  const { policy, scope, store } = context;
  const iterating = includes.filter(({ iterate }) => iterate);
  const rows: PageRow[] = [];
  let bytesLeft = includedBytesMax;
  const open = resourceTypesWithEndpoint.filter((type) => policy.allows(type, 's'));
  const targets = new Map(open.map((type) => [type, policy.grants(type, 's').map(({ criteria }) => criteria)]));
  for (let round = 1, from = matches; ; round += 1) {
    const links = linksOf(context, round === 1 ? includes : iterating, from);
    if (links.outgoing.length === 0 && links.incoming.length === 0) return { rows };
    const room = round > includeRoundsMax ? 0 : includedRowsMax - rows.length;
    const known = [...matches, ...rows].map(({ rid }) => rid);
    const statement = includeStatement({ ...links, scope, targets, known, limit: room + 1, bytesMax: bytesLeft });
    const reached = await store.selectPage(scope, statement, from.length <= fewMatches);
    from = reached.slice(0, room).filter(({ deleted }) => !deleted); // without content: it is beyond the bytes
    rows.push(...from);
    if (reached.length > room) return { rows, limit: round > includeRoundsMax ? 'rounds' : 'rows' };
    if (from.length < reached.length) return { rows, limit: 'bytes' };
    bytesLeft -= countBytes(from);
  }
}

function linksOf(context: InteractionContext, includes: readonly Include[], rows: readonly PageRow[]) {
  const forward = includes.filter(({ name }) => name === '_include');
  const reverse = includes.filter(({ name }) => name === '_revinclude');
  const sources = new Map<number, IncomingParameter>();
  const byType = new Map<string, readonly IncomingParameter[]>();
  const incoming: Incoming[] = [];
  for (const { type, id } of reverse.length === 0 ? [] : rows) {
    const leading = byType.get(type) ?? reverse.flatMap((include) => incomingParameters(context, include, type));
    byType.set(type, leading);
    for (const source of leading) {
      sources.set(source.parameter, source);
      incoming.push({ parameter: source.parameter, type, id });
    }
  }
  const outgoing = rows.flatMap((row) => outgoingOf(context, forward, row));
  return { outgoing, incoming, sources: [...sources.values()] };
}

/** The references of one resource that the caller may read on it. */
function outgoingOf(context: InteractionContext, forward: readonly Include[], row: PageRow): Outgoing[] {
  const asked = forward.filter(({ source }) => source === undefined || source === row.type);
  if (asked.length === 0) return [];
  const readable = readableOn(context, row);
  return asked.flatMap(({ parameter, target }) =>
    (parameter === undefined ? listReferenceParameters(row.type, context.scope.searchParameters) : [parameter])
      .filter((possible) => refersElsewhere(possible) && readable(possible))
      .map(({ number }) => ({ rid: row.rid, parameter: number, target })),
  );
}

/** Tells of a parameter whether the caller is shown, on this row, every element that it reads. */
function readableOn(context: InteractionContext, row: PageRow): (parameter: Parameter) => boolean {
  const test = compileCriterionTest(context, row.type, row.content);
  const covering = context.policy.grants(row.type, 's').filter(({ criteria }) => criteria.every(test));
  const shown = covering.map(({ elements }) => elements);
  if (shown.includes('all')) return () => true;
  const together = new Set(shown.flatMap((elements) => [...elements]));
  return ({ definition }) => covering.length > 0 && isUsable(together, row.type, definition);
}

/** The parameters by which resources that the caller may search can refer to one of the type. */
function incomingParameters(
  { policy, scope }: InteractionContext,
  include: Include,
  type: string,
): IncomingParameter[] {
  if (include.target !== undefined && include.target !== type) return [];
  const types = include.source === undefined ? resourceTypesWithEndpoint : [include.source];
  return types.flatMap((source) => {
    const all =
      include.parameter === undefined ? listReferenceParameters(source, scope.searchParameters) : [include.parameter];
    const leading =
      include.source === undefined ? all.filter(({ definition }) => definition.targets.includes(type)) : all;
    return leading.flatMap(({ number, definition }) => {
      const grants = searchGrants(policy, source, [definition]);
      const restriction = grants.map(({ criteria }) => criteria);
      return grants.length === 0 ? [] : [{ parameter: number, source, restriction }];
    });
  });
}
