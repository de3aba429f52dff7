/** How many requests a process works on at once, and whose, and who waits for a place (docs/decisions/0258, 0262). */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import {
  openRequestPlaces,
  type PlacedRequest,
  type RequestPlaces,
} from '../../src/http/connections/request-places.ts';

const request = (key: string) => ({ headers: { 'x-api-key': key } });
const headers = { 'retry-after': '1' };
const tooMany = { code: 'rate-exceeded', status: 429, details: { headers, limit: 'application-requests' } };
const full = { code: 'unavailable', status: 503, details: { headers, limit: 'requests' } };
const told = (error: unknown) => {
  assert(error instanceof Error && 'code' in error && 'status' in error && 'details' in error);
  const { code, status, details } = error as typeof error & { details: { headers: object; limit: string } };
  return { code, status, details: { headers: details.headers, limit: details.limit } };
};
const refusedWith = (expected: object) => (error: unknown) => {
  assert.deepEqual(told(error), expected);
  return true;
};

test('an application holds twice the places that it leaves free, and there is one for who comes next', () => {
  const places = openRequestPlaces({ placesMax: 12 });
  const first = Array.from({ length: 8 }, () => places.take(1, request('one')));
  assert.throws(() => places.take(1, request('one')), refusedWith(tooMany));
  const others = Array.from({ length: 3 }, () => places.take(2, request('two')));
  assert.throws(() => places.take(2, request('two')), refusedWith(tooMany));
  places.take(3, request('three'));
  assert.throws(() => places.take(4, request('four')), refusedWith(full));
  for (const place of [...first, ...others]) place.leave();
  first[0]?.leave(); // once only
  assert.equal(Array.from({ length: 7 }, () => places.take(1, request('one'))).length, 7);
});

/** What became of a request at the door, and its response. */
function knock(places: RequestPlaces, key: string) {
  const response = Object.assign(new EventEmitter(), { closed: false });
  const seen = { request: request(key) as PlacedRequest, response, became: 'waiting' as unknown };
  places.enter(seen.request, response as unknown as ServerResponse, {
    proceed: () => {
      seen.became = 'proceeds';
    },
    refuse: (error) => {
      seen.became = told(error);
    },
  });
  return seen;
}
/** Its connection ends. */
function close(knocking: ReturnType<typeof knock> | undefined): void {
  assert.ok(knocking !== undefined);
  knocking.response.closed = true;
  knocking.response.emit('close');
}
const outcomes = (all: readonly { readonly became: unknown }[]) => all.map(({ became }) => became);

test('who finds no place waits, and applications are let in by turns', () => {
  const places = openRequestPlaces({ placesMax: 12 });
  for (let each = 1; each < 4; each += 1) places.take(each, request(`${each}`)).leave(); // known from now on
  const held = Array.from({ length: 8 }, () => places.take(1, request('1')));
  const others = Array.from({ length: 3 }, () => places.take(2, request('2')));
  const waiting = ['1', '1', '1', '2', '2'].map((key) => knock(places, key));
  assert.deepEqual(outcomes(waiting), Array(5).fill('waiting'));
  assert.equal(places.countWaiting(), 5);
  assert.equal(knock(places, '3').became, 'proceeds', 'there is a place for who comes next');
  for (const place of held.slice(0, 7)) place.leave();
  assert.deepEqual(outcomes(waiting), Array(5).fill('proceeds'));
  assert.equal(places.countWaiting(), 0);
  for (const place of [...held, ...others]) place.leave();
  places.close();
});

test('within an application who came first is first; of two applications neither waits for all of the other', () => {
  const places = openRequestPlaces({ placesMax: 3 });
  for (let each = 1; each < 3; each += 1) places.take(each, request(`${each}`)).leave();
  const full = [3, 4, 5].map((application) => places.take(application, request(`${application}`)));
  const order: string[] = [];
  const wait = (key: string, name: string): void =>
    places.enter(request(key), new EventEmitter() as unknown as ServerResponse, {
      proceed: () => order.push(name),
      refuse: () => assert.fail(name),
    });
  for (const name of ['1a', '1b', '1c', '2a']) wait(name.slice(0, 1), name);
  for (const place of full) place.leave();
  assert.deepEqual(order, ['1a', '2a', '1b']);
  places.close();
});

test('an unknown key waits only where all places are taken', () => {
  const places = openRequestPlaces({ placesMax: 12 });
  const held = Array.from({ length: 8 }, () => places.take(1, request('one')));
  assert.equal(knock(places, 'one').became, 'waiting');
  const unknown = knock(places, 'unknown');
  assert.equal(unknown.became, 'proceeds');
  assert.throws(() => places.take(1, unknown.request), refusedWith(tooMany), 'its credentials say whose it is');
  for (const place of held) place.leave();
  places.close();
});

test('a place at the door becomes the place of the application, and is given back when the connection ends', () => {
  const places = openRequestPlaces({ placesMax: 3 });
  places.take(1, request('one')).leave();
  const [first, second] = [knock(places, 'one'), knock(places, 'one')];
  assert.deepEqual(outcomes([first, second]), ['proceeds', 'proceeds']);
  assert.equal(knock(places, 'one').became, 'waiting');
  const place = places.take(1, first.request);
  close(first); // it was taken: nothing is given back twice
  const third = knock(places, 'one');
  assert.equal(third.became, 'waiting');
  close(second);
  place.leave();
  assert.equal(third.became, 'proceeds');
  places.close();
});

test('who waits too long is refused, and so is who finds no room to wait; who has left is not called', async () => {
  const places = openRequestPlaces({ placesMax: 3, waitingMax: 6, waitMaxMs: 0 });
  places.take(1, request('one')).leave();
  const held = [places.take(1, request('one')), places.take(1, request('one'))];
  const waiting = Array.from({ length: 4 }, () => knock(places, 'one'));
  assert.deepEqual(outcomes(waiting), Array(4).fill('waiting'));
  assert.deepEqual(knock(places, 'one').became, tooMany, 'it has twice the room that it leaves free');
  close(waiting[0]);
  const changed = new Promise<void>((resolve) => {
    const look = (): void => (outcomes(waiting).includes('waiting', 1) ? void setTimeout(look, 10) : resolve());
    look();
  });
  await changed;
  assert.deepEqual(outcomes(waiting), ['waiting', tooMany, tooMany, tooMany]);
  for (const place of held) place.leave();
  assert.equal(waiting[0]?.became, 'waiting');
  assert.equal(knock(places, 'one').became, 'proceeds');
  places.close();
});

test('who waits for a change holds no place meanwhile', async () => {
  const places = openRequestPlaces({ placesMax: 12 });
  const waiting = Array.from({ length: 8 }, () => places.take(1, request('one')));
  const change = Promise.withResolvers<boolean>();
  const outcomes = waiting.map((place) => place.during(() => change.promise));
  const more = Array.from({ length: 8 }, () => places.take(1, request('one')));
  for (const place of more) place.leave();
  change.resolve(true);
  assert.deepEqual(new Set(await Promise.all(outcomes)), new Set([true]));
  assert.throws(() => places.take(1, request('one')), refusedWith(tooMany));
});
