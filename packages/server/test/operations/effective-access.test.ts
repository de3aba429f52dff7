/** $effective-access: what a token may do at a firm. What it says is compared with what requests are answered. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { authorise, revokeAuthorisation, setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { assertRefused } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  callerOf,
  clientForm,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const restricted = await makeApplication(service, 'Restricted', ['acl/pat_s_name_dob_gen', 'acl/enc_s'], [maple]);
const mixed = await makeApplication(
  service,
  'Mixed',
  ['acl/appmt_c', 'acl/appmt_u', 'acl/obsv_ef_s', 'acl/pat_r', 'acl/tsk_pmrecall_s', 'acl/trans_bndl_appmt_remind'],
  [maple],
);
await setOperatorRows(database, maple, mixed.application, {
  obsv_ef: { criteria: [{ parameter: 'category', values: ['exam', 'survey'] }], elements: ['code', 'subject'] },
});
const caller = await openCaller(service, restricted, maple);

interface Part {
  readonly name: string;
  readonly part?: readonly Part[];
  readonly [value: string]: unknown;
}

/** Parameters as an object: the values of each name in order, parts as objects of their own. */
function plain(parts: readonly Part[]): Record<string, unknown[]> {
  const read: Record<string, unknown[]> = {};
  for (const { name, part, ...value } of parts) {
    read[name] = [...(read[name] ?? []), part === undefined ? Object.values(value)[0] : plain(part)];
  }
  return read;
}

async function told(by: Caller, query = ''): Promise<Record<string, unknown[]>> {
  const { status, json, text } = await by.get(`$effective-access${query}`);
  assert.equal(status, 200, text);
  assert.equal(json.resourceType, 'Parameters');
  return plain(json.parameter);
}

test('denials: no token, another firm, a type that is none, and a POST of what it does not take', async () => {
  const bare = await fetch(`${maple.base}/$effective-access`);
  assert.equal(bare.status, 401);
  await bare.body?.cancel();
  const elsewhere = callerOf(cedar, caller.headers.authorization?.slice(7) ?? '', restricted.clientKey);
  const unknown = callerOf(
    { base: cedar.base.replace('cedar', 'nowhere') },
    caller.headers.authorization?.slice(7) ?? '',
    restricted.clientKey,
  );
  const [one, other] = [await elsewhere.get('$effective-access'), await unknown.get('$effective-access')];
  assert.equal(one.status, 403);
  assert.equal(one.text, other.text);
  for (const query of ['?type=Patience', '?type=Parameters', '?type=patient']) {
    assertRefused(await caller.get(`$effective-access${query}`), {
      status: 400,
      error: 'operation-parameter-invalid',
      issue: 'invalid',
      diagnostics: 'type must be a resource type of R4 that has an endpoint, such as Patient',
      expression: ['type'],
    });
  }
  assert.equal((await caller.get('$effective-access?firm=cedar')).status, 400);
  assert.equal((await caller.get('Patient/$effective-access')).status, 405);
});

test('a restricted token: its elements, parameters and sort keys, and nothing of other types', async () => {
  const { entry, resource, operation, ...rest } = await told(caller);
  assert.deepEqual(rest, { interaction: ['search-system'] });
  assert.deepEqual(entry, [
    { entry: ['acl/enc_s'], heldBy: ['token', 'application', 'firm'], effective: [true] },
    { entry: ['acl/pat_s_name_dob_gen'], heldBy: ['token', 'application', 'firm'], effective: [true] },
  ]);
  assert.deepEqual(
    resource?.map((each) => (each as { type: string[] }).type[0]),
    ['Encounter', 'Patient'],
  );
  const common = ['_id', '_lastUpdated', '_profile', '_security', '_source', '_tag'];
  assert.deepEqual(resource?.[1], {
    type: ['Patient'],
    interaction: ['search-type'],
    grant: [
      {
        letter: ['s'],
        entry: ['acl/pat_s_name_dob_gen'],
        element: ['Patient.birthDate', 'Patient.gender', 'Patient.name'],
      },
    ],
    searchParameter: [...common, 'birthdate', 'family', 'gender', 'given', 'name', 'phonetic'],
    sortKey: [...common, 'birthdate', 'family', 'gender', 'given', 'name'],
    revinclude: ['Encounter:patient', 'Encounter:subject'],
  });
  const opened = operation?.map((each) => {
    const { name, level, type = [] } = each as Record<string, string[]>;
    return [...(name ?? []), ...(level ?? []), ...type].join(' ');
  });
  for (const name of [
    '$meta system',
    '$meta type Encounter Patient',
    '$everything instance Patient',
    '$validate type Encounter Patient',
  ])
    assert.ok(opened?.includes(name), `${name}: ${opened?.join('; ')}`);
  for (const name of ['$lastn', '$expand', '$lookup', '$document', '$meta-add', '$status'])
    assert.ok(!opened?.some((each) => each.startsWith(name)), name);
});

test('subtypes, operator rows, letters and Bundles; and only the types that are asked for', async () => {
  const mine = await openCaller(service, mixed, maple);
  const { resource, bundle } = await told(mine, '?type=Observation&type=Task&type=Slot');
  assert.deepEqual(bundle, ['trans_bndl_appmt_remind']);
  const grants = resource?.map((each) => [(each as { type: string[] }).type[0], (each as { grant: unknown[] }).grant]);
  assert.deepEqual(grants, [
    [
      'Observation',
      [
        {
          letter: ['s'],
          entry: ['acl/obsv_ef_s'],
          element: ['Observation.code', 'Observation.subject'],
          rows: ['category=exam,survey'],
        },
      ],
    ],
    ['Task', [{ letter: ['s'], entry: ['acl/tsk_pmrecall_s'], rows: ['code=PMRECALL'] }]],
  ]);
  const whole = await told(mine);
  const interactions = Object.fromEntries(
    (whole.resource ?? []).map((each) => {
      const { type, interaction } = each as { type: string[]; interaction: string[] };
      return [type[0], interaction];
    }),
  );
  assert.deepEqual(interactions, {
    Appointment: ['create', 'patch'],
    Observation: ['search-type'],
    Patient: ['read', 'vread', 'history-instance'],
    Task: ['search-type'],
  });
});

test('entries that are dropped say why, by flow', async () => {
  await authorise(
    database,
    clock,
    maple,
    mixed.application,
    { purpose: 'Less', acl: ['acl/appmt_c', 'acl/pat_r'], operatorRows: {} },
    entryProblem,
  );
  const { json } = await postForm(
    clientTokenUrl(service),
    { ...clientForm(mixed), scope: 'acl/pat_r acl/obsv_ef_s' },
    mixed.clientKey,
  );
  const narrow = callerOf(maple, json.access_token, mixed.clientKey);
  const entriesOf = async (by: Caller) => (await told(by, '?type=Slot')).entry;
  const narrowed = await entriesOf(narrow);
  assert.deepEqual(narrowed?.slice(0, 3), [
    {
      entry: ['acl/appmt_c'],
      heldBy: ['application', 'firm'],
      effective: [false],
      reason: ['not granted by the token'],
    },
    {
      entry: ['acl/appmt_u'],
      heldBy: ['application'],
      effective: [false],
      reason: ['not granted by the token and the firm'],
    },
    {
      entry: ['acl/obsv_ef_s'],
      heldBy: ['token', 'application'],
      effective: [false],
      reason: ['not granted by the firm'],
    },
  ]);
  const legacy = callerOf(maple, await legacyToken(mixed, maple), mixed.legacyKey);
  assert.deepEqual((await entriesOf(legacy))?.[0], {
    entry: ['acl/appmt_c'],
    heldBy: ['token', 'application', 'firm'],
    effective: [true],
  });
});

test('what it tells is what requests are answered', async () => {
  const all = await openCaller(service, await makeApplication(service, 'All', ['acl/*'], [maple]), maple);
  const known = await told(all, '?type=Patient&type=Task');
  const own = await told(caller, '?type=Patient&type=Task');
  const find = (from: Record<string, unknown[]>, type: string) =>
    from.resource?.find((each) => (each as { type: string[] }).type[0] === type) as
      | Record<string, string[]>
      | undefined;
  let refusals = 0;
  for (const type of ['Patient', 'Task']) {
    for (const [list, query] of [
      ['searchParameter', (code: string) => `${type}?${code}:missing=true`],
      ['sortKey', (code: string) => `${type}?_sort=${code}`],
      ['revinclude', (value: string) => `${type}?_revinclude=${value}`],
      ['include', (value: string) => `${type}?_include=${value}`],
    ] as const) {
      for (const value of find(known, type)?.[list] ?? []) {
        if (
          ['age', 'phonetic', '_id', '_lastUpdated', '_content', '_text'].includes(value) &&
          list === 'searchParameter'
        )
          continue;
        const answer: Answer = await caller.get(query(value));
        const isOpen = find(own, type)?.[list]?.includes(value) ?? false;
        assert.equal(answer.status === 403, !isOpen, `${query(value)}: ${answer.text}`);
        if (!isOpen) refusals += 1;
      }
    }
  }
  assert.ok(refusals > 50, String(refusals));
});

test('a revocation ends it at once', async () => {
  const ending = await makeApplication(service, 'Ending', ['acl/pat_r'], [maple]);
  const last = await openCaller(service, ending, maple);
  assert.equal((await last.get('$effective-access')).status, 200);
  await revokeAuthorisation(database, maple, ending.application);
  assert.equal((await last.get('$effective-access')).status, 403);
});
