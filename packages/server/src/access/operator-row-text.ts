/**
 * Operator rows as one line, for the command line: `obsv_ef?category=exam&_elements=code,value`. Criteria are written as in
 * SMART scopes; `_elements`, `_letters` and `_type` say the rest of a row.
 */
import { listOperatorRowProblems, type OperatorRow } from './operator-rows.ts';
import { formatRowQuery, parseRowQuery } from './row-query.ts';

/** Characters of one line. */
const lineCharactersMax = 2_000;

const own = ['_type', '_letters', '_elements'] as const;

/** Code and row, or why the line is none: for whoever wrote it. */
export function parseOperatorRow(
  line: string,
): { readonly code: string; readonly row: OperatorRow } | { readonly problem: string } {
  if (line.length > lineCharactersMax) return { problem: `a row has ${lineCharactersMax} characters at most` };
  const [, code = '', query = ''] = /^([a-z_]+)\?(.+)$/su.exec(line) ?? [];
  if (code === '') return { problem: 'a row is written as code?parameter=value, such as obsv_ef?category=exam' };
  const parts = parseRowQuery(query);
  if ('problem' in parts) return { problem: `${code}: ${parts.problem}` };
  const said = (name: string): readonly string[] | undefined =>
    parts.find(({ parameter }) => parameter === name)?.values;
  const twice = own.find((name) => parts.filter(({ parameter }) => parameter === name).length > 1);
  if (twice !== undefined) return { problem: `${code}: ${twice} is said twice` };
  const criteria = parts.filter(({ parameter }) => !own.some((name) => name === parameter));
  const [type, letters, elements] = own.map(said);
  const row: OperatorRow = {
    ...(type === undefined ? {} : { type: type.join() }),
    ...(letters === undefined ? {} : { letters: letters.join() }),
    ...(criteria.length === 0 ? {} : { criteria }),
    ...(elements === undefined ? {} : { elements }),
  };
  const [problem] = listOperatorRowProblems(code, row);
  return problem === undefined ? { code, row } : { problem };
}

/** The line that `parseOperatorRow` reads as this row. */
export function formatOperatorRow(code: string, { type, letters, criteria = [], elements }: OperatorRow): string {
  const own = [
    ...(type === undefined ? [] : [{ parameter: '_type', values: [type] }]),
    ...(letters === undefined ? [] : [{ parameter: '_letters', values: [letters] }]),
    ...(elements === undefined ? [] : [{ parameter: '_elements', values: elements }]),
  ];
  return `${code}?${formatRowQuery([...criteria, ...own])}`;
}
