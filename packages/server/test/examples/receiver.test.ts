/** The example receiver (examples/receiver), which docs/integrate/events.md shows: it believes the service alone, and misses nothing. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { openReceiver, type TopicEvent } from '../../../../examples/receiver/receiver.ts';
import { openSubscriptionService, settle, subscribe, topicBase } from '../practice/subscriptions/world.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../support/service.ts';

const service = await openSubscriptionService({ after });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(
  service,
  'Receiver',
  ['system/Subscription.cru', 'system/Patient.crus'],
  [maple],
);
const caller = await openCaller(service, application, maple);

test('the receiver refuses what nobody signed, and takes each event once and in order', async () => {
  const secrets: string[] = [];
  const events: TopicEvent[] = [];
  const gaps: number[] = [];
  let refusals = 1;
  const server = openReceiver({
    secrets: () => secrets,
    async onEvent(event) {
      if (event.number === 2 && refusals-- > 0) throw new Error('the database of the receiver is away');
      events.push(event);
    },
    onGap: async (from) => void gaps.push(from),
    now: () => service.clock.now(),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  assert.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 401);

  const options = { payload: 'application/fhir+json', content: 'full-resource' };
  const { id, secret } = await subscribe(service, caller, `${topicBase}/patient-changed`, url, options);
  // The handshake came before the receiver knew the secret: the next attempt is believed.
  secrets.push(secret);
  service.clock.advance(60_000);
  await settle(service);
  assert.equal((await caller.get(`Subscription/${id}`)).json.status, 'active');

  const made = await caller.send('POST', 'Patient', patient('Stone'));
  await caller.send('PUT', `Patient/${made.json.id}`, { ...made.json, gender: 'other' });
  await caller.send('PUT', `Patient/${made.json.id}`, { ...made.json, gender: 'female' });
  await settle(service);
  service.clock.advance(60_000);
  await settle(service);
  assert.deepEqual(
    events.map(({ number, entry }) => [number, entry?.request.method, entry?.resource?.id]),
    [
      [1, 'POST', made.json.id],
      [2, 'PUT', made.json.id],
      [3, 'PUT', made.json.id],
    ],
  );
  assert.deepEqual(gaps, []);
});
