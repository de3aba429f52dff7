/** Every worst case that the lists of the server name, and what its requests have to know of a practice. */
import {
  buildGetRequest,
  buildOperationRequest,
  type WorstCase,
  type WorstCaseWorld,
  type WorstRequest,
} from '../../src/base/worst-case.ts';
import { interactions } from '../../src/engine/dispatch.ts';
import { bodyFormats } from '../../src/http/request/negotiation.ts';
import { jobs, operations } from '../../src/practice/features.ts';
import { searchKinds } from '../../src/search/kinds/kinds.ts';

export interface Attack {
  readonly name: string;
  readonly worstCase: WorstCase;
}

/** In the order of the lists. */
export function listAttacks(): readonly Attack[] {
  const named = [
    ...Object.entries(interactions).map(([name, { worstCase }]) => ({ name: `interaction ${name}`, worstCase })),
    ...operations.map(({ name, types, methods, worstCase }) => ({
      name: `operation ${types === 'all' ? '' : `${types.join(',')}/`}$${name}${methods?.includes('DELETE') ? ' by DELETE' : ''}`,
      worstCase,
    })),
    ...searchKinds.map(({ name, kind: { worstCase } }) => ({ name: `parameter ${name}`, worstCase })),
    ...Object.entries(bodyFormats).map(([name, { worstCase }]) => ({ name: `body ${name}`, worstCase })),
    ...jobs.flatMap(({ firmJob, worstCase }) =>
      'harmless' in worstCase ? [] : [{ name: `job ${firmJob}`, worstCase }],
    ),
  ];
  return named.flatMap(({ name, worstCase }) => [
    { name, worstCase },
    ...(worstCase.also ?? []).map((also, at) => ({ name: `${name}, ${at + 2}`, worstCase: also })),
  ]);
}

/** Sends a request of the attacker, with credentials. */
type Send = (asked: WorstRequest) => Promise<{ readonly status: number; readonly body: string }>;

/** Stores what the attacks need, one after another. */
export async function prepareAttacks(send: Send, attacks: readonly Attack[]): Promise<void> {
  const resources = new Map(
    attacks
      .flatMap(({ worstCase }) => worstCase.stored?.() ?? [])
      .map((resource) => [`${resource['resourceType']}/${resource['id']}`, resource]),
  );
  for (const [path, resource] of resources) {
    const body = JSON.stringify(resource);
    const answer = await send({ method: 'PUT', path, contentType: 'application/fhir+json', body });
    if (answer.status >= 400) throw new Error(`${path} could not be stored: ${answer.status} ${answer.body}`);
  }
}

/** Books a weekly series. @returns ids of its appointments, in order */
async function bookSeries(send: Send, slot: string, patient: string, count: number): Promise<readonly string[]> {
  const participant = [{ actor: { reference: `Patient/${patient}` }, status: 'accepted' }];
  const { status, body } = await send(
    buildOperationRequest('Appointment/$book', [
      { name: 'slot', valueString: `Slot/${slot}` },
      { name: 'appointment', resource: { resourceType: 'Appointment', status: 'booked', participant } },
      {
        name: 'recurrence',
        part: [
          { name: 'frequency', valueCode: 'weekly' },
          { name: 'count', valueInteger: count },
          { name: 'taken', valueCode: 'skip' },
        ],
      },
    ]),
  );
  if (status >= 400) throw new Error(`no series could be booked: ${status} ${body}`);
  const named: readonly { name: string; part?: readonly { name: string; valueReference?: { reference: string } }[] }[] =
    JSON.parse(body).parameter;
  return named
    .filter(({ name }) => name === 'booked')
    .flatMap(
      ({ part }) =>
        part
          ?.find(({ name }) => name === 'reference')
          ?.valueReference?.reference.split('/')
          .at(-1) ?? [],
    );
}

/** Learns of the attacked practice what requests have to name. */
export async function learnWorld(send: Send): Promise<WorstCaseWorld> {
  const firstOf = async (type: string): Promise<string> => {
    const { body } = await send(buildGetRequest(`${type}?_count=1`));
    return JSON.parse(body).entry?.[0]?.resource.id ?? 'none';
  };
  const { body } = await send(buildGetRequest('ValueSet/appointment-type/$expand'));
  const appointmentType: string = JSON.parse(body).expansion.contains[0].code;
  const freeSlot = async (): Promise<string> => {
    const slots = await send(buildGetRequest(`Slot/$find?appointment-type=${appointmentType}&_count=1`));
    return JSON.parse(slots.body).entry[0].resource.id;
  };
  const patient = await firstOf('Patient');
  const [inSeries = ''] = await bookSeries(send, await freeSlot(), patient, 104);
  const booked = await bookSeries(send, await freeSlot(), patient, 20);
  let number = 0;
  let appointments = 0;
  return {
    patient,
    encounter: await firstOf('Encounter'),
    get appointment() {
      return booked[appointments++ % booked.length] ?? '';
    },
    inSeries,
    practitioner: await firstOf('Practitioner'),
    appointmentType,
    slot: await freeSlot(),
    next: () => number++,
  };
}
