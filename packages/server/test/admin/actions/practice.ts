/** What a practice keeps: calendars, holidays, value sets, charges, and what waits for it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { plainCalendar, putPlaces } from '../../practice/calendars/world.ts';
import { makeApplication, openCaller } from '../../support/service.ts';
import { openAdministrator } from '../world.ts';
import type { Asking } from './asking.ts';

/** Needs Patient/ada. */
export function testPractice({ act, maple, now, operator, service }: Asking): void {
  test('calendars and holidays: made, shown, changed by whoever has seen the version before, ended; each is a version', async () => {
    const writer = await makeApplication(service, 'Writer', ['acl/*'], [maple]);
    await putPlaces(await openCaller(service, writer, maple), ['12'], ['3']);
    const reception = await openAdministrator(service, 'reception', 'practice', { firm: 'maple' });
    const firm = ['sandbox', 'maple'];
    const one = {
      ...{ number: 1, version: 1, active: true, practitioner: '12', location: '3', timeZone: 'America/New_York' },
      document: plainCalendar,
    };
    assert.deepEqual((await act(reception, 'calendar set', firm, { calendar: plainCalendar })).json, one);
    const path = '/environments/sandbox/firms/maple/calendars';
    const unseen = await reception.ask('PUT', path, { calendar: plainCalendar });
    assert.deepEqual(
      [unseen.status, unseen.json.code, unseen.json.detail],
      [
        412,
        'precondition-failed',
        'version is missing: there is a calendar already, and it is at version 1: read it and give that version',
      ],
    );
    const longer = { ...plainCalendar, weekly: [{ days: ['sat'], from: '09:00', to: '10:00' }] };
    const second = (await act(operator, 'calendar set', firm, { calendar: longer, version: 1 })).json;
    assert.deepEqual(second, { ...one, version: 2, document: longer });
    assert.deepEqual((await act(reception, 'calendar show', [...firm, '1'])).json, second);
    await act(reception, 'calendar remove', [...firm, '1']);
    const { document: _, ...listed } = second;
    const items = [{ ...listed, version: 3, active: false }];
    assert.deepEqual((await act(reception, 'calendar list', firm)).json, { items, more: false });
    assert.deepEqual((await act(reception, 'calendar history', [...firm, '1'])).json.items, [
      { version: 3, active: false, changedAt: now, changedBy: 'reception', document: longer },
      { version: 2, active: true, changedAt: now, changedBy: 'operator', document: longer },
      { version: 1, active: true, changedAt: now, changedBy: 'reception', document: plainCalendar },
    ]);

    const holidays = { holidays: [{ yearly: '12-25' }] };
    const everywhere = { location: '*', version: 1, document: holidays };
    assert.deepEqual((await act(reception, 'holidays set', [...firm, '*'], { holidays })).json, everywhere);
    assert.deepEqual((await act(reception, 'holidays show', [...firm, '*'])).json, everywhere);
    await act(reception, 'holidays set', [...firm, '3'], { holidays: { holidays: [] } });
    assert.deepEqual((await act(reception, 'holidays list', firm)).json.items, [
      { location: '*', version: 1 },
      { location: '3', version: 1 },
    ]);
    assert.deepEqual((await act(reception, 'holidays history', [...firm, '*'])).json.items, [
      { version: 1, changedAt: now, changedBy: 'reception', document: holidays },
    ]);
  });

  test('value sets: set, shown, a code retired (value-sets.test.ts has the rest)', async () => {
    const firm = ['sandbox', 'maple'];
    const reception = await openAdministrator(service, 'codes', 'practice', { firm: 'maple' });
    const codes = ['A', 'B'].map((code) => ({ code, display: code }));
    const made = await act(reception, 'value-set set', [...firm, 'recall-type'], { valueSet: { codes } });
    assert.equal(made.json.version, 1);
    const retired = await act(reception, 'value-set retire', [...firm, 'recall-type'], { code: 'A' });
    assert.deepEqual((await act(reception, 'value-set show', [...firm, 'recall-type'])).json, retired.json);
    const { items } = (await act(operator, 'value-set list', firm)).json;
    const { codes: inUse, retired: _, ...listed } = retired.json;
    assert.deepEqual(
      items.find(({ valueSet }: { valueSet: string }) => valueSet === 'recall-type'),
      { ...listed, inUse: inUse.length },
    );
  });

  test('charges and intake: listed, shown, decided (charges.test.ts and intake.test.ts have the rest)', async () => {
    const firm = ['sandbox', 'maple'];
    const rule = [...firm, 'Condition', 'Scheduler'];
    const reception = await openAdministrator(service, 'billing', 'practice', { firm: 'maple' });
    assert.deepEqual((await act(reception, 'charges list', firm, {})).json, { items: [], more: false });
    await act(reception, 'intake require', rule);
    const { items } = (await act(reception, 'intake rules', firm)).json;
    assert.deepEqual(items, [{ type: 'Condition', application: 'Scheduler' }]);
    await act(reception, 'intake release', rule);
    await act(reception, 'intake require', [...firm, 'Condition', '*']);
    const writer = await openCaller(service, await makeApplication(service, 'Portal', ['acl/*'], [maple]), maple);
    const condition = { resourceType: 'Condition', subject: { reference: 'Patient/ada' } };
    assert.equal((await writer.send('POST', 'Condition', condition)).status, 202);
    const [{ task, fields }] = (await act(reception, 'intake list', firm)).json.items;
    assert.deepEqual(fields, ['subject']);
    assert.equal((await act(operator, 'intake show', [...firm, task])).json.status, 'requested');
    assert.equal((await act(reception, 'intake decide', [...firm, task], { rest: 'reject' })).json.status, 'rejected');
  });

  test('subscriptions: listed with where they lead, ended, and let go on', async () => {
    const firm = ['sandbox', 'maple'];
    const reception = await openAdministrator(service, 'watching', 'practice', { firm: 'maple' });
    const application = await makeApplication(service, 'Listener', ['system/Subscription.cru', 'acl/pat_s'], [maple]);
    const asked = {
      resourceType: 'Subscription',
      status: 'requested',
      reason: 'Test',
      criteria: 'Patient?active=true',
      channel: { type: 'rest-hook', endpoint: 'https://subscriber.example.com/hook' },
    };
    const made = await (await openCaller(service, application, maple)).send('POST', 'Subscription', asked);
    const { items } = (await act(reception, 'subscriptions list', firm)).json;
    const { status: _status, failingSince: _since, nextAttempt: _next, ...shown } = items[0];
    assert.deepEqual(shown, {
      id: made.json.id,
      application: 'Listener',
      reason: null,
      about: 'Patient',
      endpoint: 'https://subscriber.example.com/hook',
      content: 'empty',
      events: 0,
      waiting: 0,
      keptFrom: null,
      suspended: false,
      suspendedByVendor: false,
    });
    assert.deepEqual(
      (await act(reception, 'subscriptions show', [...firm, made.json.id])).json.endpoint,
      shown.endpoint,
    );
    assert.equal((await act(operator, 'subscriptions all', ['sandbox'])).json.items[0].firm, 'maple');
    await act(reception, 'subscriptions deliveries', [...firm, made.json.id]);
    // Nothing has reached the endpoint, which is none: an event and a run are put there.
    await service.database.owner.query(sql`
      WITH run AS (UPDATE subscription SET status = 'active', admits = true, events = 1, delivered = 1 WHERE id = ${made.json.id} RETURNING firm)
      INSERT INTO subscription_event (firm, subscription, number, at, rtype, id, vid, kind)
      SELECT firm, ${made.json.id}, 1, 0, 1, 'p', 1, 'create' FROM run`);
    const vendor = await openAdministrator(service, 'listener', 'vendor', { application: 'Listener' });
    const listener = ['sandbox', 'Listener'];
    const atFirm = [...listener, 'maple'];
    await act(vendor, 'app subscriptions', listener);
    await act(vendor, 'app subscriptions-at', atFirm);
    await act(vendor, 'app deliveries', [...atFirm, made.json.id]);
    await act(vendor, 'app replay', [...atFirm, made.json.id], { from: 1 });
    await act(reception, 'subscriptions replay', [...firm, made.json.id], { from: 1 });
    await act(vendor, 'app suspend-subscription', [...atFirm, made.json.id]);
    await act(vendor, 'app resume-subscription', [...atFirm, made.json.id]);
    await act(reception, 'subscriptions suspend', [...firm, made.json.id]);
    await service.service.jobs.settle();
    const [ended] = (await act(operator, 'subscriptions list', firm)).json.items;
    assert.deepEqual([ended.status, ended.reason, ended.suspended], ['off', 'suspended', true]);
    await act(reception, 'subscriptions resume', [...firm, made.json.id]);
  });

  test('exports and imports: listed, shown and ended (jobs-of-files.test.ts has the rest)', async () => {
    const firm = ['sandbox', 'maple'];
    const reception = await openAdministrator(service, 'files', 'practice', { firm: 'maple' });
    const application = await makeApplication(service, 'Exporter', ['acl/*'], [maple]);
    const vendor = await openAdministrator(service, 'exporter', 'vendor', { application: 'Exporter' });
    const exporter = await openCaller(service, application, maple);
    for (let count = 0; count < 2; count += 1) await exporter.get('$export', { prefer: 'respond-async' });
    const { items } = (await act(reception, 'exports list', firm)).json;
    assert.equal(items.length, 2);
    const own = ['sandbox', 'Exporter'];
    await act(operator, 'exports all', ['sandbox']);
    await act(reception, 'exports show', [...firm, items[0].id]);
    await act(reception, 'exports cancel', [...firm, items[0].id]);
    await act(vendor, 'app exports', own);
    await act(vendor, 'app exports-at', [...own, 'maple']);
    await act(vendor, 'app show-export', [...own, 'maple', items[1].id]);
    await act(vendor, 'app cancel-export', [...own, 'maple', items[1].id]);
    assert.deepEqual((await act(operator, 'exports list', firm)).json.items, []);
    const run = '0193f2f0-0000-7000-8000-000000000009';
    await service.database.owner.query(sql`
      INSERT INTO import_run (begun, firm, files, bytes, id, holder, fingerprint)
      VALUES (${service.clock.now()}, ${maple.id}, 1, 10, ${run}, ${run}, ${Buffer.alloc(32)})`);
    assert.equal((await act(reception, 'imports list', firm)).json.items[0].id, run);
    await act(operator, 'imports all', ['sandbox']);
    assert.equal((await act(reception, 'imports show', [...firm, run])).json.state, 'unfinished');
    await act(reception, 'imports cancel', [...firm, run]);
  });

  test('broken invariants: listed (broken-invariants.test.ts has the rest)', async () => {
    const reception = await openAdministrator(service, 'mending', 'practice', { firm: 'maple' });
    const { json } = await act(reception, 'invariants broken', ['sandbox', 'maple'], { type: 'Location' });
    assert.deepEqual(json.items, []);
  });
}
