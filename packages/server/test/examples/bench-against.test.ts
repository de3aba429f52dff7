/** The bench that drives any FHIR server (bench/against-server), with this one as the other. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const bench = fileURLToPath(new URL('../../../../bench/main.ts', import.meta.url));
const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Bench', ['acl/*'], [maple]), maple);

test('the bench loads another server, asks it the same, and finds that the answers agree', async () => {
  const headers = Object.entries(caller.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const size = ['--patients', '8', '--rounds', '1', '--seconds', '0.05', '--connections', '2'];
  const { stdout } = await promisify(execFile)(process.execPath, [bench, '--against', maple.base, ...headers, ...size]);
  const rows = stdout.split('\n').filter((line) => / of \d+ \|/.test(line));
  assert.equal(rows.length, 10, stdout);
  for (const row of rows) {
    const [, agreeing, asked] = /(\d+) of (\d+) \|/.exec(row) ?? [];
    assert.ok(agreeing === asked && Number(asked) > 0, row);
  }
  const stored = (await caller.get('Patient?_summary=count')).json;
  assert.equal(stored.total, 8);
});
