/** The pages notifications, payloads, errors and safety of the guide: what a notification has, and what becomes of failures. */
import assert from 'node:assert/strict';
import { settle, subscriptionOf } from '../../practice/subscriptions/world.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, openCaller } from '../../support/service.ts';
import { type Clause, forClients, shall, shallNot } from '../clause.ts';
import { eventPartsOf, parametersOf, payload, profiles, subscribeTo, tellOfPatient, topic } from './receiving.ts';

export const notifyingClauses: readonly Clause[] = [
  shall(
    'subscriptions-status-1',
    'notifications.html#notifications',
    'The first entry of each notification is the status, as Parameters of the profile for R4',
    async (world) => {
      for (const content of ['empty', 'id-only', 'full-resource']) {
        const subscription = await subscribeTo(world, { content });
        await tellOfPatient(world, subscription);
        for (const { json } of subscription.received) {
          assert.equal(json.entry[0].resource.resourceType, 'Parameters');
          assert.deepEqual(json.entry[0].resource.meta.profile, [profiles.status]);
        }
      }
    },
  ),
  shall(
    'subscriptions-status-2',
    'conformance.html#conformance-in-fhir-r4',
    'The status is valid and correct in each notification',
    async (world) => {
      const subscription = await subscribeTo(world, { content: 'id-only' });
      const { last } = await tellOfPatient(world, subscription);
      const values = Object.fromEntries(
        parametersOf(last).map(({ name, valueString, valueCode, valueReference }) => [
          name,
          valueString ?? valueCode ?? valueReference?.reference,
        ]),
      );
      assert.equal(values.subscription, `${world.firm.base}/Subscription/${subscription.id}`);
      assert.deepEqual([values.status, values.type], ['active', 'event-notification']);
      assert.equal(values['events-since-subscription-start'], '1');
      assert.deepEqual(
        eventPartsOf(last, 'event-number').map(({ valueString }) => valueString),
        ['1'],
      );
    },
  ),
  shall('subscriptions-status-3', 'conformance.html#conformance-in-fhir-r4', 'Clients read the status', forClients),
  shall(
    'subscriptions-status-4',
    'notifications.html#bundle-type-considerations',
    'The request of the first entry is that of $status',
    async (world) => {
      const { id, received } = await subscribeTo(world);
      const [handshake] = received;
      const url = `${world.firm.base}/Subscription/${id}/$status`;
      assert.deepEqual(handshake?.json.entry[0].request, { method: 'GET', url });
      assert.equal((await world.get(url)).status, 200);
    },
  ),
  shall(
    'subscriptions-shape-1',
    'notifications.html#event-notifications-and-what-to-include',
    'A notification is as its topic says: of the type of the topic',
    async (world) => {
      const { last, created } = await tellOfPatient(world, await subscribeTo(world, { content: 'full-resource' }));
      assert.deepEqual(last.json.entry[1].resource, created);
    },
  ),
  shall(
    'subscriptions-additional-1',
    'notifications.html#additional-resources',
    'Additional resources follow the content level',
    { notApplicable: 'no topic has additional resources' },
  ),
  shall(
    'subscriptions-additional-2',
    'notifications.html#additional-resources',
    'Clients expect that additional resources may be absent',
    forClients,
  ),
  shallNot(
    'subscriptions-empty-1',
    'payloads.html#empty',
    'A notification of the level empty refers to no resource',
    async (world) => {
      const { last, created } = await tellOfPatient(world, await subscribeTo(world, { content: 'empty' }));
      assert.equal(eventPartsOf(last, 'event-number').length, 1);
      assert.deepEqual(eventPartsOf(last, 'focus'), []);
      assert.ok(!last.text.includes(created.id));
    },
  ),
  shallNot(
    'subscriptions-empty-2',
    'payloads.html#empty',
    'A notification of the level empty has no entry but the status',
    async (world) => {
      const { last } = await tellOfPatient(world, await subscribeTo(world, { content: 'empty' }));
      assert.equal(last.json.entry.length, 1);
    },
  ),
  shall(
    'subscriptions-id-only-1',
    'payloads.html#id-only',
    'A notification of the level id-only has the references in focus',
    async (world) => {
      const { last, created } = await tellOfPatient(world, await subscribeTo(world, { content: 'id-only' }));
      assert.deepEqual(
        eventPartsOf(last, 'focus').map(({ valueReference }) => valueReference?.reference),
        [`${world.firm.base}/Patient/${created.id}`],
      );
    },
  ),
  shall(
    'subscriptions-id-only-2',
    'payloads.html#id-only',
    'Each entry of the level id-only has the URL of the resource in fullUrl and request',
    async (world) => {
      const { last, created } = await tellOfPatient(world, await subscribeTo(world, { content: 'id-only' }));
      await world.send('PUT', `Patient/${created.id}`, { ...created, gender: 'other' });
      const [, entry] = last.json.entry;
      assert.equal(entry.fullUrl, `${world.firm.base}/Patient/${created.id}`);
      assert.deepEqual(entry.request, { method: 'POST', url: 'Patient' });
      assert.equal(entry.resource, undefined);
    },
  ),
  shall(
    'subscriptions-full-1',
    'payloads.html#full-resource',
    'A notification of the level full-resource has the references in focus',
    async (world) => {
      const { last, created } = await tellOfPatient(world, await subscribeTo(world, { content: 'full-resource' }));
      assert.deepEqual(
        eventPartsOf(last, 'focus').map(({ valueReference }) => valueReference?.reference),
        [`${world.firm.base}/Patient/${created.id}`],
      );
    },
  ),
  shall(
    'subscriptions-full-2',
    'payloads.html#full-resource',
    'There is an entry for each resource, with the resource in it',
    async (world) => {
      const subscription = await subscribeTo(world, { content: 'full-resource' });
      const created = [await world.create(patient(world.unique())), await world.create(patient(world.unique()))];
      await settle(world.service);
      const entries = subscription.received.flatMap(({ json }) => json.entry.slice(1));
      assert.deepEqual(
        entries.map(({ resource }: { resource: object }) => resource),
        created,
      );
    },
  ),
  shall(
    'subscriptions-full-3',
    'payloads.html#full-resource',
    'Where a resource cannot be in its entry, request and response are',
    async (world) => {
      const subscription = await subscribeTo(world, { content: 'full-resource' });
      const { created } = await tellOfPatient(world, subscription);
      await world.send('DELETE', `Patient/${created.id}`);
      await settle(world.service);
      const [, entry] = subscription.received.at(-1)?.json.entry ?? [];
      assert.equal(entry.resource, undefined);
      assert.deepEqual(entry.request, { method: 'DELETE', url: `Patient/${created.id}` });
      assert.equal(entry.response.status, '204');
    },
  ),
  shall(
    'subscriptions-errors-1',
    'errors.html#handling-errors-as-a-server',
    'While notifications fail events are counted',
    async (world) => {
      const subscription = await subscribeTo(world, { content: 'id-only' });
      subscription.answers.push(...Array.from({ length: 3 }, () => ({ status: 500 })));
      for (let count = 1; count <= 3; count += 1) await tellOfPatient(world, subscription);
      const { json } = await world.get(`Subscription/${subscription.id}/$status`);
      const counted = parametersOf({ json }).find(({ name }) => name === 'events-since-subscription-start');
      assert.equal(counted?.valueString, '3');
    },
  ),
  shall(
    'subscriptions-errors-2',
    'errors.html#handling-errors-as-a-server',
    'The status says that notifications fail, and $status is answered',
    async (world) => {
      const subscription = await subscribeTo(world, { content: 'id-only' });
      subscription.answers.push({ status: 410 });
      await tellOfPatient(world, subscription);
      const { status, json } = await world.get(`Subscription/${subscription.id}/$status`);
      assert.equal(status, 200);
      assert.equal(parametersOf({ json }).find(({ name }) => name === 'status')?.valueCode, 'off');
      assert.equal(
        parametersOf({ json }).some(({ name }) => name === 'error'),
        true,
      );
    },
  ),
  shall(
    'subscriptions-authorization-1',
    'safety_security.html#general-considerations',
    'What an application may not see is not told',
    async (world) => {
      const acl = ['system/Subscription.cru', 'acl/enc_s'];
      const application = await makeApplication(world.service, `Blind ${world.unique()}`, acl, [world.firm]);
      const blind = await openCaller(world.service, application, world.firm);
      const body = subscriptionOf(topic, 'https://subscriber.example.com/hook', { payload });
      assert.equal((await blind.send('POST', 'Subscription', body)).status, 403);
    },
  ),
];
