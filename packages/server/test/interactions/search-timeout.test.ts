/**
 * A search that takes longer than PRAXIS_STATEMENT_TIMEOUT_MS is answered 503 with the advice to narrow it, whichever of its
 * statements it was. The statements are held up by locks on the tables that they read.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Sql, sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

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
  test(`${what} that takes too long is 503 and says to narrow it`, async () => {
    const answer = await service.database.owner.transaction(undefined, async (tx) => {
      await tx.query(sql`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      return await caller.get(query);
    });
    assert.equal(answer.status, 503, answer.text);
    const [issue] = answer.json.issue;
    assert.deepEqual(
      [issue.code, issue.details.coding[0].code, issue.diagnostics],
      ['timeout', 'statement-timeout', 'Query took longer than the service allows: narrow it'],
    );
    assert.equal((await caller.get(query)).status, 200);
  });
}
