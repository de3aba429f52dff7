/**
 * Which of some resources a search would find if they were stored as they are: for versions of before, which have no rows in
 * the index any more. The same conditions decide as in a search: they are asked of the rows that each resource would have.
 */
import { parseStored } from '../../access/disclosure.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { type IndexRows, indexByOwn, indexElements } from '../../search/index/index-rows.ts';
import type { SearchTable } from '../../search/kinds/kind.ts';
import { getStandardParameters } from '../../search/parameters.ts';
import { isCriterion, type SearchCondition } from '../../search/query/condition.ts';
import type { Criterion } from '../../search/query/criteria.ts';
import { buildAnyTest } from '../../search/sql/exists-subquery.ts';
import type { SearchTarget } from '../../search/sql/plan.ts';
import { encodeIntegerArray, encodeTextArray } from '../../storage/index-arrays.ts';
import type { StoredResource } from '../../storage/resources.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { InteractionContext } from '../context.ts';
import { compileCriterionTest } from '../rights/disclosing.ts';

type MatchingContext = Pick<InteractionContext, 'store' | 'scope' | 'baseUrl' | 'budget'>;

/**
 * Why `matchResources` cannot tell whether a resource meets the conditions, as the end of a sentence about the search; undefined:
 * it can. Other resources and words of the text are not looked at.
 */
export function findUnmatchable(conditions: readonly SearchCondition[]): string | undefined {
  for (const condition of conditions) {
    if (condition.kind === 'chain' || condition.kind === 'has') return 'follows references to other resources';
    if (!isCriterion(condition)) {
      const inside = findUnmatchable(condition.conditions);
      if (inside !== undefined) return inside;
    } else if (needsStoredRows(condition)) {
      return `asks by ${condition.parameter.code}, which needs the index of what is stored`;
    }
  }
  return undefined;
}

function needsStoredRows({ parameter: { kind }, table }: Criterion): boolean {
  return kind.looksFurther === true || (kind.whole === true && table !== 'resource');
}

/**
 * Whether the search finds each of the resources, in their order: they meet its conditions, and the caller's rights open them to
 * it. Its conditions are such that `findUnmatchable` finds none.
 * @throws PraxisError `too-costly`, `stale-access`
 */
export async function matchResources(
  context: MatchingContext,
  { query, mandatory }: SearchTarget,
  resources: readonly StoredResource[],
): Promise<readonly boolean[]> {
  const criteria = listCriteria(query.criteria);
  const passing = await findPassing(context, criteria, resources);
  const isMet = (condition: SearchCondition, place: number): boolean => {
    if (isCriterion(condition)) return (passing.get(condition)?.has(place) ?? false) !== condition.negated;
    if (condition.kind === 'chain' || condition.kind === 'has') throw new TypeError('references are not followed');
    const met = condition.conditions.map((each) => isMet(each, place));
    if (condition.kind === 'all') return met.every(Boolean);
    return met.some(Boolean) === (condition.kind === 'any');
  };
  return resources.map((resource, place) => {
    if (!query.criteria.every((condition) => isMet(condition, place))) return false;
    const test = compileCriterionTest(context, resource.type, resource.content);
    return mandatory.some((group) => group.every(test));
  });
}

function listCriteria(conditions: readonly SearchCondition[]): readonly Criterion[] {
  return conditions.flatMap((condition) => {
    if (isCriterion(condition)) return [condition];
    return 'conditions' in condition ? listCriteria(condition.conditions) : [];
  });
}

/** Index rows of the resource at a position. */
interface PlacedRows {
  readonly place: number;
  readonly index: IndexRows;
}

interface PassingRow {
  readonly criterion: number | null;
  readonly places: readonly number[];
}

/** Positions of the resources of which a row passes, for each criterion. */
async function findPassing(
  context: MatchingContext,
  criteria: readonly Criterion[],
  resources: readonly StoredResource[],
): Promise<ReadonlyMap<Criterion, ReadonlySet<number>>> {
  if (criteria.length === 0 || resources.length === 0) return new Map();
  const rows: PlacedRows[] = [];
  for (const [place, resource] of resources.entries()) {
    for (const index of await indexFor(context, criteria, resource)) rows.push({ place, index });
  }
  const statement = buildPassingStatement(context.scope, criteria, resources, rows);
  const found = await context.store.run<PassingRow>(context.scope, statement, { idempotent: true });
  return new Map(
    found.flatMap(({ criterion, places }) => {
      const asked = criterion === null ? undefined : criteria[criterion];
      return asked === undefined ? [] : [[asked, new Set(places)]];
    }),
  );
}

const matching = { what: 'Comparing resources with a search', cheaper: 'ask for fewer types, or by fewer parameters' };

/** The rows by the parameters of the criteria, of R4 and of the firm's own. */
async function indexFor(
  { scope, baseUrl, budget }: MatchingContext,
  criteria: readonly Criterion[],
  { type, content }: StoredResource,
): Promise<readonly IndexRows[]> {
  await budget.breathe(matching);
  const resource = parseStored(content);
  const { timeZone } = scope;
  const isOwn = ({ parameter }: Criterion): boolean => getStandardParameters(type).get(parameter.code) !== parameter;
  const codes = new Set(criteria.map(({ parameter }) => parameter.code));
  const rows = indexElements(type, resource, { timeZone, baseUrl }, budget, codes);
  if (!criteria.some(isOwn)) return [rows];
  const searchParameters = scope.searchParameters.filter(({ definition }) => codes.has(definition.code));
  const characters = JSON.stringify(resource).length;
  return [rows, await indexByOwn(type, resource, { timeZone, baseUrl, searchParameters, characters }, budget)];
}

type MadeTable = Exclude<SearchTable, 'resource'>;

/** Columns of the index tables, as the conditions name them. */
const tables: Readonly<Record<MadeTable, (rows: readonly PlacedRows[]) => Sql>> = {
  token: (rows) => sql`
    SELECT place, param, system, code COLLATE "C" AS code
    FROM unnest(${placesOf(rows, 'tokenParam')}::int[], ${numbersOf(rows, 'tokenParam')}::int[],
      ${numbersOf(rows, 'tokenSystem')}::bigint[], ${textsOf(rows, 'tokenCode')}::text[]) AS u(place, param, system, code)`,
  reference: (rows) => sql`
    SELECT place, param, target_rtype, target_id COLLATE "C" AS target_id
    FROM unnest(${placesOf(rows, 'referenceParam')}::int[], ${numbersOf(rows, 'referenceParam')}::int[],
      ${numbersOf(rows, 'referenceTargetType')}::smallint[], ${textsOf(rows, 'referenceTargetId')}::text[]) AS u(place, param, target_rtype, target_id)`,
  date: (rows) => sql`
    SELECT place, param, lo, hi
    FROM unnest(${placesOf(rows, 'dateParam')}::int[], ${numbersOf(rows, 'dateParam')}::int[],
      ${numbersOf(rows, 'dateLo')}::bigint[], ${numbersOf(rows, 'dateHi')}::bigint[]) AS u(place, param, lo, hi)`,
  string: (rows) => sql`
    SELECT place, param, value COLLATE "C" AS value, original COLLATE "C" AS original
    FROM unnest(${placesOf(rows, 'stringParam')}::int[], ${numbersOf(rows, 'stringParam')}::int[],
      ${textsOf(rows, 'stringValue')}::text[], ${textsOf(rows, 'stringOriginal')}::text[]) AS u(place, param, value, original)`,
  number: (rows) => sql`
    SELECT place, param, lo, hi, system, code COLLATE "C" AS code
    FROM unnest(${placesOf(rows, 'numberParam')}::int[], ${numbersOf(rows, 'numberParam')}::int[],
      ${doublesOf(rows, 'numberLo')}::double precision[], ${doublesOf(rows, 'numberHi')}::double precision[],
      ${numbersOf(rows, 'numberSystem')}::bigint[], ${textsOf(rows, 'numberCode')}::text[]) AS u(place, param, lo, hi, system, code)`,
};

function buildPassingStatement(
  { firm, application }: TenantScope,
  criteria: readonly Criterion[],
  resources: readonly StoredResource[],
  rows: readonly PlacedRows[],
): Sql {
  const used = new Set(criteria.map(({ table }) => table));
  const made = [...used].map((table) =>
    table === 'resource'
      ? sql`made_resource AS MATERIALIZED (SELECT place, lu, id COLLATE "C" AS id
          FROM unnest(${encodeIntegerArray(resources.keys().toArray())}::int[], ${encodeIntegerArray(resources.map(({ lastUpdatedMs }) => lastUpdatedMs))}::bigint[],
            ${encodeTextArray(resources.map(({ id }) => id))}::text[]) AS u(place, lu, id))`
      : sql`${sql.identifier(`made_${table}`)} AS MATERIALIZED (${tables[table](rows)})`,
  );
  const passed = criteria.map(({ table, number, tests }, at) => {
    const isOfParameter = table === 'resource' ? sql`true` : sql`param = ${number}`;
    return sql`SELECT ${at}::int AS criterion, ARRAY(
      SELECT DISTINCT place FROM ${sql.identifier(`made_${table}`)} WHERE ${isOfParameter} AND ${buildAnyTest({ tests })}) AS places`;
  });
  return sql`
    WITH ${sql.join(made)}
    SELECT e.epoch, c.criterion, c.places
    FROM access_epoch e LEFT JOIN LATERAL (${sql.join(passed, sql` UNION ALL `)}) c ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

type NumberColumn = Exclude<
  keyof IndexRows,
  'tokenCode' | 'referenceTargetId' | 'stringValue' | 'stringOriginal' | 'numberCode'
>;
type TextColumn = Exclude<keyof IndexRows, NumberColumn>;

function placesOf(rows: readonly PlacedRows[], column: NumberColumn): string {
  return encodeIntegerArray(rows.flatMap(({ place, index }) => index[column].map(() => place)));
}

function numbersOf(rows: readonly PlacedRows[], column: NumberColumn): string {
  return encodeIntegerArray(rows.flatMap(({ index }) => index[column]));
}

/** A decimal becomes the double that the column of the index holds. */
function doublesOf(rows: readonly PlacedRows[], column: 'numberLo' | 'numberHi'): string {
  return encodeIntegerArray(rows.flatMap(({ index }) => index[column].map(Number)));
}

function textsOf(rows: readonly PlacedRows[], column: TextColumn): string {
  return encodeTextArray(rows.flatMap(({ index }) => index[column]));
}
