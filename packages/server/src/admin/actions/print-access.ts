/** What an application may do, in lines for people. */
import { buildTable, type Printed } from '../../actions/command-form.ts';
import type { EffectiveAccess, PermissionGrant, TypeAccess } from '../../engine/rights/effective-access.ts';
import type { OpenOperation } from '../../operations/open-operations.ts';
import type { Verdict } from '../explain.ts';

interface Explained extends Pick<EffectiveAccess, 'entries' | 'bundles'> {
  readonly closed: readonly string[];
  readonly types: readonly ExplainedType[];
  readonly verdicts: readonly Verdict[];
  readonly operations: readonly OpenOperation[];
}

interface ExplainedType extends Omit<TypeAccess, 'grants'> {
  readonly grants: readonly ExplainedGrant[];
}

interface ExplainedGrant extends Pick<PermissionGrant, 'letter' | 'entries'> {
  readonly elements: readonly string[];
  readonly rows: string;
}

interface Question {
  readonly body: { readonly interaction?: string; readonly parameter?: string };
}

/** Why calls are refused, then what was asked about, or else everything. */
export function printAccess(explained: Explained, { body: { interaction, parameter } }: Question): Printed[] {
  const { closed, verdicts, types } = explained;
  const lines: Printed[] = [...closed.map(refusal), ...verdicts.map(verdictLine)];
  const isAllowed = interaction !== undefined && verdicts[0]?.allowed === true;
  if (isAllowed) for (const each of types) lines.push(...each.grants.map((grant) => grantLine(each.type, grant)));
  const isKnown = explained.entries.length > 0;
  if (isKnown && interaction === undefined && parameter === undefined) lines.push(...wholeAccess(explained));
  return lines;
}

function wholeAccess({ entries, bundles, types, operations }: Explained): Printed[] {
  const table = buildTable(
    [
      { heading: 'ENTRY', cell: ({ entry }) => entry },
      { heading: 'HELD BY', cell: ({ heldBy }) => heldBy.join(', ') },
      { heading: 'EFFECTIVE', cell: ({ effective }) => (effective ? 'yes' : 'no') },
      { heading: 'REASON', cell: ({ reason = '' }) => reason },
    ],
    entries,
  );
  return [
    table,
    ...(bundles.length === 0 ? [] : [`Transaction Bundles: ${bundles.join(', ')}`]),
    ...types.flatMap(typeLines),
    '',
    `Operations: ${operations.map(({ name, level }) => `$${name} (${level})`).join(', ')}`,
  ];
}

function typeLines({ type, interactions, grants, ...lists }: ExplainedType): string[] {
  const named = {
    'search parameters': lists.searchParameters,
    'sort keys': lists.sortKeys,
    includes: lists.includes,
    'reverse includes': lists.revincludes,
  };
  return [
    '',
    `${type}: ${interactions.join(', ')}`,
    ...grants.map((grant) => grantLine(type, grant)),
    ...Object.entries(named).flatMap(([name, values]) =>
      values.length === 0 ? [] : [`  ${name}: ${values.join(', ')}`],
    ),
  ];
}

function grantLine(type: string, { letter, elements, rows, entries }: ExplainedGrant): string {
  const what = elements[0] === 'all' ? 'all elements' : elements.map((path) => path.slice(type.length + 1)).join(', ');
  return `  ${letter}: ${what}, ${rows === '' ? 'all rows' : `rows of ${rows}`}, by ${entries.join(', ')}`;
}

function verdictLine({ what, allowed, entries, reason = '' }: Verdict): string {
  return allowed ? `allowed: ${what}, by ${entries.join(', ')}` : refusal(reason);
}

function refusal(why: string): string {
  return `refused: ${why}`;
}
