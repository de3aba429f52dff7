/** The webhooks of the OpenAPI document: what endpoints receive is as it says, and its examples as well. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  openReceiver,
  openSubscriptionService,
  type Received,
  settle,
  subscribe,
  topicBase,
} from '../practice/subscriptions/world.ts';
import { patient } from '../support/records.ts';
import { answerOf, makeApplication, makeFirm, openCaller } from '../support/service.ts';

const service = await openSubscriptionService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Everything', ['acl/*'], [maple]), maple);
const { json: document } = await answerOf(await fetch(`${service.origin}/openapi.json`));

// Formats and patterns are R4's: the service keeps to them when it stores a resource.
const ajv = new Ajv2020({ strict: false, validateFormats: false, unicodeRegExp: false });
ajv.addSchema({ $id: 'document', components: { schemas: document.components.schemas } });

/** What the schema of the webhook's body says of a value: nothing where it fits. */
function problemsOf(webhook: string, method: string, value: unknown): unknown {
  const { schema } = document.webhooks[webhook][method].requestBody.content['application/fhir+json'];
  const validate = ajv.compile({ $ref: `document${schema.$ref}` });
  return validate(value) ? [] : validate.errors;
}

/** The parameters of the webhook are headers of the message, and there are no others of signatures. */
function assertHeaders(webhook: string, method: string, { headers }: Received): void {
  const named = document.webhooks[webhook][method].parameters.map(({ name }: { name: string }) => name);
  const sent = Object.keys(headers).filter((name) => name.startsWith('webhook-'));
  assert.deepEqual(sent.toSorted(), named.toSorted());
}

test('the examples are as their schemas say, and what lacks a part is not', () => {
  const names = ['handshake', 'heartbeat', 'events'];
  const { examples } = document.webhooks.topicNotification.post.requestBody.content['application/fhir+json'];
  assert.deepEqual(Object.keys(examples), names);
  for (const name of names) {
    const { value } = document.components.examples[`webhook.${name}`];
    assert.deepEqual(problemsOf('topicNotification', 'post', value), []);
    const { timestamp: _, ...undated } = value;
    assert.notDeepEqual(problemsOf('topicNotification', 'post', undated), []);
    const [{ resource, ...status }, ...others] = value.entry;
    const { parameter } = resource;
    for (const { name: left } of parameter.slice(0, 5)) {
      const less = { ...resource, parameter: parameter.filter((each: { name: string }) => each.name !== left) };
      const bundle = { ...value, entry: [{ ...status, resource: less }, ...others] };
      assert.notDeepEqual(problemsOf('topicNotification', 'post', bundle), [], left);
    }
  }
});

test('handshakes, heartbeats and events of topics are as the document says, at each level of content', async () => {
  const url = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-heartbeat-period';
  for (const content of ['empty', 'id-only', 'full-resource']) {
    const receiver = await openReceiver({ after });
    await subscribe(service, caller, `${topicBase}/patient-changed`, receiver.url, {
      payload: 'application/fhir+json',
      content,
      extension: [{ url, valueUnsignedInt: 60 }],
    });
    const { json } = await caller.send('POST', 'Patient', patient('Told'));
    await caller.send('DELETE', `Patient/${json.id}`);
    await settle(service);
    service.clock.advance(60_000);
    await settle(service);
    const types = receiver.received.map((each) => {
      assertHeaders('topicNotification', 'post', each);
      assert.equal(each.method, 'POST');
      assert.equal(each.headers['content-type'], 'application/fhir+json');
      assert.deepEqual(problemsOf('topicNotification', 'post', each.json), [], each.text);
      return each.json.entry[0].resource.parameter.find(({ name }: { name: string }) => name === 'type').valueCode;
    });
    assert.deepEqual([...new Set(types)], ['handshake', 'event-notification', 'heartbeat']);
  }
});

test('what the criteria of R4 send is as the document says', async () => {
  const full = await openReceiver({ after });
  const empty = await openReceiver({ after });
  await subscribe(service, caller, 'Patient?gender=other', full.url, { payload: 'application/fhir+json' });
  await subscribe(service, caller, 'Patient?gender=other', empty.url);
  await caller.send('POST', 'Patient', { ...patient('Told'), gender: 'other' });
  await settle(service);
  const [handshake, resource] = full.received;
  assert.ok(handshake && resource && full.received.length === 2);
  assertHeaders('change', 'post', handshake);
  assertHeaders('changedResource', 'put', resource);
  assert.deepEqual([handshake.method, handshake.text, resource.method], ['POST', '', 'PUT']);
  assert.deepEqual(problemsOf('changedResource', 'put', resource.json), []);
  assert.equal(empty.received.length, 2);
  for (const each of empty.received) {
    assertHeaders('change', 'post', each);
    assert.deepEqual([each.method, each.text, each.headers['content-type']], ['POST', '', undefined]);
  }
});

test('the document of Subscription has the webhooks, others have none', async () => {
  const part = async (tag: string) => (await answerOf(await fetch(`${service.origin}/openapi/${tag}.json`))).json;
  assert.deepEqual((await part('Subscription')).webhooks, document.webhooks);
  assert.deepEqual((await part('Patient')).webhooks, {});
});
