/** The pages conformance, components and channels of the guide: what a server takes, and what it refuses. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { openReceiver, settle, subscriptionOf } from '../../practice/subscriptions/world.ts';
import { patient } from '../../support/records.ts';
import { type Clause, forClients, shall, should } from '../clause.ts';
import type { World } from '../world.ts';
import {
  channelTypeUrl,
  eventPartsOf,
  forR4B,
  noMail,
  noWebsocket,
  payload,
  profiles,
  subscribeTo,
  tellOfPatient,
  topic,
} from './receiving.ts';

const conformance = 'conformance.html#conformance-in-fhir-r4';
const nowhere = 'https://subscriber.example.com/hook';

async function refusedElement({ send }: World, body: object): Promise<string> {
  const answer = await send('POST', 'Subscription', body);
  assert.equal(answer.status, 422, answer.text);
  return answer.json.issue[0].expression[0];
}

const capabilityOf = async ({ get }: World) => {
  const { json } = await get('metadata');
  return json.rest[0].resource.find(({ type }: { type: string }) => type === 'Subscription');
};

export const subscribingClauses: readonly Clause[] = [
  shall('subscriptions-r-four-b-1', 'conformance.html#conformance-in-fhir-r4b', 'What the guide asks of R4B', forR4B),
  shall('subscriptions-resource-1', conformance, 'Subscription is read and written', async (world) => {
    const made = await world.create(subscriptionOf(topic, nowhere, { payload }));
    assert.equal((await world.get(`Subscription/${made.id}`)).status, 200);
    assert.equal((await world.send('PUT', `Subscription/${made.id}`, { ...made, reason: 'Other' })).status, 200);
    assert.equal((await world.send('DELETE', `Subscription/${made.id}`)).status, 204);
  }),
  shall('subscriptions-resource-2', conformance, 'Subscription has $status', async (world) => {
    const { id } = await subscribeTo(world);
    const { json } = await world.get(`Subscription/${id}/$status`);
    assert.deepEqual([json.resourceType, json.type, json.entry.length], ['Bundle', 'searchset', 1]);
    assert.deepEqual(json.entry[0].resource.meta.profile, [profiles.status]);
  }),
  shall('subscriptions-resource-3', conformance, 'At least one type of channel is supported', async (world) => {
    const { received } = await subscribeTo(world);
    assert.equal(received.length, 1);
  }),
  shall('subscriptions-resource-4', conformance, 'At least one type of payload is supported', async (world) => {
    for (const content of ['empty', 'id-only', 'full-resource'])
      assert.equal((await subscribeTo(world, { content })).received.length, 1);
  }),
  shall('subscriptions-resource-5', conformance, 'The search parameter url finds Subscriptions', async (world) => {
    const made = await world.create(subscriptionOf(topic, nowhere, { payload }));
    const { json } = await world.get(`Subscription?url=${encodeURIComponent(nowhere)}&_id=${made.id}`);
    assert.equal(json.total, 1);
  }),
  should('subscriptions-resource-6', conformance, 'The search parameter status finds Subscriptions', async (world) => {
    const { id } = await subscribeTo(world);
    assert.equal((await world.get(`Subscription?status=active&_id=${id}`)).json.total, 1);
    assert.equal((await world.get(`Subscription?status=off&_id=${id}`)).json.total, 0);
  }),
  shall(
    'subscriptions-profile-1',
    conformance,
    'All elements are told that the profile of Subscription requires',
    async (world) => {
      const { id } = await subscribeTo(world, { content: 'id-only' });
      const { json } = await world.get(`Subscription/${id}`);
      assert.equal(json.criteria, topic);
      assert.equal(json.channel.payload, payload);
      assert.equal(json.channel._payload.extension[0].valueCode, 'id-only');
    },
  ),
  shall(
    'subscriptions-profile-2',
    conformance,
    'The CapabilityStatement names the profile, and all that the server claims to do',
    async (world) => {
      const capability = await capabilityOf(world);
      assert.ok(capability.supportedProfile.includes(profiles.subscription));
      const operations = capability.operation.map(({ name }: { name: string }) => name);
      for (const name of ['status', 'events']) assert.ok(operations.includes(name), name);
      const interactions = capability.interaction.map(({ code }: { code: string }) => code);
      for (const code of ['read', 'create', 'update', 'delete']) assert.ok(interactions.includes(code), code);
    },
  ),
  shall(
    'subscriptions-channel-type-1',
    conformance,
    'The extension that names a channel of another kind is read, and what is not supported is refused',
    async (world) => {
      const body = subscriptionOf(topic, nowhere, { payload });
      const extension = [
        { url: channelTypeUrl, valueCoding: { system: 'http://example.org/channels', code: 'zulip' } },
      ];
      const channel = { ...body.channel, _type: { extension } };
      assert.equal(await refusedElement(world, { ...body, channel }), 'Subscription.channel.type.extension');
    },
  ),
  shall(
    'subscriptions-filter-1',
    conformance,
    'Filters are read, and those that a topic describes are applied',
    async (world) => {
      const [first, second] = [
        await world.create(patient(world.unique())),
        await world.create(patient(world.unique())),
      ];
      // As a search, as the code alone, and with the name of the type.
      for (const filter of [`Patient?_id=${first.id}`, `_id=${first.id}`, `Patient._id=${first.id}`]) {
        const subscription = await subscribeTo(world, { content: 'id-only', filters: [filter] });
        for (const each of [first, second])
          await world.send('PUT', `Patient/${each.id}`, {
            ...each,
            birthDate: '1980-01-01',
            language: filter.slice(0, 2),
          });
        await settle(world.service);
        const told = subscription.received.slice(1).flatMap((each) => eventPartsOf(each, 'focus'));
        assert.ok(told.length > 0);
        for (const { valueReference } of told)
          assert.equal(valueReference?.reference, `${world.firm.base}/Patient/${first.id}`);
      }
    },
  ),
  shall('subscriptions-filter-2', conformance, 'Filters that cannot be applied are refused', async (world) => {
    for (const filter of ['Patient?name=x', 'Observation?patient=Patient/1', 'Patient?_id:not=1', ''])
      assert.equal(
        await refusedElement(world, subscriptionOf(topic, nowhere, { payload, filters: [filter || '?'] })),
        'Subscription.criteria.extension',
      );
  }),
  shall('subscriptions-filter-3', conformance, 'Clients can write filters', forClients),
  shall(
    'subscriptions-content-1',
    conformance,
    'The content level is read, what is not supported is refused, and notifications follow it',
    async (world) => {
      const body = subscriptionOf(topic, nowhere, { payload, content: 'everything' });
      assert.equal(await refusedElement(world, body), 'Subscription.channel.payload.extension');
      for (const [content, entries] of [
        ['empty', 1],
        ['id-only', 2],
        ['full-resource', 2],
      ] as const) {
        const { last } = await tellOfPatient(world, await subscribeTo(world, { content }));
        assert.equal(last.json.entry.length, entries);
      }
    },
  ),
  shall('subscriptions-content-2', conformance, 'Clients can write the content level', forClients),
  shall('subscriptions-criteria-1', conformance, 'criteria has the canonical URL of the topic', async (world) => {
    const { last } = await tellOfPatient(world, await subscribeTo(world));
    assert.ok(last.text.includes(topic));
  }),
  shall('subscriptions-criteria-2', conformance, 'A topic that is not supported is refused', async (world) => {
    const body = subscriptionOf('http://example.org/topics/unknown', nowhere, { payload });
    assert.equal(await refusedElement(world, body), 'Subscription.criteria');
  }),
  shall('subscriptions-criteria-3', conformance, 'Clients can write the URL of a topic', forClients),
  should(
    'subscriptions-topics-1',
    'components.html#subscription-topics-in-r4',
    'The topics are in the CapabilityStatement',
    async (world) => {
      const { extension } = await capabilityOf(world);
      assert.ok(extension.some(({ valueCanonical }: { valueCanonical: string }) => valueCanonical === topic));
    },
  ),
  shall(
    'subscriptions-versions-1',
    'components.html#subscriptions-and-fhir-versions',
    'A version of FHIR in the payload is looked at, and one that is not supported is refused',
    async (world) => {
      const body = subscriptionOf(topic, nowhere, { payload: `${payload}; fhirVersion=4.3` });
      assert.equal(await refusedElement(world, body), 'Subscription.channel.payload');
      const named = `${payload}; fhirVersion=4.0`;
      const [handshake] = (await subscribeTo(world, { payload: named })).received;
      assert.equal(handshake?.headers['content-type'], named);
    },
  ),
  shall(
    'subscriptions-rest-hook-1',
    'channels.html#rest-hook',
    'The content-type of the POST is the media type of the payload',
    async (world) => {
      const receiver = await openReceiver({ after });
      for (const type of [payload, 'application/json', 'application/fhir+xml'])
        await world.create(subscriptionOf(topic, receiver.url, { payload: type }));
      await settle(world.service);
      const types = receiver.received.map(({ headers }) => headers['content-type']);
      assert.deepEqual(types.toSorted(), ['application/fhir+json', 'application/fhir+xml', 'application/json']);
    },
  ),
  shall(
    'subscriptions-rest-hook-2',
    'channels.html#rest-hook',
    'Each channel.header is a header of the request',
    async (world) => {
      const { received } = await subscribeTo(world, { header: ['Authorization: Bearer a', 'X-Of-Mine: b'] });
      const [handshake] = received;
      assert.deepEqual([handshake?.headers.authorization, handshake?.headers['x-of-mine']], ['Bearer a', 'b']);
    },
  ),
  shall(
    'subscriptions-rest-hook-3',
    'channels.html#rest-hook',
    'The Bundle follows the profile of notifications',
    async (world) => {
      const { last } = await tellOfPatient(world, await subscribeTo(world, { content: 'full-resource' }));
      const { resourceType, type, entry } = last.json;
      assert.deepEqual([resourceType, type, entry[0].resource.resourceType], ['Bundle', 'history', 'Parameters']);
      const { id: _, ...bundle } = last.json;
      const validated = await world.send('POST', 'Bundle/$validate', { ...bundle, meta: undefined });
      const errors = validated.json.issue.filter(({ severity }: { severity: string }) => severity === 'error');
      assert.deepEqual(errors, [], validated.text);
    },
  ),
  shall(
    'subscriptions-rest-hook-4',
    'channels.html#rest-hook',
    'The first status is requested, until the endpoint is verified',
    async (world) => {
      const receiver = await openReceiver({ after });
      const made = await world.create(subscriptionOf(topic, receiver.url, { payload }));
      assert.equal(made.status, 'requested');
      assert.equal((await world.send('POST', 'Subscription', { ...made, status: 'active' })).status, 422);
    },
  ),
  shall(
    'subscriptions-rest-hook-5',
    'channels.html#rest-hook',
    'After a handshake that was accepted the status is active',
    async (world) => {
      const { id } = await subscribeTo(world);
      assert.equal((await world.get(`Subscription/${id}`)).json.status, 'active');
    },
  ),
  shall(
    'subscriptions-rest-hook-6',
    'channels.html#rest-hook',
    'Where the handshake fails, and its repetitions as well, the status is error',
    async (world) => {
      const receiver = await openReceiver({ after });
      receiver.answers.push(...Array.from({ length: 5 }, () => ({ status: 500 })));
      const made = await world.create(subscriptionOf(topic, receiver.url, { payload }));
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        await settle(world.service);
        world.service.clock.advance(5_000 * 2 ** (attempt - 1));
      }
      const { json } = await world.get(`Subscription/${made.id}`);
      assert.equal(json.status, 'error');
      assert.match(json.error, /^handshake-failed/);
    },
  ),
  shall('subscriptions-websocket-1', 'channels.html#websockets', 'Media type of notifications', noWebsocket),
  shall('subscriptions-websocket-2', 'channels.html#websockets', 'Content level of notifications', noWebsocket),
  shall('subscriptions-email-1', 'channels.html#email', 'The body can be read by people', noMail),
  shall('subscriptions-email-2', 'channels.html#email', 'The content level applies to attachments', noMail),
];
