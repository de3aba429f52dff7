/**
 * What is measured of a server, in the order of the table.
 */
import { type Caller, openCaller } from '../caller.ts';
import type { Workload } from '../load.ts';
import type { Prepared } from '../prepare.ts';
import { listPageRows } from './page-rows.ts';
import { listReadRows } from './read-rows.ts';
import type { Row } from './row.ts';
import { openSamples } from './samples.ts';
import { listSearchRows } from './search-rows.ts';
import { listTokenRows } from './token-rows.ts';
import { listWriteRows } from './write-rows.ts';

/** The rows of benches that do not need all of them: a few of each kind. */
export const basicRows: readonly string[] = [
  'token issue',
  'token refresh',
  'read',
  'create',
  'update',
  'search by identifier',
  'search by family name',
  'search by patient',
  'search of a day',
  'search since',
  'everything of a patient',
];

/** The rows, with tokens that were requested just now. */
export async function openRows(caller: Caller, prepared: Prepared): Promise<readonly Row[]> {
  const samples = await openSamples(caller, prepared);
  return [
    ...listTokenRows(caller),
    ...(await listReadRows(caller, prepared, samples)),
    ...(await listSearchRows(caller, samples)),
    ...(await listPageRows(caller, samples)),
    ...(await listWriteRows(caller, prepared)),
  ];
}

/** What the rows ask of the server at `origin`. */
export async function openWorkloads(origin: string, prepared: Prepared): Promise<readonly Workload[]> {
  const rows = await openRows(await openCaller(origin, prepared), prepared);
  return rows.map(({ workload }) => workload);
}
