/**
 * docs/integrate/scheduling.md is true: every request in it is sent as it stands there, in its order, with the calendar of
 * docs/practice/calendars.md; names in braces stand for what earlier answers gave.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after } from 'node:test';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { keepCalendar, put, putPlaces } from '../calendars/world.ts';

const pageOf = (name: string): string =>
  readFileSync(new URL(`../../../../../docs/${name}.md`, import.meta.url), 'utf8');

interface Example {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const examples: readonly Example[] = [
  ...pageOf('integrate/scheduling').matchAll(/```http\n(\w+) (\S+)\n([\s\S]*?)```/g),
].map(([, method = '', path = '', body = '']) => ({ method, path, body }));
const [calendar = ''] = [...pageOf('practice/calendars').matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text);

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple', 'sandbox', 'Europe/Berlin');
const entries = ['acl/slot_s', 'acl/appmt_c', 'acl/appmt_r', 'acl/appmt_s', 'acl/appmt_u'];
const caller = await openCaller(service, await makeApplication(service, 'Booking', entries, [maple]), maple);
const operator = await openCaller(service, await makeApplication(service, 'Everything', ['acl/*'], [maple]), maple);
await putPlaces(operator, ['12'], ['3', '31', '32']);
await put(operator, { resourceType: 'Patient', id: 'p' });
await keepCalendar(service.platform, maple, JSON.parse(calendar));
await service.service.jobs.settle();

/** What the names in braces stand for. */
const known = new Map<string, string>();

/** Remembers what an answer gives to the requests after it. */
function learn({ json }: Answer, { path }: Example): void {
  if (path.startsWith('Slot/$find') || path.startsWith('Slot?')) {
    const [slot, other] = json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
    known.set('slot', slot).set('other', other);
  }
  if (json?.resourceType === 'Appointment') known.set('appointment', json.id);
  for (const { name, valueId, part } of json?.parameter ?? []) {
    if (name === 'hold') known.set('hold', valueId);
    const reference = part?.find((each: { name: string }) => each.name === 'reference')?.valueReference.reference;
    if (name === 'booked') known.set('appointment', reference.slice('Appointment/'.length));
  }
}

const filled = (text: string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_all, name: string) => known.get(name) ?? assert.fail(`nothing gave ${name}`));

/** Somebody else's appointment is cancelled: the one who waits is offered its time. */
async function giveUpTime(): Promise<void> {
  const { json } = await operator.get('Slot?appointment-type=FOLLOWUP&date=2026-11-24');
  const parameter = [
    { name: 'slot', valueString: json.entry[0].resource.id },
    {
      name: 'appointment',
      resource: {
        resourceType: 'Appointment',
        participant: [{ status: 'accepted', actor: { reference: 'Patient/p' } }],
      },
    },
  ];
  const booked = await operator.send('POST', 'Appointment/$book', { resourceType: 'Parameters', parameter });
  assert.equal(booked.status, 201, booked.text);
  await operator.send('DELETE', `Appointment/${booked.json.id}`);
  await service.service.jobs.settle();
}

test('every request of docs/integrate/scheduling.md is answered as it says', async (t) => {
  assert.equal(examples.length, 13);
  for (const example of examples) {
    await t.test(`${example.method} ${example.path}`, async () => {
      if (example.path === 'Appointment?status=proposed') await giveUpTime();
      const body = example.body.trim() === '' ? undefined : JSON.parse(filled(example.body));
      const answer = await caller.send(example.method, filled(example.path), body);
      assert.ok(answer.status >= 200 && answer.status < 300, answer.text);
      if (example.path === 'Appointment?status=proposed') {
        assert.equal(answer.json.total, 1);
        known.set('offered', answer.json.entry[0].resource.id);
      } else if (answer.status !== 204) learn(answer, example);
    });
  }
  const { json } = await caller.get(`Appointment/${known.get('offered')}`);
  assert.equal(json.status, 'booked');
});
