/**
 * A patch whose operations, multiplied by the elements that they look at, cost more than one request may (docs/decisions/0215,
 * 0217): 422, and nothing has changed.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const names = Array.from({ length: 2_000 }, (_, index) => ({ family: `Family${index}` }));
const created = await full.send('PUT', 'Patient/many', { ...patient('x', { name: names }), id: 'many' });
assert.equal(created.status, 201, created.text);

/** FHIRPath Patch with one delete per path. */
const deletes = (paths: readonly string[]) => ({
  resourceType: 'Parameters',
  parameter: paths.map((path) => ({
    name: 'operation',
    part: [
      { name: 'type', valueCode: 'delete' },
      { name: 'path', valueString: path },
    ],
  })),
});

/** Each level asks twice, so that `levels` levels ask 2^levels times about each element. */
function doubled(levels: number): string {
  let criteria = "$this='nobody'";
  for (let level = 0; level < levels; level += 1) criteria = `($this|$this).where(${criteria}).exists()`;
  return `Patient.name.family.where(${criteria})`;
}

const operationIn = ({ json }: Awaited<ReturnType<typeof full.send>>): number =>
  Number(/^Operation (\d+) of/.exec(json.issue?.[0].diagnostics)?.[1]);

function assertTooCostly(answer: Awaited<ReturnType<typeof full.send>>, operation: number): void {
  assertRefused(answer, {
    status: 422,
    error: 'too-costly',
    issue: 'too-costly',
    diagnostics: `Operation ${operation} of the patch costs more than one request may: the limit is 500000 steps of computing. Nothing was changed. To make it cheaper: select elements by their place, or send several patches`,
  });
}

async function assertUnchanged(): Promise<void> {
  const { json } = await full.get('Patient/many');
  assert.equal(json.meta.versionId, '1');
  assert.equal(json.name.length, names.length);
}

// 5 operations of 8 levels end where nothing counts them, too.
const operations = Number(process.env['PATCH_OPERATIONS'] ?? 1_000);

test('operations × elements × steps of the paths are bounded', async () => {
  const patch = deletes(Array.from({ length: operations }, () => doubled(8)));
  const answer = await full.send('PATCH', 'Patient/many', patch);
  assertTooCostly(answer, operationIn(answer));
  await assertUnchanged();
});

test('many operations that are cheap each are bounded together', async () => {
  const paths = Array.from({ length: 1_000 }, (_, index) => `Patient.name.where(family='Nobody${index}')`);
  const answer = await full.send('PATCH', 'Patient/many', deletes(paths));
  assert.ok(operationIn(answer) > 10, answer.text);
  assertTooCostly(answer, operationIn(answer));
  await assertUnchanged();
});

test('paths that have to be compiled to very many steps are bounded together', async () => {
  const paths = Array.from(
    { length: 100 },
    (_, index) => `Patient.extension.value.extension.value.where($this='${index}')`,
  );
  const answer = await full.send('PATCH', 'Patient/many', deletes(paths));
  assert.equal(answer.status, 422, answer.text);
  assert.equal(answer.json.issue[0].code, 'too-costly');
  await assertUnchanged();
});

test('a path has 1,000 characters at most', async () => {
  const path = `Patient.name.where(${Array.from({ length: 200 }, () => "use='old'").join(' or ')})`;
  const answer = await full.send('PATCH', 'Patient/many', deletes([path]));
  assertRefused(answer, {
    status: 400,
    error: 'patch-invalid',
    issue: 'invalid',
    diagnostics: 'Operation 1 has a path of more than 1000 characters',
  });
});

test('what looks at each element once or twice passes', async () => {
  const answer = await full.send('PATCH', 'Patient/many', deletes(["Patient.name.where(family='Family1999')"]));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.name.length, names.length - 1);
});

/** Far above what one walk takes, and far below one walk for each of the resources. */
const chainMs = 20_000;

test('a chain of contained resources goes with the only reference to it in one walk', {
  timeout: chainMs,
}, async () => {
  const acl = ['acl/pat_u', 'acl/pat_c', 'acl/pat_s_name_dob_gen'];
  const blind = await openCaller(service, await makeApplication(service, 'Blind', acl, [maple]), maple);
  const length = 12_000;
  const contained = Array.from({ length }, (_, index) => ({
    resourceType: 'Organization',
    id: `c${index}`,
    name: 'x',
    ...(index + 1 < length ? { partOf: { reference: `#c${index + 1}` } } : {}),
  }));
  const chained = { ...patient('Chain', { contained, managingOrganization: { reference: '#c0' } }), id: 'chain' };
  assert.equal((await full.send('PUT', 'Patient/chain', chained)).status, 201);
  const operations = [{ op: 'add', path: '/managingOrganization', value: { display: 'none' } }];
  const answer = await blind.send('PATCH', 'Patient/chain', operations, {
    'content-type': 'application/json-patch+json',
    prefer: 'return=minimal',
  });
  assert.equal(answer.status, 200, answer.text);
  const { json } = await full.get('Patient/chain');
  assert.deepEqual([json.contained, json.managingOrganization], [undefined, { display: 'none' }]);
});
