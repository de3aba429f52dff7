/**
 * What a transaction sends to the database does not grow with its entries, where all are new: their writes go together, and
 * what every entry asks (whether its type waits for the practice, which codes the firm keeps) is asked once.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setValueSet } from '../../src/practice/value-sets/edit-value-sets.ts';
import { editorOf } from '../practice/calendars/world.ts';
import { openRecordedService } from '../support/recorded-service.ts';
import { makeApplication, makeFirm, openCaller } from '../support/service.ts';

const sent: string[] = [];
const service = await openRecordedService({ after }, (_firm, { text }) => sent.push(text));
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const codes = { codes: [{ code: 'self', display: 'Self' }] };
await setValueSet(await editorOf(service.platform, maple), 'insured-relationship', codes, undefined);

const coverage = {
  resourceType: 'Coverage',
  status: 'active',
  beneficiary: { reference: 'Patient/one' },
  payor: [{ reference: 'Organization/one' }],
  relationship: { coding: [{ code: 'self' }] },
};

test('forty new resources of a type that may wait and has codes of the firm are judged and written by three statements', async () => {
  const entry = Array.from({ length: 40 }, () => ({
    resource: coverage,
    request: { method: 'POST', url: 'Coverage' },
  }));
  sent.length = 0;
  const answer = await caller.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
  assert.equal(answer.status, 200, answer.text);
  const times = (part: string): number => sent.filter((text) => text.includes(part)).length;
  assert.deepEqual(
    {
      rules: times('FROM intake_rule'),
      sets: times('r.vid, r.lu, r.content'),
      writes: times('praxis_write_resources('),
    },
    { rules: 1, sets: 1, writes: 1 },
  );
});
