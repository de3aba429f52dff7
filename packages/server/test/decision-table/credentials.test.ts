/**
 * The decision table of the data API, by real HTTP: every state of the token × every state of the key × every place, with
 * product, type and interaction spread over them so that every pair of values occurs. Denials first: what the oracle does
 * not allow is refused with the right status, challenge and OperationOutcome, and leaves no trace in the database.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { challengeOf } from '../support/refusals.ts';
import { type Answer, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { openWire } from '../support/wire.ts';
import { type Interaction, interactions, requestOf, types } from './asked.ts';
import { type Expected, expectedAnswer, type Named } from './oracle.ts';
import { type KeyState, openWorld, type Place, products, type TokenState } from './world.ts';

const service = await openTestService({ after });
const { tokens, keys, places } = await openWorld(service);
const wire = openWire(service.origin);
after(() => wire.close());

interface Case {
  readonly token: TokenState;
  readonly key: KeyState;
  readonly place: Place;
  readonly product: string;
  readonly type: string;
  readonly interaction: Interaction;
}

/** The full cross of credentials and places; the other factors by a fixed sequence (https://en.wikipedia.org/wiki/Linear_congruential_generator). */
function makeCases(): Case[] {
  let state = 1;
  const pick = <T>(list: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const item = list[(state >>> 16) % list.length];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  return tokens.flatMap((token) =>
    keys.flatMap((key) =>
      places.map((place) => ({
        token,
        key,
        place,
        product: place.product ?? pick(products),
        type: pick(types),
        interaction: pick(interactions),
      })),
    ),
  );
}

const cases = makeCases();

function expectedOf({ token, key, place, type, interaction }: Case): Expected {
  const asked = { typeServed: type !== 'Patience', success: interaction.success };
  return expectedAnswer({ token: token.facts, key: key.facts, place: place.facts, asked });
}

function send({ token, key, place, product, type, interaction }: Case): Promise<Answer> {
  const headers = {
    ...(token.authorization === undefined ? {} : { authorization: token.authorization }),
    ...(key.apiKey === undefined ? {} : { 'x-api-key': key.apiKey }),
  };
  return wire.send(requestOf(interaction, type, place.path(product), headers, token.query));
}

function nameOf({ token, key, place, product, type, interaction }: Case): string {
  return `token: ${token.name} | key: ${key.name} | ${place.name} | ${product} | ${interaction.name} ${type}`;
}

const firstWords: Readonly<Record<Named['credential'], RegExp>> = { token: /^Bearer token /, key: /^x-api-key /i };

function assertAnswer(answer: Answer, expected: Expected, { place }: Case): void {
  assert.equal(answer.status, expected.status);
  const challenge = challengeOf(answer);
  if (expected.error === undefined) {
    assert.equal(challenge, null);
    return;
  }
  const { issue: issues } = answer.json;
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  assert.equal(answer.json.resourceType, 'OperationOutcome');
  assert.equal(issues.length, Math.max(1, expected.named.length));
  for (const [index, issue] of issues.entries()) {
    assert.equal(issue.severity, 'error');
    assert.equal(issue.code, expected.issue);
    assert.equal(issue.details.coding[0].code, expected.error);
    const named = expected.named[index];
    if (named === undefined) continue;
    assert.match(issue.diagnostics, firstWords[named.credential]);
    assert.match(issue.diagnostics, named.how);
  }
  assert.equal(challenge, expectedChallenge(expected, place.facts.realm ?? '', issues[0].diagnostics));
}

/** RFC 6750 §3. */
function expectedChallenge(expected: Expected, realm: string, description: string): string | null {
  if (expected.challenge === 'none') return null;
  const bare = `Bearer realm="${realm}"`;
  return expected.challenge === 'bare' ? bare : `${bare}, error="invalid_token", error_description="${description}"`;
}

/** Sends the cases, a few at a time; returns what differs from what is expected, one line a case. */
async function failures(some: readonly Case[]): Promise<string[]> {
  const found = await Promise.all(
    some.map(async (each) => {
      const answer = await send(each);
      try {
        assertAnswer(answer, expectedOf(each), each);
        return [];
      } catch (error) {
        const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
        return [
          `${nameOf(each)}: ${why}; expected ${JSON.stringify(expectedOf(each))}, was ${answer.status} ${answer.text}`,
        ];
      }
    }),
  );
  return found.flat();
}

const refused = cases.filter((each) => expectedOf(each).error !== undefined);
const allowed = cases.filter((each) => expectedOf(each).error === undefined);

test('the table has every pair of values', () => {
  const factors = {
    token: (each: Case) => each.token.name,
    key: (each: Case) => each.key.name,
    place: (each: Case) => each.place.name,
    type: (each: Case) => each.type,
    interaction: (each: Case) => each.interaction.name,
    product: (each: Case) => each.product,
  };
  const free = cases.filter((each) => each.place.product === undefined);
  for (const [first, a] of Object.entries(factors)) {
    for (const [second, b] of Object.entries(factors).filter(([name]) => name !== first)) {
      const some = first === 'product' || second === 'product' ? free : cases;
      const present = new Set(some.map((each) => `${a(each)}|${b(each)}`));
      assert.equal(present.size, new Set(some.map(a)).size * new Set(some.map(b)).size, `${first} × ${second}`);
    }
  }
  assert.equal(cases.length, tokens.length * keys.length * places.length);
});

test('the oracle allows each flow with its own key at its own firms, and nothing else', () => {
  const names = new Set(allowed.map((each) => `${each.token.name} + ${each.key.name} at ${each.place.name}`));
  for (const name of [
    'client + client at own firm',
    'client + client at own firm, second',
    'client + client at other product',
    'legacy + legacy at own firm',
    'legacy + legacy at other product',
    'legacy, of another firm + legacy at own firm, second',
    'token of another environment of the realm + client, of another environment at other environment of the realm',
    'token of the other realm + client, of the other realm at other environment, other realm',
  ]) {
    names.delete(name);
  }
  assert.deepEqual([...names], []);
});

test('denials', async (t) => {
  const before = await tenantRows(service.database.owner);
  assert.ok((before['resource']?.rows ?? 0) > 0);
  for (const token of tokens) {
    const some = refused.filter((each) => each.token === token);
    await t.test(`token: ${token.name} (${some.length})`, async () => {
      assert.deepEqual(await failures(some), []);
    });
  }
  await t.test('none of them has written anything', async () => {
    assert.deepEqual(await tenantRows(service.database.owner), before);
  });
});

test('an unknown firm, one that has not authorised and one that has revoked get the same answer', async () => {
  const right = (each: Case): boolean => each.token.name === 'client' && each.key.name === 'client';
  const bodies = await Promise.all(
    refused
      .filter((each) => right(each) && expectedOf(each).error === 'firm-forbidden')
      .map(async (each) => (await send(each)).text),
  );
  assert.equal(bodies.length, 5);
  assert.equal(new Set(bodies).size, 1);
});

test('what is allowed, over every type and interaction', async () => {
  const everything = allowed.flatMap((each) =>
    types.flatMap((type) => interactions.map((interaction) => ({ ...each, type, interaction }))),
  );
  const versions = async (): Promise<number> =>
    (await tenantRows(service.database.owner))['resource_version']?.rows ?? 0;
  const before = await versions();
  assert.deepEqual(await failures(everything), []);
  const writes = everything.filter((each) => each.interaction.writes && each.type !== 'Patience');
  assert.equal((await versions()) - before, writes.length);
});
