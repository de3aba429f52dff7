/**
 * Which sections of a compartment hold anything. A patient's compartment has some seventy types and a typical patient resources
 * of ten: one statement saves the searches of the others (docs/decisions/0281).
 */
import { boundedRead } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { listSectionNumbers, type Section } from './sections.ts';

/** So few sections are searched at once. */
const sectionsMin = 4;

/**
 * The sections, in their order, without those in which no resource refers to the owner of the compartment by a parameter that
 * its search goes by. The owner's own section stays.
 * @throws PraxisError `stale-access`
 */
export async function keepPresentSections(
  { scope, store }: Pick<InteractionContext, 'scope' | 'store'>,
  sections: readonly Section[],
): Promise<readonly Section[]> {
  const [first] = sections;
  if (first === undefined || sections.length < sectionsMin) return sections;
  const { type: owner, id } = first.scope;
  const numbers = sections.flatMap(listSectionNumbers);
  const rows = await store.run<{ readonly param: number | null }>(
    scope,
    sql`
      SELECT e.epoch, present.param FROM access_epoch e LEFT JOIN LATERAL (
        SELECT p.param FROM unnest(${numbers}::int[]) AS p(param)
        WHERE (SELECT 1 FROM index_reference i WHERE i.firm = ${scope.firm} AND i.param = p.param
          AND i.target_rtype = ${getTypeNumber(owner)} AND i.target_id = ${id} LIMIT 1) IS NOT NULL) present ON true
      WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}`,
    boundedRead,
  );
  const present = new Set(rows.map(({ param }) => param));
  return sections.filter(
    (section) => section.type === owner || listSectionNumbers(section).some((each) => present.has(each)),
  );
}
