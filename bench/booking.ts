/**
 * One caller who books by HTTP in a synthetic practice: $find, $hold, $book, then $reschedule, and a series of ten. The same
 * caller cancels all of it, so that each turn finds the same calendar.
 *
 *     npm run bench -- booking [--against DIRECTORY] [--rounds 60] [--patients 500]
 *
 * `--against`: in turns with the service of another checkout of the project, whose node_modules are installed, each with a
 * database of its own.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median, quantile } from './cpu.ts';
import { firmPrefix, type Prepared } from './service/prepare.ts';
import { inYard, startProduct } from './service/processes.ts';

const root = path.join(import.meta.dirname, '..');
const dayMs = 86_400_000;
const occurrences = 10;
/** Rounds that do not count. */
const warmUp = 10;

/** Steps of a turn, in their order. */
const steps = ['$find', '$hold', '$book of the hold', '$reschedule', `$book of ${occurrences} weeks`] as const;
const booking = '$find → $hold → $book';
type Times = Map<string, number[]>;

interface Booker {
  readonly name: string;
  readonly times: Times;
  /** Books and cancels; the times are noted. */
  readonly turn: () => Promise<void>;
}

/** 0, unless an answer is another one than it should be. */
export async function benchBooking(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      against: { type: 'string' },
      rounds: { type: 'string', default: '60' },
      patients: { type: 'string', default: '500' },
    },
  });
  const [rounds, patients] = [Number(values.rounds), Number(values.patients)];
  return await inYard(async (yard) => {
    const roots = [
      ...(values.against === undefined ? [] : [['other', values.against] as const]),
      ['this', root] as const,
    ];
    const bookers: Booker[] = [];
    for (const [name, directory] of roots) {
      const { prepared, server } = await startProduct(yard, directory, patients);
      bookers.push(await openBooker(name, server.origin, prepared));
    }
    for (let round = -warmUp; round < rounds; round += 1) {
      for (const { turn, times } of round % 2 === 0 ? bookers : bookers.toReversed()) {
        await turn();
        if (round < 0) times.clear();
      }
    }
    print(bookers, rounds);
    return 0;
  });
}

function print(bookers: readonly Booker[], rounds: number): void {
  console.log(`${rounds} rounds; p50 (p90) in ms\n`);
  console.log(`| | ${bookers.map(({ name }) => name).join(' | ')} |`);
  console.log(`|---|${bookers.map(() => '---:|').join('')}`);
  for (const step of [...steps, booking]) {
    const cells = bookers.map(({ times }) => {
      const ms = times.get(step) ?? [];
      return `${median(ms).toFixed(1)} (${quantile(ms, 0.9).toFixed(1)})`;
    });
    console.log(`| ${step} | ${cells.join(' | ')} |`);
  }
}

interface Parameter {
  readonly name: string;
  readonly [value: string]: unknown;
}

async function openBooker(name: string, origin: string, prepared: Prepared): Promise<Booker> {
  const send = await openSender(origin, prepared);
  const post = (what: string, status: number, ...parameter: readonly Parameter[]) =>
    send('POST', what, status, { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) });
  const now = Date.now();
  const [start = '', week = '', end = ''] = [1, 4, 31].map((days) => new Date(now + days * dayMs).toISOString());
  const free = await send('GET', `Slot?date=ge${start.slice(0, 10)}&date=le${week.slice(0, 10)}&_count=1`, 200);
  const type = free.entry[0].resource.appointmentType.coding[0].code;
  const reason = { name: 'reason', valueCodeableConcept: { text: 'Measured' } };
  const participant = [{ actor: { reference: 'Patient/450001' }, status: 'accepted' }];
  const appointment = { name: 'appointment', resource: { resourceType: 'Appointment', participant } };
  const times: Times = new Map();
  const timed = async <T>(step: string, work: () => Promise<T>): Promise<T> => {
    const beginMs = performance.now();
    const result = await work();
    times.set(step, [...(times.get(step) ?? []), performance.now() - beginMs]);
    return result;
  };
  const [find, hold, book, reschedule, series] = steps;
  const turn = async (): Promise<void> => {
    const [booked, other] = await timed(booking, async () => {
      const found = await timed(find, () =>
        send('GET', `Slot/$find?appointment-type=${type}&start=${start}&end=${end}&_count=50`, 200),
      );
      const slots: readonly string[] = found.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
      const held = await timed(hold, () => post(`Slot/${slots[0]}/$hold`, 200));
      const id = { name: 'hold', valueId: held.parameter[0].valueId };
      return [await timed(book, () => post('Appointment/$book', 201, appointment, id)), slots.at(-1)];
    });
    const place = `Appointment/${booked.id}`;
    const moved = await timed(reschedule, () =>
      post(`${place}/$reschedule`, 200, { name: 'slot', valueString: `Slot/${other}` }),
    );
    await post(`${place}/$cancel`, 200, reason);
    const part = [
      { name: 'frequency', valueCode: 'weekly' },
      { name: 'count', valuePositiveInt: occurrences },
      { name: 'taken', valueCode: 'skip' },
    ];
    const slot = { name: 'slot', valueString: moved.slot[0].reference };
    const made = await timed(series, () =>
      post('Appointment/$book', 200, appointment, slot, { name: 'recurrence', part }),
    );
    const first = made.parameter.find((each: Parameter) => each.name === 'booked');
    const { valueReference } = first.part.find((each: Parameter) => each.name === 'reference');
    await post(`${valueReference.reference}/$cancel`, 200, reason, { name: 'scope', valueCode: 'all' });
  };
  return { name, times, turn };
}

// What a service answers is taken as it comes: a bench checks statuses alone.
// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
type Send = (method: 'GET' | 'POST', what: string, status: number, body?: object) => Promise<any>;

async function openSender(origin: string, { client }: Prepared): Promise<Send> {
  const grant = { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret };
  const token = await fetch(`${origin}/auth/realms/sandbox/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'x-api-key': client.apiKey },
    body: new URLSearchParams(grant),
  });
  const { access_token } = (await token.json()) as { access_token: string };
  const headers = {
    authorization: `Bearer ${access_token}`,
    'x-api-key': client.apiKey,
    'content-type': 'application/fhir+json',
  };
  return async (method, what, status, body) => {
    const answer = await fetch(`${origin}/sandbox/firm/${firmPrefix}/pm/fhir/v2/${what}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`${method} ${what}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
}
