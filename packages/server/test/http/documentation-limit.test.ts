// Pages of the documentation are open to all: to make one counts for the address, and what is kept is free.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openTestService } from '../support/service.ts';
import { openWire } from '../support/wire.ts';

const service = await openTestService({ after }, { PRAXIS_ADDRESS_RATE_LIMIT: '4' });
const wire = openWire(service.origin);
after(() => wire.close());

const known = '/docs/reference/Patient/searchPatient';

test('an address makes so many pages a minute, reads kept ones at will, and makes none by another method', async () => {
  const made = await wire.send({ path: known });
  assert.deepEqual([made.status, made.headers.get('ratelimit')], [200, '"address";r=3;t=60']);
  for (let count = 0; count < 6; count += 1) {
    const kept = await wire.send({ path: known });
    assert.deepEqual([kept.status, kept.headers.get('ratelimit')], [200, null]);
  }
  for (let count = 0; count < 6; count += 1) {
    const { status } = await wire.send({ method: 'POST', path: '/docs/reference/Patient/readPatient' });
    assert.equal(status, 405);
  }
  const pages = ['/docs/guides/first-call', '/docs/reference/Patient/none', '/openapi/Patient.json', '/docs'];
  const statuses: number[] = [];
  for (const path of pages) statuses.push((await wire.send({ path })).status);
  assert.deepEqual(statuses.slice(1), [404, 200, 429]);
  assert.equal(statuses[0], 200);
  assert.equal((await wire.send({ path: known })).status, 200);
  service.clock.advance(60_000);
  assert.equal((await wire.send({ path: '/docs' })).status, 200);
});
