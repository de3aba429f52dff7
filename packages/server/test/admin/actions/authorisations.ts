/** What a firm lets applications do: given, changed, suspended, ended, each time as a version. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Answer, makeApplication } from '../../support/service.ts';
import { type Asking, place } from './asking.ts';

/** Of Scheduler at maple, and of another application with rows. */
export function testAuthorisations({ act, later, maple, now, operator, practice, service }: Asking): void {
  const terms = { application: 'Scheduler', acl: ['acl/pat_r'], purpose: 'Recall', expiresAt: later, rows: [] };

  test('a practice authorises with a subset, purpose and end, changes, suspends, resumes and revokes; each is a version', async () => {
    const { ask: asPractice } = practice;
    const path = '/environments/sandbox/firms/maple/authorisations/Scheduler';
    for (const [body, status, detail] of [
      [{ purpose: 'Recall', acl: ['acl/pat_u'] }, 422, 'acl/pat_u is not held by application Scheduler'],
      [{ purpose: 'Recall', acl: ['acl/*'] }, 422, 'acl/* is not held by application Scheduler'],
      [{ purpose: 'Recall', expiresAt: now }, 422, 'expiresAt has passed'],
      [{ acl: ['acl/pat_r'] }, 400, 'purpose is missing'],
      [{ purpose: 'Recall', rows: ['obsv_ef?category=exam'] }, 403, 'rows is for the role operator, not practice'],
    ] as const) {
      const refused = await asPractice('PUT', path, body);
      assert.deepEqual([refused.status, refused.json.detail], [status, detail]);
    }
    const made = await act(practice, 'authorise', place, { acl: ['acl/pat_r'], purpose: 'Recall', expiresAt: later });
    assert.deepEqual(made.json, { ...terms, state: 'active', version: 2 });
    await act(practice, 'authorisation suspend', place);
    assert.equal((await asPractice('POST', `${path}/suspend`)).status, 404);
    assert.deepEqual((await act(practice, 'authorisation show', place)).json, {
      ...terms,
      state: 'suspended',
      version: 3,
    });
    await act(practice, 'authorisation resume', place);
    assert.equal((await asPractice('POST', `${path}/resume`)).status, 404);
    const limited = await operator.ask('PUT', `${path}/rows`, { rows: ['nonsense'] });
    assert.equal(limited.status, 422);
    const withRows = await act(operator, 'authorisation rows', place, { rows: [] });
    assert.deepEqual(withRows.json, { ...terms, state: 'active', version: 5 });
    await act(practice, 'authorisation revoke', place);
    const again = await act(operator, 'authorise', place, { purpose: 'All again' });
    const all = { ...terms, acl: ['acl/pat_r', 'acl/pat_s'], purpose: 'All again', expiresAt: null };
    assert.deepEqual(again.json, { ...all, state: 'active', version: 7 });
    const { application: _, ...first } = { ...all, purpose: 'Test', state: 'active' };
    const { application: __, ...second } = terms;
    const { application: ___, ...last } = all;
    const history = (await act(practice, 'authorisation history', place)).json.items;
    assert.deepEqual(
      history.map(({ changedAt, ...version }: { changedAt: string }) => {
        assert.match(changedAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
        return version;
      }),
      [
        { ...last, state: 'active', version: 7, changedBy: 'operator' },
        { ...second, state: 'revoked', version: 6, changedBy: 'practice' },
        { ...second, state: 'active', version: 5, changedBy: 'operator' },
        { ...second, state: 'active', version: 4, changedBy: 'practice' },
        { ...second, state: 'suspended', version: 3, changedBy: 'practice' },
        { ...second, state: 'active', version: 2, changedBy: 'practice' },
        { ...first, version: 1, changedBy: 'command line' },
      ],
    );
    assert.deepEqual((await act(practice, 'authorisation list', ['sandbox', 'maple'])).json.items.length, 1);
  });

  test('an operator gives rows with an authorisation; they stay when it is renewed, and are replaced and taken away', async () => {
    const { application } = await makeApplication(service, 'Examiner', ['acl/obsv_ef_r', 'system/Patient.rs'], [maple]);
    const at = ['sandbox', 'maple', application.name];
    const path = '/environments/sandbox/firms/maple/authorisations/Examiner';
    const acl = ['acl/obsv_ef_r', 'acl/pat_s', 'system/Patient.r'];
    const exam = ['obsv_ef?category=exam&_elements=code,value'];
    const wrong = await operator.ask('PUT', path, { purpose: 'Exams', rows: ['obsv_ef?category=exam', 'pat?x=1'] });
    assert.deepEqual([wrong.status, wrong.json.errors[0].field], [422, 'rows']);
    const rowsOf = ({ json }: Answer): unknown => json.rows;
    assert.deepEqual(rowsOf(await act(operator, 'authorise', at, { purpose: 'Exams', acl, rows: exam })), exam);
    const explained = (await act(operator, 'access explain', at, { type: 'Observation' })).json;
    assert.deepEqual(explained.types[0].grants, [
      {
        letter: 'r',
        elements: ['Observation.code', 'Observation.value'],
        rows: 'category=exam',
        entries: ['acl/obsv_ef_r'],
      },
    ]);
    assert.deepEqual((await act(practice, 'authorise', at, { purpose: 'Again', acl })).json, {
      application: 'Examiner',
      state: 'active',
      version: 3,
      acl,
      purpose: 'Again',
      expiresAt: null,
      rows: exam,
    });
    assert.deepEqual(rowsOf(await act(operator, 'authorisation rows', at, { rows: [] })), []);
    for (const entry of ['system/Patient.u', 'system/*.r', 'acl/obsv_ef_s', 'acl/pat_c']) {
      const refused = await practice.ask('PUT', path, { purpose: 'More', acl: [entry] });
      assert.deepEqual([refused.status, refused.json.detail], [422, `${entry} is not held by application Examiner`]);
    }
  });
}
