/** How many requests a process works on at once, and whose (docs/decisions/0258). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRequestPlaces } from '../../src/http/request-places.ts';

const request = (key: string) => ({ headers: { 'x-api-key': key } });
const tooMany = { code: 'rate-exceeded', status: 429, details: { headers: { 'retry-after': '1' } } };
const full = { code: 'unavailable', status: 503, details: { headers: { 'retry-after': '1' } } };
const told = (error: unknown) => {
  assert(error instanceof Error && 'code' in error && 'status' in error && 'details' in error);
  const { code, status, details } = error as typeof error & { details: { headers: object } };
  return { code, status, details: { headers: details.headers } };
};
const refusedWith = (expected: object) => (error: unknown) => {
  assert.deepEqual(told(error), expected);
  return true;
};

test('an application holds twice the places that it leaves free, and there is one for who comes next', () => {
  const places = openRequestPlaces(12);
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

test('a key that is known is refused before anything is done for its request; others are asked for credentials first', () => {
  const places = openRequestPlaces(12);
  const held = Array.from({ length: 8 }, () => places.take(1, request('one')));
  assert.deepEqual(told(places.refusalOf(request('one'))), tooMany);
  assert.equal(places.refusalOf(request('unknown')), undefined);
  for (let each = 2; each < 6; each += 1) places.take(each, request(`${each}`));
  assert.deepEqual(told(places.refusalOf(request('unknown'))), full);
  for (const place of held) place.leave();
  assert.equal(places.refusalOf(request('one')), undefined);
});

test('who waits for a change holds no place meanwhile', async () => {
  const places = openRequestPlaces(12);
  const waiting = Array.from({ length: 8 }, () => places.take(1, request('one')));
  const change = Promise.withResolvers<boolean>();
  const outcomes = waiting.map((place) => place.during(() => change.promise));
  const more = Array.from({ length: 8 }, () => places.take(1, request('one')));
  for (const place of more) place.leave();
  change.resolve(true);
  assert.deepEqual(new Set(await Promise.all(outcomes)), new Set([true]));
  assert.throws(() => places.take(1, request('one')), refusedWith(tooMany));
});
