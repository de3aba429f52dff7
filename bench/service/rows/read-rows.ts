/** Reads of one resource by its id. */
import type { Caller } from '../caller.ts';
import { type Prepared, patientId } from '../prepare.ts';
import { type Row, takeInTurn } from './row.ts';
import { listPatients, type Samples } from './samples.ts';

const bar = 1;

/** The rows of reads: the resource, and that it is still the version which the caller has. */
export async function listReadRows(caller: Caller, { patients }: Prepared, samples: Samples): Promise<readonly Row[]> {
  const { get } = caller;
  const idOf = (index: number): string => patientId(index % patients);
  const reads = listPatients(samples).map((id) => get(`Patient/${id}`));
  const conditional = await Promise.all(
    reads.map(async (call) => {
      const { headers } = await caller.send(call, 200);
      return { ...call, headers: { ...call.headers, 'if-none-match': headers.get('etag') ?? '' } };
    }),
  );
  const read = { name: 'read', status: 200, call: (index: number) => takeInTurn(reads, index) };
  return [
    {
      workload: { name: 'read', status: 200, call: (index) => get(`Patient/${idOf(index)}`) },
      base: {
        kind: 'handler',
        status: 200,
        call: (index) => ({ method: 'GET', path: `/read/${idOf(index)}`, headers: {} }),
      },
      bar,
    },
    {
      workload: { name: 'not modified', status: 304, call: (index) => takeInTurn(conditional, index) },
      base: { kind: 'product', workload: read },
      bar,
    },
  ];
}
