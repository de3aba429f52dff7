/**
 * Large bodies are worked on in turns, and what arrives is counted by API key (F7, docs/decisions/0242).
 * Slow: sends many megabytes, and waits for turns to end.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { openBodyAdmission, slicedBodyBytes } from '../../src/http/request/body-admission.ts';
import { openSlices } from '../../src/limits/slices.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openRaw } from '../support/wire.ts';

const bodyBytesMax = 1_000_000;
const service = await openTestService(
  { after },
  { PRAXIS_BODY_BYTES_MAX: String(bodyBytesMax), PRAXIS_BODIES_BYTES_MAX: '1500000' },
);
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const noisy = await openCaller(service, await makeApplication(service, 'Noisy', ['acl/*'], [maple]), maple);
const quiet = await openCaller(service, await makeApplication(service, 'Quiet', ['acl/*'], [cedar]), cedar);

const large = (id: string, characters = 400_000) => ({
  ...patient('Large'),
  id,
  text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(characters)}</div>` },
});

/** A request that stops before the end of its body. */
async function hold(bytes: number) {
  const raw = await openRaw(service.origin);
  const { pathname, host } = new URL(`${maple.base}/Patient/held`);
  const headers = { ...noisy.headers, host, 'content-type': 'application/fhir+json', 'content-length': bodyBytesMax };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  raw.write(`PUT ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${' '.repeat(bytes)}`);
  return raw;
}

/** Resolves when so many bytes of bodies have arrived. */
async function untilArrived(bytes: number): Promise<void> {
  while (service.service.parts.bodies.bytesUnderWay() !== bytes) await delay(5);
}

test('F7: bodies that one API key has under way are bounded; those of others still come in', async () => {
  const held = await hold(900_000);
  await untilArrived(900_000);
  const refusedOfKey = await noisy.send('PUT', 'Patient/more', large('more'));
  assert.equal(refusedOfKey.status, 429);
  assert.equal(refusedOfKey.headers.get('retry-after'), '2');
  assert.equal(refusedOfKey.json.issue[0].details.coding[0].code, 'rate-exceeded');
  assert.equal(
    refusedOfKey.json.issue[0].diagnostics,
    `Request bodies of this API key that are being worked on may have ${bodyBytesMax} bytes together: send another when one is answered`,
  );
  assert.equal((await noisy.send('PUT', 'Patient/small', { ...patient('Small'), id: 'small' })).status, 201);
  assert.equal((await quiet.send('PUT', 'Patient/large', large('large'))).status, 201);
  const refused = await quiet.send('PUT', 'Patient/larger', large('larger', 700_000));
  assert.equal(refused.status, 503, 'all room is taken');
  assert.equal(refused.headers.get('retry-after'), '2');
  assert.equal((await quiet.get('Patient/larger')).status, 404);
  held.destroy();
  await untilArrived(0);
  assert.equal((await noisy.send('PUT', 'Patient/more', large('more', 800_000))).status, 201);
  await untilArrived(0);
});

test('F7: of ten large bodies of one key at once some are answered and others refused; the read of another tenant is answered between', async () => {
  assert.equal((await quiet.send('PUT', 'Patient/read', { ...patient('Read'), id: 'read' })).status, 201);
  const order: string[] = [];
  const sent = Array.from({ length: 10 }, async (_, each) => {
    const answer = await noisy.send('PUT', `Patient/ten-${each}`, large(`ten-${each}`, 300_000));
    if (answer.status === 201) order.push('large');
    return answer;
  });
  const read = quiet.get('Patient/read').then(({ status }) => order.push(`read ${status}`));
  const answers = await Promise.all(sent);
  await read;
  const refused = answers.filter(({ status }) => status !== 201);
  assert.ok(refused.length > 0 && refused.length < answers.length, answers.map(({ status }) => status).join());
  for (const { status, headers } of refused) assert.deepEqual([status, headers.get('retry-after')], [429, '2']);
  assert.notEqual(order.at(-1), 'read 200', order.join());
  for (const [each, { status }] of answers.entries())
    assert.equal((await noisy.get(`Patient/ten-${each}`)).status, status === 201 ? 200 : 404);
});

test('of bodies that take longer than most requests one is read in each turn of the event loop, applications in turns', async () => {
  const { open } = openBodyAdmission({ bodyBytesMax: 1_000_000, bodiesBytesMax: 100_000_000 }, openSlices());
  let loops = 0;
  let isCounting = true;
  const count = (): void => {
    loops += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const order: string[] = [];
  const read = async (name: string, application: number, bytes: number): Promise<number> => {
    const room = open();
    room.admit({ apiKey: application, of: { application, firm: 1 } });
    room.take(bytes);
    await room.turn();
    order.push(name);
    room.close();
    return loops;
  };
  const sliced = ['a', 'b', 'c'].map((name) => read(name, 1, slicedBodyBytes));
  const turns = await Promise.all([
    ...sliced,
    read('other', 2, slicedBodyBytes),
    read('small', 1, slicedBodyBytes - 1),
  ]);
  isCounting = false;
  assert.deepEqual(order, ['small', 'a', 'other', 'b', 'c']);
  assert.equal(new Set(turns.slice(0, 4)).size, 4, 'each in a turn of its own');
});

test('large bodies are worked on one after another, applications in turns; small ones at once', async () => {
  const { open } = openBodyAdmission({ bodyBytesMax: 1_000_000, bodiesBytesMax: 100_000_000 }, openSlices());
  const order: string[] = [];
  const body = (name: string, application: number, bytes = 300_000) => {
    const room = open();
    room.admit({ apiKey: application, of: { application, firm: 1 } });
    room.take(bytes);
    const begun = room.turn().then(() => order.push(name));
    return { room, begun };
  };
  const [first, second, third] = [body('1', 1), body('1b', 1), body('1c', 1)];
  const other = body('2', 2);
  await first.begun;
  await body('small', 1, 1_000).begun;
  assert.deepEqual(order, ['1', 'small'], 'the others wait');
  first.room.close();
  await other.begun;
  other.room.close();
  await second.begun;
  second.room.close();
  await third.begun;
  third.room.close();
  assert.deepEqual(order, ['1', 'small', '2', '1b', '1c']);
  await turn(); // the last one is over
  const waiting = Array.from({ length: 16 }, () => body('more', 1));
  await assert.rejects(body('one too many', 1).begun, { code: 'rate-exceeded', status: 429 });
  const next = body('next', 2);
  for (const { room } of waiting) room.close();
  await next.begun;
  next.room.close();
});

test('a large body holds up the next one of its application until it is answered, those of others for 5 s; who waits for 15 s is refused', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { open } = openBodyAdmission({ bodyBytesMax: 1_000_000, bodiesBytesMax: 100_000_000 }, openSlices());
  const order: string[] = [];
  const body = (name: string, application: number) => {
    const room = open();
    room.admit({ apiKey: application, of: { application, firm: 1 } });
    room.take(300_000);
    const begun = room.turn().then(() => void order.push(name));
    return { room, begun };
  };
  const [first, second, other] = [body('1', 1), body('1b', 1), body('2', 2)];
  await first.begun;
  t.mock.timers.tick(4_999);
  await turn();
  assert.deepEqual(order, ['1']);
  t.mock.timers.tick(1);
  await other.begun;
  other.room.close();
  const third = body('1c', 1);
  t.mock.timers.tick(9_999);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  assert.deepEqual(order, ['1', '2']);
  t.mock.timers.tick(1);
  await assert.rejects(second.begun, {
    code: 'rate-exceeded',
    message: /A large body waited 15 s for others of its application/,
  });
  second.room.close();
  first.room.close();
  await third.begun;
  third.room.close();
  assert.deepEqual(order, ['1', '2', '1c']);
});
