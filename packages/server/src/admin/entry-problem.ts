/** Access entries and operator rows as administrators write them, for the functions of `tenancy`, which may not import `access`. */
import { parseEntry } from '../access/grammar.ts';
import { parseOperatorRow } from '../access/operator-row-text.ts';
import type { OperatorRow } from '../access/operator-rows.ts';
import { findFirstNotHeld } from '../access/select-entries.ts';
import { suggestEntry } from '../access/suggest-entry.ts';
import type { StoredOperatorRows } from '../tenancy/authorisations.ts';
import type { EntryProblem } from '../tenancy/names.ts';
import { refuseField } from './input.ts';

/** Why a text is no access entry, and what is held; for the functions that store entries. */
export const entryProblem: EntryProblem = Object.assign(problemOf, { firstNotHeld: findFirstNotHeld });

function problemOf(entry: string): string | undefined {
  const parsed = parseEntry(entry);
  return parsed.kind === 'refused' ? `${parsed.diagnostics}${suggestEntry(parsed)}` : undefined;
}

/**
 * What operators say about entries, from lines such as `obsv_ef?category=exam&_elements=code`.
 * @throws PraxisError `rule-broken` naming the field `rows`
 */
export function readOperatorLines(lines: readonly string[]): StoredOperatorRows {
  const rows = new Map<string, OperatorRow>();
  for (const line of lines) {
    const parsed = parseOperatorRow(line);
    if ('problem' in parsed) return refuseField('rows', `rows: ${parsed.problem}`);
    if (rows.has(parsed.code)) refuseField('rows', `rows: ${parsed.code} is said twice: write its limits in one row`);
    rows.set(parsed.code, parsed.row);
  }
  return Object.fromEntries(rows);
}
