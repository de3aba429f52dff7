/** What an application may do, and what the ledger tells of what was done. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { patient } from '../../support/records.ts';
import { makeApplication, openCaller } from '../../support/service.ts';
import { openAdministrator, password } from '../world.ts';
import { type Asking, place } from './asking.ts';

/** The first of them stores Patient/ada. */
export function testAudit({ act, maple, now, operator, service }: Asking): void {
  test('what an application may do, and what it saw of a patient', async () => {
    const explained = (await act(operator, 'access explain', place, { scope: 'acl/pat_r', type: 'Patient' })).json;
    assert.deepEqual(explained.closed, []);
    assert.deepEqual(explained.types[0].interactions, ['read', 'vread', 'history-instance']);
    assert.deepEqual(explained.types[0].grants, [{ letter: 'r', elements: ['all'], rows: '', entries: ['acl/pat_r'] }]);
    const asked = { type: 'Patient', interaction: 'update', parameter: 'birthdate' };
    assert.deepEqual((await act(operator, 'access explain', place, { scope: 'acl/pat_r', ...asked })).json.verdicts, [
      {
        what: 'Patient update',
        allowed: false,
        entries: [],
        reason:
          'Patient update needs acl/pat_u; the application does not hold it: the operator of the service adds it, then the practice grants it',
      },
      {
        what: 'Patient search by birthdate',
        allowed: false,
        entries: [],
        reason:
          'Patient search by birthdate, which reads Patient.birthDate, needs acl/pat_s or acl/pat_s_name_dob_gen; the practice has granted it, the token does not hold it: request a token with it',
      },
    ]);
    assert.deepEqual(
      (await act(operator, 'access explain', place, { scope: 'acl/pat_r', type: 'Patient', interaction: 'read' })).json
        .verdicts,
      [{ what: 'Patient read', allowed: true, entries: ['acl/pat_r'] }],
    );
    const path = '/environments/sandbox/firms/maple/authorisations/Scheduler/explain';
    for (const [question, field] of [
      [{ interaction: 'read' }, 'type'],
      [{ type: 'Patient', parameter: 'shoe-size' }, 'parameter'],
      [{ type: 'Patient', interaction: 'dance' }, 'interaction'],
    ] as const) {
      const { status, json } = await operator.ask('POST', path, question);
      assert.deepEqual([status, json.errors[0].field], [field === 'interaction' ? 400 : 422, field]);
    }
    const wrong = await operator.ask('POST', path, { scope: 'acl/pat_r "' });
    assert.deepEqual([wrong.status, wrong.json.errors[0].field], [422, 'scope']);
    const notHeld = await operator.ask('POST', path, { scope: 'acl/enc_r' });
    assert.deepEqual([notHeld.status, notHeld.json.errors?.[0].field], [422, 'scope']);
    await operator.ask('POST', '/environments/sandbox/firms/maple/authorisations/Scheduler/suspend');
    const closed = (await act(operator, 'access explain', place, {})).json.closed;
    assert.deepEqual(closed, ['maple has suspended what it authorised']);
    await operator.ask('POST', '/environments/sandbox/firms/maple/authorisations/Scheduler/resume');

    const reader = await makeApplication(service, 'Reader', ['acl/*'], [maple]);
    const caller = await openCaller(service, reader, maple);
    assert.equal((await caller.send('PUT', 'Patient/ada', { ...patient('Stone'), id: 'ada' })).status, 201);
    assert.equal((await caller.get('Patient/ada')).status, 200);
    await service.service.parts.ledger.flush();
    const desk = await openAdministrator(service, 'desk', 'practice', { firm: 'maple' });
    const refused = await desk.ask('POST', '/environments/sandbox/firms/maple/disclosures', { patient: 'Group/x' });
    assert.deepEqual([refused.status, refused.json.errors[0].field], [422, 'patient']);
    const { items } = (await act(desk, 'audit disclosures', ['sandbox', 'maple'], { patient: 'Patient/ada' })).json;
    assert.deepEqual(
      items.map(({ subject: _, requestId: __, ...row }: Record<string, unknown>) => row),
      [
        {
          at: now,
          application: 'Reader',
          interaction: 'read',
          resource: 'Patient/ada',
          shown: 1,
          elements: 'all',
          entries: 'acl/*',
        },
      ],
    );
    const none = await desk.ask('POST', '/environments/sandbox/firms/maple/disclosures', { patient: 'nobody' });
    assert.deepEqual(none.json, { items: [], more: false });
  });

  test('operators read what was asked of the service itself', async () => {
    const wrong = await operator.ask('POST', '/sessions', { username: 'nobody', password });
    assert.equal(wrong.status, 401);
    await service.service.parts.ledger.flush();
    const { items, more } = (await act(operator, 'audit service', [], { refused: true })).json;
    assert.equal(more, false);
    const signIn = items.find(({ about }: { about: string | null }) => about === 'sign-in');
    assert.deepEqual(Object.keys(signIn), [
      'at',
      'action',
      'about',
      'application',
      'subject',
      'outcome',
      'reason',
      'flow',
      'tokenId',
      'times',
      'requestId',
    ]);
    assert.deepEqual([signIn.action, signIn.outcome, signIn.reason], ['administer', 4, 'credentials-invalid']);
    const none = await operator.ask('POST', '/ledger', { to: now, from: now });
    assert.deepEqual(none.json, { items: [], more: false });
    const clerk = await openAdministrator(service, 'clerk', 'practice', { firm: 'maple' });
    const refused = await clerk.ask('POST', '/ledger', {});
    assert.deepEqual([refused.status, refused.json.code], [403, 'role-missing']);
  });
}
