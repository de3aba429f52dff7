/** What operators do about clocks. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import type { Asking } from './asking.ts';

export function testClock({ service, operator, now, later, act }: Asking): void {
  test('an operator sees the time of the service, and takes back a floor in the future', async () => {
    const floorMs = Date.parse(later);
    await service.database.owner.query(sql`UPDATE completeness SET floor = ${floorMs}::bigint`);
    assert.deepEqual((await act(operator, 'clock show')).json, {
      now,
      wallAheadMs: 0,
      databaseAheadMs: 0,
      floor: later,
    });
    const floor = new Date(Date.parse(now) - 60_000).toISOString();
    assert.deepEqual((await act(operator, 'clock repair')).json, { aheadMs: 86_400_000, floor });
    assert.deepEqual((await act(operator, 'clock repair')).json, { aheadMs: 0, floor });
  });
}
