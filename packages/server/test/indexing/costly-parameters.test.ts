/**
 * Search parameters of a firm's own whose expression compares every element with every other one (docs/decisions/0216): they
 * fail, and neither a request nor another definition does.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openIndexingJob } from '../../src/indexing/firm-parameters.ts';
import { captureLog } from '../support/captured-log.ts';
import { assertRefused } from '../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const { log, lines } = captureLog();
const service = await openTestService({ after }, {}, log);
const { jobs, parts } = service.service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [cedar]), cedar);

const subject = { reference: 'Patient/1' };
const identifiers = (count: number) => Array.from({ length: count }, (_, index) => ({ value: `v${index}` }));
const flag = (count: number) => ({
  resourceType: 'Flag',
  status: 'active',
  code: { text: 'x' },
  subject,
  identifier: identifiers(count),
});

/** With n identifiers it takes n^(levels + 1) steps. */
function nested(levels: number): string {
  let criteria = "value='zz'";
  for (let level = 0; level < levels; level += 1) criteria = `%resource.identifier.where(${criteria}).exists()`;
  return `Flag.identifier.where(${criteria}).value`;
}

const parameter = (code: string, expression: string) => ({
  resourceType: 'SearchParameter',
  id: code,
  url: `https://example.org/fhir/SearchParameter/${code}`,
  name: code,
  status: 'active',
  description: 'Identifiers',
  code,
  base: ['Flag'],
  type: 'string',
  expression,
});

const define = async (code: string, expression: string): Promise<void> => {
  const { status, text } = await full.send('PUT', `SearchParameter/${code}`, parameter(code, expression));
  assert.ok(status === 201 || status === 200, text);
};

async function standing(code: string): Promise<Record<string, unknown>> {
  const { status, json, text } = await full.get(`SearchParameter/${code}/$status`);
  assert.equal(status, 200, text);
  const part: Record<string, unknown>[] = json.parameter.at(-1).part;
  return Object.fromEntries(part.map(({ name, ...value }) => [name, Object.values(value)[0]]));
}

const reasonPattern =
  /^Its expression is too costly: on a Flag it took more than the \d+ steps that a resource of that size allows\. Let criteria look at the element itself, not at %resource$/;

async function assertFailed(code: string): Promise<void> {
  const { reason, ...rest } = await standing(code);
  assert.deepEqual(rest, {
    url: `https://example.org/fhir/SearchParameter/${code}`,
    resource: code,
    state: 'failed',
    percent: 0,
  });
  assert.match(String(reason), reasonPattern);
  assertRefused(await full.get(`Flag?${code}=zz`), {
    status: 400,
    error: 'search-invalid',
    issue: 'invalid',
    diagnostics: `${code} cannot be searched by, since its indexing failed: SearchParameter/$status tells why`,
    expression: [code],
  });
}

const isLive = async (): Promise<number> => (await fetch(`${service.origin}/health/live`)).status;
const count = ({ status, json, text }: Answer): number => {
  assert.equal(status, 200, text);
  return json.total;
};

// 2 levels show it as well, and end where nothing counts them.
const levels = Number(process.env['NESTED_LEVELS'] ?? 6);

test('a definition that costs too much on what is stored fails; the process goes on, also another that starts', async () => {
  assert.equal((await full.send('POST', 'Flag', flag(70))).status, 201);
  await define('deep', nested(levels));
  await define('plain', 'Flag.identifier.value');
  await jobs.settle();
  assert.equal(await isLive(), 200);
  await assertFailed('deep');
  assert.equal((await standing('plain'))['state'], 'active');
  assert.equal(count(await full.get('Flag?plain=v69&_summary=count')), 1);
  const { database } = service.platform;
  const anotherProcess = openIndexingJob({ ...parts, database, baseUrlOf: () => maple.base });
  assert.equal(await anotherProcess.run(), 'done');
  await assertFailed('deep');
  assert.match(await parts.metrics.registry.metrics(), /^praxis_search_parameters_failed_total 1$/m);
  const told = lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'a search parameter of a firm has failed');
  assert.deepEqual(
    told.map(({ level, firm }) => [level, firm]),
    [[40, maple.id]],
  );
});

test('a write on which a definition costs too much is stored, and the definition fails', async () => {
  assert.equal((await full.send('DELETE', 'Flag?plain=v69')).status, 204);
  assert.equal((await full.send('POST', 'Flag', flag(2))).status, 201);
  await define('late', nested(2));
  await jobs.settle();
  assert.equal((await standing('late'))['state'], 'active');
  const answer = await full.send('POST', 'Flag', flag(80));
  assert.equal(answer.status, 201, answer.text);
  await assertFailed('late');
  assert.equal(count(await full.get('Flag?plain=v79&_summary=count')), 1);
});

test('a new version of the SearchParameter starts anew, and searches by it find what it selects', async () => {
  await define('late', `${nested(2)} | Flag.identifier.where(value='never').value`);
  await jobs.settle();
  await assertFailed('late');
  await define('late', "Flag.identifier.where(value='v79').value");
  await jobs.settle();
  assert.deepEqual(await standing('late'), {
    url: 'https://example.org/fhir/SearchParameter/late',
    resource: 'late',
    state: 'active',
    percent: 100,
  });
  assert.equal(count(await full.get('Flag?late=v79&_summary=count')), 1);
});

for (const type of ['batch', 'transaction']) {
  test(`every entry of a ${type} is carried out, whatever a definition costs on it`, async () => {
    assert.equal((await full.send('DELETE', 'Flag?plain=v79')).status, 204);
    await define(`in-${type}`, nested(2));
    await jobs.settle();
    assert.equal((await standing(`in-${type}`))['state'], 'active');
    const request = { method: 'POST', url: 'Flag' };
    const entry = [80, 3, 80].map((each) => ({ resource: flag(each), request }));
    const answer = await full.send('POST', '', { resourceType: 'Bundle', type, entry });
    assert.equal(answer.status, 200, answer.text);
    const statuses = answer.json.entry.map(({ response }: { response: { status: string } }) => response.status);
    assert.deepEqual(
      statuses.map((status: string) => status.slice(0, 3)),
      ['201', '201', '201'],
    );
    await assertFailed(`in-${type}`);
    assert.equal(count(await full.get('Flag?plain=v79&_summary=count')), 2);
    for (const _ of [1, 2]) await full.send('DELETE', 'Flag?plain=v79&_count=1');
    for (const { resource } of (await full.get('Flag?plain=v79')).json.entry ?? [])
      await full.send('DELETE', `Flag/${resource.id}`);
  });
}

test('a definition that leads to too many elements of many types is refused, and costs the sender its budget', async () => {
  const everywhere = parameter('wide', 'Flag.extension.value.extension.value');
  assertRefused(await full.send('POST', 'SearchParameter', everywhere), {
    status: 422,
    error: 'search-parameter-unservable',
    issue: 'not-supported',
    diagnostics:
      'SearchParameter.expression follows too many types of elements on Flag: name the type, as in value.as(Quantity) (with a status other than active, it is stored but not used in searches)',
    expression: ['SearchParameter.expression'],
  });
});

test('another firm sees nothing of it', async () => {
  assert.deepEqual((await other.get('SearchParameter/$status')).json, { resourceType: 'Parameters' });
  assert.equal((await other.send('POST', 'Flag', flag(80))).status, 201);
});
