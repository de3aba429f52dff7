/** Erasing a firm, by two operators: offboarding/erasing.test.ts has the rest. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { makeFirm } from '../../support/service.ts';
import { ageOperators, openAdministrator, password } from '../world.ts';
import type { Asking } from './asking.ts';

export function testErasures({ act, now, operator, service }: Asking): void {
  test('an erasure: requested, cancelled, requested again, confirmed by another operator, listed and shown', async () => {
    const second = await openAdministrator(service, 'second', 'operator');
    await ageOperators(service, 'operator', 'second');
    const willow = await makeFirm(service, 'willow');
    await act(operator, 'firm suspend', ['sandbox', 'willow']);
    const asked = { reason: 'The contract has ended', password };
    const made = (await act(operator, 'firm erase request', ['sandbox', 'willow'], asked)).json;
    const until = new Date(Date.parse(now) + 3 * 86_400_000).toISOString();
    const none = { confirmedBy: null, confirmedAt: null, cancelledBy: null, cancelledAt: null, finishedAt: null };
    const told = { environment: 'sandbox', firm: 'willow', name: 'Firm willow', reason: asked.reason };
    const expected = {
      ...{ id: 1, ...told, state: 'requested', requestedBy: 'operator', requestedAt: now, expiresAt: until, ...none },
      counts: { resources: 0, versions: 0, documents: 0, auditRows: 2, applications: 0 },
      ...{ proof: null, signature: null, isSigned: null, tablesLeft: ['audit_event', 'audit_caller', 'audit_action'] },
    };
    assert.deepEqual(made, expected);
    const cancelled = await act(second, 'firm erase cancel', ['1']);
    assert.deepEqual(cancelled.json, { ...expected, state: 'cancelled', cancelledBy: 'second', cancelledAt: now });
    await act(operator, 'firm erase request', ['sandbox', 'willow'], asked);
    const confirmed = (await act(second, 'firm erase confirm', ['2'], { firm: 'willow', password })).json;
    assert.deepEqual([confirmed.state, confirmed.confirmedBy, confirmed.confirmedAt], ['confirmed', 'second', now]);
    await service.service.jobs.settle();
    const shown = (await act(second, 'firm erase show', ['2'])).json;
    assert.deepEqual([shown.state, shown.isSigned, shown.tablesLeft], ['erased', true, []]);
    assert.deepEqual(JSON.parse(shown.proof).firm, {
      environment: 'sandbox',
      prefix: 'willow',
      number: willow.id,
      name: 'Firm willow',
    });
    const { items, more } = (await act(operator, 'firm erase list')).json;
    assert.deepEqual(
      [items.map(({ id, state }: { id: number; state: string }) => [id, state]), more],
      [
        [
          [2, 'erased'],
          [1, 'cancelled'],
        ],
        false,
      ],
    );
  });
}
