/**
 * Checks the heads of the decision records: title, area, status, that two records say the same of each other, and that
 * the paths they affect exist.
 *
 *     node tools/check-decisions.ts
 */
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { areas, type Decision, decisionsFolder, inverses, readDecisions } from './docs/decisions.ts';

/** The folders that paths of `Affects` start from, below the root. */
const bases = ['packages/server/src', ''];

/** Lines that say what is wrong with the records under `root`; none if all is well. */
export function checkDecisions(root: string): string[] {
  const decisions = readDecisions(root);
  const byNumber = new Map(decisions.map((decision) => [decision.number, decision]));
  return decisions.flatMap((decision) => {
    const path = `${decisionsFolder}/${decision.file}:1`;
    const faults = [...headFaults(decision), ...relationFaults(decision, byNumber), ...pathFaults(decision, root)];
    return faults.map((fault) => `${path} ${fault}`);
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

/** Affected paths and globs that match no file. What a superseded record affected may be gone. */
function pathFaults({ relations, affectedPaths }: Decision, root: string): string[] {
  if (relations.some((relation) => relation?.verb === 'superseded by')) return [];
  return affectedPaths
    .filter((path) => !bases.some((base) => matchesFile(path, join(root, base))))
    .map((path) => `affects ${path}, which is no file below ${bases[0]} or the root`);
}

function matchesFile(path: string, folder: string): boolean {
  return /[*{]/.test(path) ? globSync(path, { cwd: folder }).length > 0 : existsSync(join(folder, path));
}

if (import.meta.main) {
  const lines = checkDecisions(join(import.meta.dirname, '..'));
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
}
