/**
 * Driving indexes of chains, reverse chains and combinations: other resources are gathered first, by the best driving
 * index of theirs, and lead to the ones that are searched. What they gather is one list, made once for the whole
 * statement.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { selectivities } from '../kinds/kind.ts';
import { isBroadTarget } from '../kinds/reference.ts';
import { getTypeNumber } from '../numbers.ts';
import type { Chain, Combination, Has, Linked, SearchCondition } from '../query/condition.ts';
import { type DrivingIndex, selectivityOfAll } from './driving-index.ts';
import { drivesFew, selectMatchingIds, type Wanted } from './matching-ids.ts';

type ChooseDrivingIndex = (wanted: Wanted) => DrivingIndex;

interface Gathered {
  readonly wanted: Wanted;
  readonly driving: DrivingIndex;
}

/** The references to the targets, which are found first. */
export function findChainDrivingIndex(
  firm: number,
  chain: Chain,
  choose: ChooseDrivingIndex,
): DrivingIndex | undefined {
  const targets = chain.targets.map((target) => gathered(firm, target, choose));
  const shares = targets.map(({ wanted, driving }) => selectivityOfTarget(wanted.type, driving.selectivity));
  const selectivity = Math.max(...shares);
  if (selectivity >= selectivityOfAll) return undefined;
  const { number } = chain.parameter;
  return gatheringIndex(chain, { table: 'reference', number, selectivity, repeats: true }, targets, () => {
    const links = targets.map((target) => {
      const type = getTypeNumber(target.wanted.type);
      return sql`(target_rtype = ${type} AND target_id = ANY (ARRAY(${idsOf(target)})))`;
    });
    return sql.join(links, sql` OR `);
  });
}

/** One patient has few of anything, a practitioner a part of all; targets that are many themselves leave more. */
function selectivityOfTarget(type: string, selectivity: number): number {
  const fan = isBroadTarget(type) ? selectivities.part : selectivities.few;
  if (selectivity <= selectivities.one) return fan;
  if (selectivity >= selectivityOfAll) return Math.max(fan, selectivityOfAll);
  return Math.max(fan, Math.min(selectivity + 1, selectivities.most));
}

/** The resources that the sources, which are found first, refer to. */
export function findHasDrivingIndex(firm: number, has: Has, choose: ChooseDrivingIndex): DrivingIndex | undefined {
  const source = gathered(firm, has.source, choose);
  const { selectivity } = source.driving;
  if (selectivity >= selectivityOfAll) return undefined;
  return gatheringIndex(has, { table: 'resource', number: 0, selectivity, repeats: false }, [source], () => {
    const links = sql`SELECT target_id FROM index_reference WHERE firm = ${firm} AND rid = f.rid AND param = ${has.parameter.number} AND target_rtype = ${getTypeNumber(has.type)} OFFSET 0`;
    return sql`id = ANY (ARRAY(SELECT l.target_id FROM (${foundOf(source)} OFFSET 0) f CROSS JOIN LATERAL (${links}) l))`;
  });
}

/** Of a conjunction its best part; of a disjunction all parts together, provided that each can drive. */
export function findCombinationDrivingIndex(
  firm: number,
  combination: Combination,
  choose: ChooseDrivingIndex,
): DrivingIndex | undefined {
  const { kind, type, conditions } = combination;
  if (kind === 'none' || conditions.length === 0 || depthOf(combination) > depthMax) return undefined;
  const alone = kind === 'all' ? [conditions] : conditions.map((condition) => [condition]);
  const parts = alone.map((criteria) => gathered(firm, { type, criteria, mandatory: [] }, choose));
  const selectivity = Math.max(...parts.map(({ driving }) => driving.selectivity));
  if (selectivity >= selectivityOfAll) return undefined;
  return gatheringIndex(combination, { table: 'resource', number: 0, selectivity, repeats: false }, parts, () => {
    const all = parts.map((part) => sql`(${foundOf(part)})`);
    return sql`rid = ANY (ARRAY(${sql.join(all, sql` UNION `)}))`;
  });
}

/**
 * Links and combinations inside each other up to which one of them drives: the statement of a driving index has each
 * part twice, so each level doubles it. Deeper ones are asked of each resource, by a statement that grows with their
 * number alone.
 */
const depthMax = 3;

function depthOf(condition: SearchCondition): number {
  switch (condition.kind) {
    case 'rows':
      return 0;
    case 'chain':
      return 1 + deepest(condition.targets.flatMap(({ criteria }) => criteria));
    case 'has':
      return 1 + deepest(condition.source.criteria);
    default:
      return 1 + deepest(condition.conditions);
  }
}

function deepest(conditions: readonly SearchCondition[]): number {
  return Math.max(0, ...conditions.map(depthOf));
}

/** The statement parts are written only when the driving index is taken: conditions may stand deep inside each other. */
function gatheringIndex(
  covered: SearchCondition,
  facts: Pick<DrivingIndex, 'table' | 'number' | 'selectivity' | 'repeats'>,
  parts: readonly Gathered[],
  where: () => Sql,
): DrivingIndex {
  let made: Sql | undefined;
  return {
    ...facts,
    get where() {
      made ??= where();
      return made;
    },
    get branches() {
      return [this.where];
    },
    order: 'gathered',
    columns: [],
    covered: new Set([covered]),
    gathersFew(limit) {
      const each = parts.map(({ wanted, driving }) => drivesFew(wanted, driving, limit));
      return sql`SELECT bool_and(few) AS few FROM (${sql.join(each, sql` UNION ALL `)}) p`;
    },
  };
}

function gathered(firm: number, { type, criteria, mandatory }: Linked, choose: ChooseDrivingIndex): Gathered {
  const wanted = { firm, type, criteria, mandatory };
  return { wanted, driving: choose(wanted) };
}

function foundOf({ wanted, driving }: Gathered): Sql {
  return selectMatchingIds(wanted, driving);
}

function idsOf(part: Gathered): Sql {
  return sql`SELECT r.id FROM (${foundOf(part)} OFFSET 0) f CROSS JOIN LATERAL (SELECT id FROM resource WHERE firm = ${part.wanted.firm} AND rid = f.rid AND content IS NOT NULL OFFSET 0) r`;
}
