/** Who uses the legacy flow, as a table with two lines, or as the JSON that scripts have read since the report exists. */
import { buildTable, type Column, type Printed } from '../../actions/command-form.ts';
import { toInstant } from '../../base/clock.ts';
import type { LegacyReport, LegacyUseRow } from '../../oauth/legacy/report.ts';

const columns: readonly Column<LegacyUseRow>[] = [
  { heading: 'FIRM', cell: ({ firm }) => firm },
  { heading: 'APPLICATION', cell: ({ application }) => application },
  { heading: 'PROGRAM', cell: ({ agent }) => agent },
  { heading: 'LAST USE', time: 'minute', none: 'never', cell: ({ lastUsedAtMs }) => lastUsedAtMs },
  { heading: 'CALLS 7 DAYS', cell: ({ calls7Days }) => calls7Days },
  { heading: 'CALLS 30 DAYS', cell: ({ calls30Days }) => calls30Days },
  { heading: 'TOKENS 7 DAYS', cell: ({ tokens7Days }) => tokens7Days },
  { heading: 'TOKENS 30 DAYS', cell: ({ tokens30Days }) => tokens30Days },
  { heading: 'REFUSED 30 DAYS', cell: ({ refused30Days }) => refused30Days },
];

/** The report of an environment. */
export function printLegacyReport(
  { atMs, rows, ...without }: LegacyReport & { readonly atMs: number },
  environment: string,
  isJson: boolean,
): readonly Printed[] {
  if (!isJson) {
    return [
      buildTable(columns, rows),
      '',
      `firms without use: ${without.firmsWithoutUse.join(', ') || 'none'}`,
      `applications without use: ${without.applicationsWithoutUse.join(', ') || 'none'}`,
    ];
  }
  const use = rows.map(({ lastUsedAtMs, ...row }) => ({
    ...row,
    lastUsedAt: lastUsedAtMs === null ? null : toInstant(lastUsedAtMs),
  }));
  return [JSON.stringify({ environment, at: toInstant(atMs), use, ...without }, undefined, 2)];
}
