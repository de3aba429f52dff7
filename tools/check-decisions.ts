/**
 * Checks the heads of the decision records: title, area, status, and that two records say the same of each other.
 *
 *     node tools/check-decisions.ts
 */
import { join } from 'node:path';
import { areas, type Decision, decisionsFolder, inverses, readDecisions } from './docs/decisions.ts';

/** Lines that say what is wrong with the records under `root`; none if all is well. */
export function checkDecisions(root: string): string[] {
  const decisions = readDecisions(root);
  const byNumber = new Map(decisions.map((decision) => [decision.number, decision]));
  return decisions.flatMap((decision) => {
    const path = `${decisionsFolder}/${decision.file}:1`;
    return [...headFaults(decision), ...relationFaults(decision, byNumber)].map((fault) => `${path} ${fault}`);
  });
}

function headFaults({ number, title, area, isAccepted, relations }: Decision): string[] {
  const isKnown = areas.some((one) => one === area);
  return [
    ...(title === undefined ? [`has no heading "# ${number} Subject: …"`] : []),
    ...(isAccepted ? [] : ['has no status that begins with "accepted"']),
    ...(area === undefined ? ['has no area'] : []),
    ...(area === undefined || isKnown ? [] : [`has the area "${area}"; the areas are ${areas.join(', ')}`]),
    ...(relations.includes(undefined)
      ? [`has a status with another form than "accepted; ${Object.keys(inverses).join(' | ')} [NNNN](file) (what)"`]
      : []),
  ];
}

/** Links of the status that lead nowhere, and those that the other record does not return. */
function relationFaults(decision: Decision, byNumber: ReadonlyMap<string, Decision>): string[] {
  return decision.relations.flatMap((relation) => {
    if (relation === undefined) return [];
    const { verb, number, file } = relation;
    const other = byNumber.get(number);
    if (other?.file !== file) return [`says "${verb} ${number}" and links to ${file}, which is not that record`];
    const back = inverses[verb];
    const isReturned = other.relations.some((one) => one?.number === decision.number && one.verb === back);
    return isReturned ? [] : [`says "${verb} ${number}", which does not say "${back} ${decision.number}"`];
  });
}

if (import.meta.main) {
  const lines = checkDecisions(join(import.meta.dirname, '..'));
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
}
