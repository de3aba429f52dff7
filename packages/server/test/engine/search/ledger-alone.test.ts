/**
 * The audit ledger is found by searching AuditEvent itself: what would find imported AuditEvents alone is refused with that
 * way, and who may not search AuditEvents is refused for that, as before.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const scope = ['system/AuditEvent.rs', 'acl/pat_s'];
const auditor = await openCaller(service, await makeApplication(service, 'Auditor', scope, [maple]), maple);
const narrow = await openCaller(service, await makeApplication(service, 'Narrow', ['acl/pat_s'], [maple]), maple);
assert.equal((await full.send('PUT', 'Patient/ada', { ...patient('Stone'), id: 'ada' })).status, 201);

const instead =
  'AuditEvent, of which only what was imported could be found so: the audit ledger is searched by itself, GET …/AuditEvent?…';

for (const query of [
  '_has:AuditEvent:patient:action=R',
  '_has:AuditEvent:entity:date=2026-11-21',
  '_has:Encounter:patient:_has:AuditEvent:entity:action=R',
  'general-practitioner._has:AuditEvent:entity:action=R',
  '_revinclude=AuditEvent:patient',
  '_revinclude=AuditEvent:*',
  '_revinclude:iterate=AuditEvent:entity',
]) {
  test(`Patient?${query} is refused with the way that shows all`, async () => {
    const [expression = ''] = query.split('=');
    const diagnostics = `${expression} would look at ${instead}`;
    const expected = { status: 400, error: 'search-invalid', issue: 'invalid', diagnostics, expression: [expression] };
    for (const caller of [full, auditor]) assertRefused(await caller.get(`Patient?${query}`), expected);
    assertRefused(await full.get(`?_type=Patient&${query}`), expected);
    const refused = await narrow.get(`Patient?${query}`);
    assert.equal(refused.status, 403);
    assert.doesNotMatch(refused.text, /ledger/);
  });
}

test('the history of the type is refused likewise, to those who may ask for histories of types', async () => {
  assertRefused(await full.get('AuditEvent/_history'), {
    status: 400,
    error: 'search-invalid',
    issue: 'invalid',
    diagnostics: `_history would look at ${instead}`,
    expression: ['_history'],
  });
  assert.equal((await auditor.get('AuditEvent/_history')).status, 403);
});

test('by itself, and in a compartment, the ledger is found', async () => {
  for (const path of ['AuditEvent?action=U', 'Patient/ada/AuditEvent?action=U,C', 'AuditEvent?patient=ada'])
    assert.ok((await auditor.get(path)).json.total !== 0, path);
  assert.equal((await full.get('AuditEvent?patient=ada&_include=AuditEvent:patient')).status, 200);
});
