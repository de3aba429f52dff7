/** Conditional read (https://hl7.org/fhir/R4/http.html#cread): 304 for what the caller has already, by tag or by date. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const { id } = (await full.send('POST', 'Patient', patient('Stone'))).json;
const storedMs = service.clock.now();
const httpDate = (ms: number): string => new Date(ms).toUTCString();

const conditions: readonly [name: string, headers: Record<string, string>, status: number][] = [
  ['the tag of another version', { 'if-none-match': 'W/"2"' }, 200],
  ['a date before the version', { 'if-modified-since': httpDate(storedMs - 1000) }, 200],
  ['a date that is none', { 'if-modified-since': 'yesterday' }, 200],
  [
    'another tag beside a date that would do',
    { 'if-none-match': 'W/"2"', 'if-modified-since': httpDate(storedMs) },
    200,
  ],
  ['the tag of the version', { 'if-none-match': 'W/"1"' }, 304],
  ['any tag', { 'if-none-match': '*' }, 304],
  ['the date of the version', { 'if-modified-since': httpDate(storedMs) }, 304],
  ['a later date', { 'if-modified-since': httpDate(storedMs + 1000) }, 304],
];

for (const [name, headers, status] of conditions) {
  test(`${name}: ${status}`, async () => {
    const answer = await full.get(`Patient/${id}`, headers);
    assert.equal(answer.status, status, answer.text);
    assert.equal(answer.headers.get('etag'), 'W/"1"');
    if (status === 304) assert.equal(answer.text, '');
    else assert.equal(answer.json.id, id);
  });
}
