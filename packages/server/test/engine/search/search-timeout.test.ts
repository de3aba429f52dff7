/**
 * A search for which the database takes longer than PRAXIS_STATEMENT_TIMEOUT_MS is answered 422 with the advice to narrow it,
 * whichever of its statements it was (docs/decisions/0259). The statements are held up by locks on the tables that they read.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Sql, sql } from '../../../src/database/sql.ts';
import { patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after }, { PRAXIS_STATEMENT_TIMEOUT_MS: '300' });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
for (const family of ['Ash', 'Birch', 'Elm']) await caller.send('POST', 'Patient', patient(family));

const slow: readonly (readonly [what: string, table: Sql, query: string])[] = [
  ['a page', sql`resource`, 'Patient?family=ash'],
  ['a count', sql`index_string`, 'Patient?family=ash&_summary=count'],
  ['includes', sql`index_reference`, 'Patient?_revinclude=Observation:subject'],
];

for (const [what, table, query] of slow) {
  test(`${what} that takes too long is 422 and says to narrow it`, async () => {
    const answer = await service.database.owner.transaction(undefined, async (tx) => {
      await tx.query(sql`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      return await caller.get(query);
    });
    assertRefused(answer, {
      status: 422,
      error: 'too-costly',
      issue: 'too-costly',
      diagnostics:
        'The request asks more of the database than one request may: a statement of it reached the time limit. Nothing was changed. To make it cheaper: narrow it, or ask for it in parts',
    });
    assert.equal((await caller.get(query)).status, 200);
  });
}
