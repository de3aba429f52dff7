/** Budgets of batches and transactions: each entry adds to that of the request, since it could have come alone. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { batch, entry, identified, mrn, post, transaction } from './bundles.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

/** A Patient whose indexing takes some thousand steps: more than the budget of one request is spent by all of them. */
function chartOf(number: number): Record<string, unknown> {
  const telecom = Array.from({ length: 80 }, (_, index) => ({ system: 'phone', value: `${number}-${index}` }));
  return { ...identified(`C${number}`), telecom };
}

const count = 1_500;
const charts = Array.from({ length: count }, (_, number) => post(chartOf(number)));
const statuses = ({ json }: Answer): Set<string> =>
  new Set(json.entry.map(({ response }: { response: { status: string } }) => response.status));

test('thousands of entries spend more than one request may, in a transaction and in a batch', async () => {
  for (const sent of [transaction(...charts), batch(...charts)]) {
    const answer = await full.send('POST', '', sent);
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    assert.equal(answer.json.entry.length, count);
    assert.deepEqual(statuses(answer), new Set(['201 Created']));
  }
});

test('few entries that cost more than they bring are refused, each with its reason', async () => {
  const names = Array.from({ length: 2_000 }, (_, index) => ({ family: `F${index}` }));
  const target = (await full.send('POST', 'Patient', { ...identified('T'), name: names })).json.id;
  const costly = entry('PATCH', `Patient/${target}`, {
    resourceType: 'Parameters',
    parameter: Array.from({ length: 1_000 }, (_, index) => ({
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'delete' },
        { name: 'path', valueString: `Patient.name.where(family='Nobody${index}')` },
      ],
    })),
  });
  const first = post(identified('first'));
  const answer = await full.send('POST', '', batch(first, costly, costly));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    answer.json.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)),
    ['201', '422', '422'],
  );
  const { issue } = answer.json.entry[1].response.outcome;
  assert.equal(issue[0].code, 'too-costly');
  const refused = await full.send('POST', '', transaction(post(identified('second')), costly));
  assert.equal(refused.status, 422, refused.text);
  assert.equal(refused.json.issue[0].code, 'too-costly');
  const { total } = (await full.get(`Patient?identifier=${mrn}|second&_summary=count`)).json;
  assert.equal(total, 0);
});
