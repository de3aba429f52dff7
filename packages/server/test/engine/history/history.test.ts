/**
 * Histories of an instance, a type and the firm by HTTP (https://hl7.org/fhir/R4/http.html#history): who may, what an entry
 * tells, `_since`, `_at`, `_count`, and what is refused.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { toInstant } from '../../../src/base/clock.ts';
import { encounter, patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService, startMs } from '../../support/service.ts';

const minuteMs = 60_000;
const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [cedar]), cedar);
const reading = ['acl/pat_r', 'acl/pat_s_name_dob_gen', 'acl/enc_r', 'acl/enc_s'];
const restricted = await openCaller(service, await makeApplication(service, 'Narrow', reading, [maple]), maple);
const recalls = ['acl/tsk_pmrecall_r', 'acl/tsk_pmrecall_s'];
const rows = await openCaller(service, await makeApplication(service, 'Rows', recalls, [maple]), maple);
const lenient = { prefer: 'handling=lenient' };

const task = (code: string) => ({
  resourceType: 'Task',
  id: 'call',
  status: 'ready',
  intent: 'order',
  code: { coding: [{ code }] },
});

/** One write a minute, from startMs on: the method, the version, and the moment of each. */
const steps: readonly (() => Promise<Answer>)[] = [
  () => full.send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' }),
  () => full.send('PUT', 'Encounter/visit', { ...encounter('Patient/one'), id: 'visit' }),
  () => full.send('PUT', 'Patient/one', { ...patient('Marble'), id: 'one' }),
  () => full.send('DELETE', 'Patient/one'),
  () => full.send('POST', 'Patient', patient('Slate')),
  () => full.send('PUT', 'Patient/one', { ...patient('Granite'), id: 'one' }),
  () => full.send('PUT', 'Task/call', task('PMRECALL')),
  () => full.send('PUT', 'Task/call', task('OTHER')),
];
const answers: Answer[] = [];
for (const step of steps) {
  const answer = await step();
  assert.ok(answer.status < 300, answer.text);
  answers.push(answer);
  service.clock.advance(minuteMs);
}
const slate = answers[4]?.json.id;
const instantOf = (step: number): string => toInstant(startMs + step * minuteMs);

/** `Type/id/version method` of each entry. */
function listed({ status, json, text }: Answer): string[] {
  assert.equal(status, 200, text);
  assert.equal(json.type, 'history');
  return (json.entry ?? []).map(
    ({ fullUrl, request, response }: Record<string, { method: string; etag: string } & string>) =>
      `${fullUrl?.slice(maple.base.length + 1)} ${response?.etag} ${request?.method}`,
  );
}

const patients = [
  'Patient/one W/"4" PUT',
  `Patient/${slate} W/"1" POST`,
  'Patient/one W/"3" DELETE',
  'Patient/one W/"2" PUT',
  'Patient/one W/"1" PUT',
];
const everything = [
  'Task/call W/"2" PUT',
  'Task/call W/"1" PUT',
  ...patients.slice(0, 4),
  'Encounter/visit W/"1" PUT',
  ...patients.slice(4),
];

test('histories of a type and of the firm need acl/*, whatever else is held', async () => {
  for (const [path, what] of [
    ['Patient/_history', 'Patient'],
    ['_history', 'System'],
  ] as const) {
    for (const query of ['', '?_since=2026', '?_cursor=x', '?_list=List/1', '?nonsense=1']) {
      assertRefused(await restricted.get(path + query), {
        status: 403,
        error: 'access-denied',
        issue: 'forbidden',
        challenge: 'Bearer error="insufficient_scope"',
        diagnostics: `${what} history needs acl/*; the application does not hold it: the operator of the service adds it, then the practice grants it`,
      });
    }
  }
});

test('another firm sees its own history, which is empty', async () => {
  for (const path of ['Patient/_history', '_history', '_history?_at=2026-11-21']) {
    const answer = await other.get(path);
    assert.deepEqual(
      [answer.status, answer.json.type, answer.json.total, answer.json.entry],
      [200, 'history', 0, undefined],
    );
  }
  assert.equal((await other.get('Patient/one/_history')).status, 404);
});

test('a type has the versions of all its resources, newest first, deletions included', async () => {
  const answer = await full.get('Patient/_history');
  assert.deepEqual(listed(answer), patients);
  const { id, meta, ...rest } = answer.json;
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(meta, { lastUpdated: toInstant(service.clock.now()) });
  assert.deepEqual(
    { ...rest, entry: rest.entry.slice(0, 3) },
    {
      resourceType: 'Bundle',
      type: 'history',
      total: 5,
      link: [{ relation: 'self', url: `${maple.base}/Patient/_history` }],
      entry: [
        {
          fullUrl: `${maple.base}/Patient/one`,
          resource: {
            resourceType: 'Patient',
            id: 'one',
            meta: { versionId: '4', lastUpdated: instantOf(5) },
            name: [{ family: 'Granite' }],
          },
          request: { method: 'PUT', url: 'Patient/one' },
          response: { status: '200', etag: 'W/"4"', lastModified: instantOf(5) },
        },
        {
          fullUrl: `${maple.base}/Patient/${slate}`,
          resource: answers[4]?.json,
          request: { method: 'POST', url: 'Patient' },
          response: { status: '201', etag: 'W/"1"', lastModified: instantOf(4) },
        },
        {
          fullUrl: `${maple.base}/Patient/one`,
          request: { method: 'DELETE', url: 'Patient/one' },
          response: { status: '204', etag: 'W/"3"', lastModified: instantOf(3) },
        },
      ],
    },
  );
});

test('the firm has the versions of all types; a type without any has none', async () => {
  assert.deepEqual(listed(await full.get('_history')), everything);
  assert.deepEqual(listed(await full.get('Observation/_history')), []);
});

test('_since begins at a moment, that moment included', async () => {
  for (const step of steps.keys()) {
    assert.deepEqual(
      listed(await full.get(`_history?_since=${instantOf(step)}`)),
      everything.slice(0, steps.length - step),
      instantOf(step),
    );
  }
  assert.deepEqual(listed(await full.get('Patient/_history?_since=2026-11-21T09:32:00.001Z')), patients.slice(0, 3));
  assert.deepEqual(listed(await full.get('Patient/one/_history?_since=2026-11-21T09:32:01Z')), [
    patients[0],
    patients[2],
  ]);
  assert.deepEqual(listed(await full.get('Patient/one/_history?_since=2099')), []);
  assert.equal((await full.get('Patient/none/_history?_since=2099')).status, 404);
});

test('a date without a zone is read in the time zone of the firm, with the precision it has', async () => {
  for (const [since, isAll] of [
    ['2026', true],
    ['2026-11', true],
    ['2026-11-21', true],
    ['2026-11-22', false],
    ['2026-11-21T04:30:00', true], // New York
    ['2026-11-21T04:30', true],
    ['2026-11-21T04:38', false],
    ['2026-11-21T10:30:00+01:00', true], // the + arrives as a space
    ['2026-11-21T10:30:00%2B01:00', true],
  ] as const) {
    assert.deepEqual(listed(await full.get(`_history?_since=${since}`)), isAll ? everything : [], since);
  }
});

test('_at has the versions that were current at some point of a period, and the deletions inside it', async () => {
  for (const [at, expected] of [
    ['2026-11-21T09:29:59Z', []],
    [instantOf(0), ['Patient/one W/"1" PUT']],
    ['2026-11-21T09:31:30Z', ['Encounter/visit W/"1" PUT', 'Patient/one W/"1" PUT']],
    [instantOf(2), ['Patient/one W/"2" PUT', 'Encounter/visit W/"1" PUT']],
    [instantOf(3), ['Patient/one W/"3" DELETE', 'Encounter/visit W/"1" PUT']],
    ['2026-11-21T09:33:30Z', ['Encounter/visit W/"1" PUT']],
    ['2026-11-21T09:33Z', ['Patient/one W/"3" DELETE', 'Encounter/visit W/"1" PUT']],
    ['2026-11-21', everything],
    ['2026-11-20', []],
    ['2026-11-22', [everything[0], everything[2], everything[3], 'Encounter/visit W/"1" PUT']],
  ] as const) {
    assert.deepEqual(listed(await full.get(`_history?_at=${at}`)), expected, at);
  }
  assert.deepEqual(listed(await full.get(`Patient/_history?_at=${instantOf(2)}`)), ['Patient/one W/"2" PUT']);
  assert.deepEqual(listed(await full.get(`Patient/one/_history?_at=${instantOf(2)}`)), ['Patient/one W/"2" PUT']);
  assert.deepEqual(listed(await full.get(`_history?_at=2026-11-21&_since=${instantOf(7)}`)), everything.slice(0, 1));
});

test('_at would tell when a row left those that may be read, so it needs all rows', async () => {
  assert.deepEqual(listed(await rows.get('Task/call/_history')), ['Task/call W/"1" PUT']);
  assert.deepEqual(listed(await rows.get(`Task/call/_history?_since=${instantOf(6)}`)), ['Task/call W/"1" PUT']);
  assert.deepEqual(listed(await rows.get(`Task/call/_history?_since=${instantOf(7)}`)), []);
  for (const at of [6, 7]) {
    const answer = await rows.get(`Task/call/_history?_at=${instantOf(at)}`);
    assert.equal(answer.status, 403);
    assert.match(answer.json.issue[0].diagnostics, /^_at on Task needs read access to all its rows/);
  }
});

test('pages of every size make up the whole, and links are followed as they are', async () => {
  for (const [path, whole] of [
    ['_history', everything],
    ['Patient/_history', patients],
    ['Patient/one/_history', patients.filter((entry) => entry.startsWith('Patient/one'))],
    ['_history?_at=2026-11-21', everything],
    [`_history?_since=${instantOf(3)}`, everything.slice(0, 5)],
  ] as const) {
    for (const count of [1, 2, 3, 100]) {
      const found: string[] = [];
      let url: string | undefined = `${path}${path.includes('?') ? '&' : '?'}_count=${count}`;
      for (let page = 0; url !== undefined; page++) {
        const answer = await full.get(url);
        if (page > 0) assert.equal(answer.json.link[0].url, url);
        assert.equal(answer.json.total, count >= whole.length ? whole.length : undefined);
        found.push(...listed(answer));
        url = answer.json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
      }
      assert.deepEqual(found, whole, `${path} by ${count}`);
    }
  }
});

test('a page link serves its caller and its history alone, and tells nothing', async () => {
  const { link } = (await full.get('Patient/_history?_count=1')).json;
  const cursor: string = new URL(link[1].url).searchParams.get('_cursor') ?? '';
  assert.match(cursor, /^[A-Za-z0-9_-]{60,}$/);
  assert.doesNotMatch(Buffer.from(cursor, 'base64url').toString('latin1'), /\d{4}/);
  const twin = await openCaller(service, await makeApplication(service, 'Twin', ['acl/*'], [maple, cedar]), maple);
  const elsewhere = [
    other.get(`Patient/_history?_cursor=${cursor}`),
    twin.get(`Patient/_history?_cursor=${cursor}`),
    full.get(`_history?_cursor=${cursor}`),
    full.get(`Encounter/_history?_cursor=${cursor}`),
    full.get(`Patient/_history?_since=2026&_cursor=${cursor}`),
    full.get(`Patient/_history?_at=2026&_cursor=${cursor}`),
    full.get(`Patient/_history?_cursor=${cursor.slice(0, -2)}`),
    full.get('Patient/_history?_cursor='),
    full.get(`Patient/_history?_cursor=${'A'.repeat(9000)}`),
  ];
  for (const answer of await Promise.all(elsewhere)) {
    assertRefused(answer, {
      status: 400,
      error: 'cursor-invalid',
      issue: 'value',
      diagnostics:
        '_cursor belongs to another history or caller, or was altered: follow next links as they are, or begin again without it',
      expression: ['_cursor'],
    });
  }
  assert.deepEqual(listed(await full.get(`Patient/_history?_count=100&_cursor=${cursor}`)), patients.slice(1));
});

test('_count is clamped to what a page holds', async () => {
  for (const [asked, served] of [
    ['0', '1'],
    ['999999', '100'],
  ]) {
    const answer = await full.get(`Patient/_history?_count=${asked}`);
    assert.equal(answer.json.link[0].url, `${maple.base}/Patient/_history?_count=${served}`);
  }
});

const refusals: readonly (readonly [query: string, diagnostics: string])[] = [
  ['_since=ge2026', '_since takes a date or an instant without a prefix, such as 2026-11-21T09:30:00Z'],
  ['_since=', '_since takes a date or an instant without a prefix, such as 2026-11-21T09:30:00Z'],
  ['_at=2026-02-30', '_at takes a date or an instant without a prefix, such as 2026-11-21T09:30:00Z'],
  ['_at=2026&_at=2025', '_at is given twice with different values'],
  ['_count=-1', '_count must be a whole number'],
  ['_count=ten', '_count must be a whole number'],
  ['_summary=count', '_summary takes true, text, data or false here: the versions of a history are not counted'],
  ['_summary=all', '_summary must be true, text, data, count or false'],
  ['_list=List/1', '_list is not served: read the List, and ask for the history of what it refers to'],
];

test('what a parameter does not take is refused, at every level', async () => {
  for (const path of ['_history', 'Patient/_history', 'Patient/one/_history']) {
    for (const [query, diagnostics] of refusals) {
      const [expression = ''] = query.split('=');
      const expected = {
        status: 400,
        error: 'search-invalid',
        issue: 'invalid',
        diagnostics,
        expression: [expression],
      };
      assertRefused(await full.get(`${path}?${query}`), expected);
    }
    for (const query of ['_sort=_lastUpdated', 'family=Stone', '_include=*', '_since:missing=true']) {
      const { status, json } = await full.get(`${path}?${query}`);
      assert.deepEqual([status, json.issue[0].expression], [400, [query.slice(0, query.indexOf('='))]]);
    }
    assert.equal((await full.get(`${path}?_list=List/1`, lenient)).status, 400);
    const answer = await full.get(`${path}?family=Stone&_since=2026`, lenient);
    assert.equal(answer.json.link[0].url, `${maple.base}/${path}?_since=2026`);
  }
});

test('_elements and _summary shorten what an entry holds', async () => {
  const { resource } = (await full.get('Encounter/_history?_elements=status')).json.entry[0];
  assert.deepEqual(Object.keys(resource), ['resourceType', 'id', 'meta', 'status', 'class']);
  assert.equal((await full.get('_history?_summary=text')).status, 200);
});

test('in a batch and a transaction histories are read with the same rights', async () => {
  const entry = ['_history', 'Patient/_history?_count=1'].map((url) => ({ request: { method: 'GET', url } }));
  for (const type of ['batch', 'transaction']) {
    const { json } = await full.send('POST', '', { resourceType: 'Bundle', type, entry });
    assert.deepEqual(
      json.entry.map(({ resource }: { resource: { type: string; entry: unknown[] } }) => [
        resource.type,
        resource.entry.length,
      ]),
      [
        ['history', everything.length],
        ['history', 1],
      ],
    );
  }
  const refused = await restricted.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
  for (const { response, resource } of refused.json.entry) {
    assert.deepEqual([response.status, resource], ['403 Forbidden', undefined]);
  }
});

test('metadata tells of both', async () => {
  const { rest } = (await full.get('metadata')).json;
  const codes = ({ interaction }: { interaction: { code: string }[] }): string[] => interaction.map(({ code }) => code);
  assert.ok(codes(rest[0]).includes('history-system'));
  for (const resource of rest[0].resource) {
    assert.ok(codes(resource).includes('history-type'), resource.type);
    assert.ok(!codes(resource).includes('history-system'), resource.type);
  }
});
