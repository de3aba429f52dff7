/** Writes: one Patient, and visits in transactions. */
import type { Caller } from '../caller.ts';
import type { Prepared } from '../prepare.ts';
import { type Row, takeInTurn } from './row.ts';
import { buildVisits, resourcesOfVisit } from './visit.ts';

const bar = 0.7;
const largeBar = 0.5;
/** Patients that are updated in turn: no caller waits for another one's update. */
export const updatedPatients = 200;

/** The rows of writes; those patients are created. */
export async function listWriteRows(caller: Caller, { body }: Prepared): Promise<readonly Row[]> {
  const { write } = caller;
  const ids: string[] = [];
  for (let made = 0; made < updatedPatients; made += 1) ids.push(await createPatient(caller, body));
  let serial = 0;
  const update = (index: number) => {
    const id = takeInTurn(ids, index);
    serial += 1;
    return write('PUT', `Patient/${id}`, changePatient(body, id, serial));
  };
  const transaction = (visits: number, more: Pick<Row, 'bar'>): Row => {
    const call = write('POST', '', JSON.stringify(buildVisits(visits, body)));
    const name = `transaction of ${visits * resourcesOfVisit}`;
    return { workload: { name, status: 200, call: () => call }, base: { kind: 'create' }, ...more };
  };
  return [
    {
      workload: { name: 'create', status: 201, call: () => write('POST', 'Patient', body) },
      base: { kind: 'create' },
      bar,
    },
    {
      workload: { name: 'update', status: 200, call: update },
      base: { kind: 'update', sample: { created: body, updated: (id) => changePatient(body, id, 0) } },
      bar,
    },
    transaction(1, {}),
    transaction(10, { bar: largeBar }),
  ];
}

async function createPatient(caller: Caller, body: string): Promise<string> {
  const answer: { readonly id: string } = JSON.parse(
    (await caller.send(caller.write('POST', 'Patient', body), 201)).body,
  );
  return answer.id;
}

/** The patient with another telephone and address, so that each is a new version. */
function changePatient(body: string, id: string, serial: number): string {
  return body
    .replace('"resourceType":"Patient"', `"resourceType":"Patient","id":"${id}"`)
    .replace('555-0100', `555-${String(serial % 10_000).padStart(4, '0')}`)
    .replace('1 Main Street', `${serial + 2} Main Street`);
}
