/** docs/integrate/contract.md#fhir: AuditEvents of the server are its own ledger, readable by those entitled. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const narrow = await makeApplication(service, 'Narrow', ['acl/enc_s', 'acl/pat_s_name_dob_gen'], [maple]);
const caller = await openCaller(service, full, maple);

await caller.send('PUT', 'Patient/ada', { ...patient('Stone'), id: 'ada' });
await caller.get('Patient/ada');
await service.service.parts.ledger.flush();

test('settled audit-events reading: tokens without the right, and those of other firms, learn nothing', async () => {
  const restricted = await openCaller(service, narrow, maple);
  for (const path of ['AuditEvent', 'AuditEvent?patient=ada', 'Patient/ada/AuditEvent', 'AuditEvent/ledger-1-1'])
    assert.equal((await restricted.get(path)).status, 403, path);
  const elsewhere = await openCaller(service, full, cedar);
  assert.equal((await elsewhere.get('AuditEvent?patient=ada')).json.total, 0);
  assert.equal((await elsewhere.get('AuditEvent/ledger-1-1')).status, 404);
});

test('settled audit-events reading: those entitled search the ledger and read its events', async () => {
  const { json } = await caller.get('AuditEvent?patient=ada&_sort=date');
  assert.deepEqual(
    json.entry
      .slice(0, 2)
      .map(({ resource }: { resource: { action: string; recorded: string } }) => [resource.action, resource.recorded]),
    [
      ['U', '2026-11-21T09:30:00.000Z'],
      ['R', '2026-11-21T09:30:00.000Z'],
    ],
  );
  const [{ resource }] = json.entry;
  assert.deepEqual((await caller.get(`AuditEvent/${resource.id}`)).json, resource);
});
