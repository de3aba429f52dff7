/**
 * The longest official examples (Bundles of definitions, up to 35 MB) are in the history as they are now.
 * Slow: stores resources of up to 35 MB.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { officialExamples } from '../../search/official-examples.ts';
import { type Answer, openTestService } from '../../support/service.ts';
import { assertReplayed, isLong, openWorld, type Resource } from './replaying.ts';

/** The longest example and what surrounds it. */
const bodyBytesMax = 40_000_000;
const arrayLengthMax = 200_000;
/** Versions of a page: each may be as long as the longest. */
const pageRows = 3;

const service = await openTestService(
  { after },
  { PRAXIS_BODY_BYTES_MAX: String(bodyBytesMax), PRAXIS_ARRAY_LENGTH_MAX: String(arrayLengthMax) },
);

test('over the longest official examples, deleted, revived and left alone, replayed histories equal the current state', {
  timeout: 600_000,
}, async (t) => {
  const long = officialExamples()
    .map((example) => example as unknown as Resource)
    .filter(isLong);
  const world = await openWorld(service, 'birch', long);
  const put = (resource: Resource): Promise<Answer> =>
    world.caller.send('PUT', `${resource.resourceType}/${resource.id}`, resource);
  const stored: Resource[] = [];
  for (const resource of long) if ((await put(resource)).status === 201) stored.push(resource);
  t.diagnostic(`${stored.length} of ${long.length} examples are stored`);
  assert.ok(stored.length > 5);
  for (const [index, resource] of stored.entries()) {
    const path = `${resource.resourceType}/${resource.id}`;
    if (index % 3 !== 0) assert.equal((await world.caller.send('DELETE', path)).status, 204);
    if (index % 3 !== 2) continue;
    const revived = await put({ ...resource, language: 'en' });
    assert.equal(revived.status, 201, revived.text.slice(0, 1_000));
  }
  await assertReplayed(world, pageRows);
});
