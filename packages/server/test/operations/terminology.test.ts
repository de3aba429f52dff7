/**
 * $expand, $validate-code and $lookup (https://hl7.org/fhir/R4/terminology-service.html): who may ask, what is told of a
 * firm's own value sets and code systems, and to whom.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertRefused, insufficientScope } from '../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const everything = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const full = await openCaller(service, everything, maple);
const other = await openCaller(service, everything, cedar);
const restricted = await openCaller(
  service,
  await makeApplication(service, 'Restricted', ['acl/pat_s_name_dob_gen'], [maple]),
  maple,
);
const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/val_set_r'], [maple]), maple);

const system = 'http://example.com/colours';
const colours = {
  resourceType: 'CodeSystem',
  url: system,
  name: 'Colours',
  version: '2',
  status: 'active',
  content: 'complete',
  caseSensitive: false,
  concept: [
    {
      code: 'warm',
      display: 'Warm colours',
      property: [{ code: 'notSelectable', valueBoolean: true }],
      concept: [
        { code: 'red', display: 'Deep red', designation: [{ language: 'de', value: 'Rot' }] },
        { code: 'orange', display: 'Orange' },
      ],
    },
    { code: 'mauve', display: 'Mauve', property: [{ code: 'status', valueCode: 'retired' }] },
  ],
};
const setUrl = 'http://example.com/vs/colours';
const set = { resourceType: 'ValueSet', url: setUrl, status: 'draft', compose: { include: [{ system }] } };
const listed = {
  resourceType: 'ValueSet',
  url: 'http://example.com/vs/listed',
  status: 'active',
  compose: { include: [{ system: 'http://example.com/secret', concept: [{ code: 'hidden', display: 'Hidden' }] }] },
};
await full.send('POST', 'CodeSystem', colours);
const setId: string = (await full.send('POST', 'ValueSet', set)).json.id;
const listedId: string = (await full.send('POST', 'ValueSet', listed)).json.id;

const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
const genderSet = 'http://hl7.org/fhir/ValueSet/administrative-gender';
const gender = 'http://hl7.org/fhir/administrative-gender';

function refusedFor(answer: Answer, status: number, error: string, diagnostics: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json.issue[0].details.coding[0].code, error);
  assert.match(answer.json.issue[0].diagnostics, diagnostics);
}

function codesOf(answer: Answer): string {
  assert.equal(answer.status, 200, answer.text);
  return (answer.json.expansion.contains ?? []).map(({ code }: { code: string }) => code).join(' ');
}

test('without rights on the type nothing is said, not even about what R4 defines', async () => {
  const asked = [
    `ValueSet/$expand?url=${genderSet}`,
    `ValueSet/$validate-code?url=${genderSet}&code=male`,
    `ValueSet/${setId}/$expand`,
    `ValueSet/${setId}/$validate-code?code=red`,
    'ValueSet/none/$expand',
    `CodeSystem/$validate-code?url=${gender}&code=male`,
    `CodeSystem/$lookup?system=${gender}&code=male`,
    'ValueSet/$expand?nonsense=1',
  ];
  for (const path of asked) {
    const answer = await restricted.get(path);
    assert.equal(answer.status, 403, path);
    assert.equal(answer.headers.get('www-authenticate'), insufficientScope);
  }
});

test('who may read value sets but not search them expands one by its id alone', async () => {
  assert.equal(codesOf(await reader.get(`ValueSet/${listedId}/$expand`)), 'hidden');
  assert.equal((await reader.get(`ValueSet/$expand?url=${listed.url}`)).status, 403);
  assert.equal((await reader.send('POST', 'ValueSet/$expand', set)).status, 403);
  // The code system that the set takes its codes from may not be seen.
  refusedFor(
    await reader.get(`ValueSet/${setId}/$expand`),
    404,
    'code-system-unknown',
    /colours, a code system that is/,
  );
});

test("another firm's value sets and code systems do not exist", async () => {
  const unknown = /^There is no value set http:\/\/example.com\/vs\/colours here/;
  refusedFor(await other.get(`ValueSet/$expand?url=${setUrl}`), 404, 'value-set-unknown', unknown);
  refusedFor(await other.get(`ValueSet/$validate-code?url=${setUrl}&code=red`), 404, 'value-set-unknown', unknown);
  assertRefused(await other.get(`ValueSet/${setId}/$expand`), {
    status: 404,
    error: 'resource-not-found',
    issue: 'not-found',
    diagnostics: `ValueSet/${setId} is not known`,
    expression: ['ValueSet'],
  });
  const importing = { ...set, url: 'http://example.com/vs/x', compose: { include: [{ valueSet: [listed.url] }] } };
  refusedFor(await other.send('POST', 'ValueSet/$expand', importing), 404, 'value-set-unknown', /vs\/listed here/);
  refusedFor(await other.send('POST', 'ValueSet/$expand', set), 404, 'code-system-unknown', /colours/);
  refusedFor(await other.get(`CodeSystem/$lookup?system=${system}&code=red`), 404, 'code-system-unknown', /colours/);
  assert.equal(codesOf(await full.send('POST', 'ValueSet/$expand', importing)), 'hidden');
});

test('a canonical without URL names nothing', async () => {
  refusedFor(await full.get('ValueSet/$expand?url=%7C2'), 404, 'value-set-unknown', /^There is no value set \|2 here/);
});

test('a deleted value set is gone', async () => {
  const { id } = (await full.send('POST', 'ValueSet', { ...listed, url: 'http://example.com/vs/gone' })).json;
  await full.send('DELETE', `ValueSet/${id}`);
  refusedFor(await full.get('ValueSet/$expand?url=http://example.com/vs/gone'), 404, 'value-set-unknown', /vs\/gone/);
  assert.equal((await full.get(`ValueSet/${id}/$expand`)).status, 410);
});

test('wrong parameters are 400 with their name', async () => {
  const cases: readonly (readonly [path: string, diagnostics: RegExp])[] = [
    ['ValueSet/$expand', /^url is missing: url or valueSet/],
    [`ValueSet/${setId}/$expand?url=${setUrl}`, /^url cannot be given with an id/],
    [`ValueSet/$expand?url=${setUrl}&count=-1`, /^count must be 0 or more/],
    [`ValueSet/$expand?url=${setUrl}&offset=x`, /^offset takes/],
    [`ValueSet/$expand?url=${setUrl}&displayLanguage=de`, /^displayLanguage is no parameter of the operation/],
    [`ValueSet/$expand?url=${setUrl}|2&valueSetVersion=2`, /^valueSetVersion cannot be given twice/],
    [`ValueSet/$validate-code?url=${setUrl}`, /^code is missing/],
    ['ValueSet/$validate-code?code=red', /^url is missing/],
    ['CodeSystem/$validate-code?code=red', /^url is missing/],
    [`ValueSet/$expand?url=${setUrl}&url=${genderSet}`, /^url occurs 2 times/],
    [`CodeSystem/$lookup?system=${system}`, /^code is missing/],
    ['CodeSystem/$lookup?code=red', /^system is missing/],
  ];
  for (const [path, diagnostics] of cases) {
    refusedFor(await full.get(path), 400, 'operation-parameter-invalid', diagnostics);
  }
  const both = parameters({ name: 'url', valueUri: setUrl }, { name: 'valueSet', resource: set });
  refusedFor(await full.send('POST', 'ValueSet/$expand', both), 400, 'operation-parameter-invalid', /^valueSet cannot/);
});

test('a value set of R4 is expanded', async () => {
  const answer = await full.get(`ValueSet/$expand?url=${genderSet}`);
  const { identifier, ...expansion } = answer.json.expansion;
  assert.match(identifier, /^urn:uuid:[0-9a-f-]{36}$/);
  assert.deepEqual(
    { ...answer.json, expansion },
    {
      resourceType: 'ValueSet',
      status: 'active',
      url: genderSet,
      version: '4.0.1',
      name: 'AdministrativeGender',
      expansion: {
        timestamp: '2026-11-21T09:30:00.000Z',
        total: 4,
        contains: ['male', 'female', 'other', 'unknown'].map((code) => ({
          system: gender,
          code,
          display: code.charAt(0).toUpperCase() + code.slice(1),
        })),
      },
    },
  );
});

test("the firm's own value set is expanded by URL, by id, and as a resource", async () => {
  const contains = [
    { system, abstract: true, code: 'warm', display: 'Warm colours' },
    { system, code: 'red', display: 'Deep red' },
    { system, code: 'orange', display: 'Orange' },
    { system, inactive: true, code: 'mauve', display: 'Mauve' },
  ];
  for (const answer of [
    await full.get(`ValueSet/$expand?url=${setUrl}`),
    await full.get(`ValueSet/${setId}/$expand`),
    await full.send('POST', 'ValueSet/$expand', set),
    await full.send('POST', 'ValueSet/$expand', parameters({ name: 'valueSet', resource: set })),
  ]) {
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json.expansion.contains, contains);
    assert.equal(answer.json.compose, undefined);
  }
});

test('filter, paging and the parameters that narrow', async () => {
  const at = `ValueSet/${setId}/$expand`;
  assert.equal(codesOf(await full.get(`${at}?filter=RED`)), 'red');
  assert.equal(codesOf(await full.get(`${at}?filter=col%20war`)), 'warm');
  assert.equal(codesOf(await full.get(`${at}?filter=mau`)), 'mauve');
  assert.equal(codesOf(await full.get(`${at}?filter=ange`)), '');
  assert.equal(codesOf(await full.get(`${at}?activeOnly=true&excludeNotForUI=true`)), 'red orange');
  assert.equal(codesOf(await full.get(`${at}?exclude-system=${system}`)), '');
  const page = await full.get(`${at}?offset=1&count=2&includeDefinition=true`);
  assert.equal(codesOf(page), 'red orange');
  assert.equal(page.json.expansion.total, 4);
  assert.equal(page.json.expansion.offset, 1);
  assert.deepEqual(page.json.expansion.parameter, [{ name: 'count', valueInteger: 2 }]);
  assert.deepEqual(page.json.compose, set.compose);
  const none = await full.get(`${at}?count=0`);
  assert.equal(codesOf(none), '');
  assert.equal(none.json.expansion.total, 4);
  const designated = await full.get(`${at}?filter=red&includeDesignations=true`);
  assert.deepEqual(designated.json.expansion.contains[0].designation, [{ language: 'de', value: 'Rot' }]);
});

test('a set that takes codes from SNOMED CT is refused with the reason', async () => {
  refusedFor(
    await full.get('ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/body-site'),
    404,
    'code-system-unknown',
    /takes codes from http:\/\/snomed.info\/sct, a code system that is not loaded here$/,
  );
});

const validations: readonly (readonly [
  path: string,
  result: boolean,
  message?: string | undefined,
  display?: string,
])[] = [
  [`ValueSet/$validate-code?url=${genderSet}&system=${gender}&code=male&display=male`, true, undefined, 'Male'],
  [`ValueSet/$validate-code?url=${genderSet}&code=female`, true, undefined, 'Female'],
  [`ValueSet/$validate-code?url=${genderSet}&system=${gender}&code=Male`, false, 'The code is not in the value set'],
  [`ValueSet/$validate-code?url=${genderSet}&system=${system}&code=male`, false, 'The code is not in the value set'],
  [`ValueSet/${setId}/$validate-code?system=${system}&code=RED&display=rot`, true, undefined, 'Deep red'],
  [
    `ValueSet/${setId}/$validate-code?system=${system}&code=red&display=blue`,
    false,
    'The code is valid, the display is not the one of the code',
    'Deep red',
  ],
  [
    `ValueSet/${setId}/$validate-code?code=warm`,
    false,
    'The code is abstract: it groups others (abstract=true allows it)',
  ],
  [`ValueSet/${setId}/$validate-code?code=warm&abstract=true`, true, undefined, 'Warm colours'],
  [
    'ValueSet/$validate-code?url=http://hl7.org/fhir/ValueSet/body-site&system=http://snomed.info/sct&code=1',
    false,
    'It cannot be said: http://snomed.info/sct is not loaded here, or only in part',
  ],
  [`CodeSystem/$validate-code?url=${system}&code=orange`, true, undefined, 'Orange'],
  [`CodeSystem/$validate-code?url=${system}&version=2&code=green`, false, 'The code is not in the code system'],
  [
    'CodeSystem/$validate-code?url=http://terminology.hl7.org/CodeSystem/service-type&code=99999',
    false,
    'The code is not in the part of the code system that is loaded here',
  ],
];

test('$validate-code tells whether, why not, and the display', async () => {
  for (const [path, value, message, display] of validations) {
    const answer = await full.get(path);
    assert.equal(answer.status, 200, `${path} ${answer.text}`);
    const expected = [
      { name: 'result', valueBoolean: value },
      ...(message === undefined ? [] : [{ name: 'message', valueString: message }]),
      ...(display === undefined ? [] : [{ name: 'display', valueString: display }]),
    ];
    assert.deepEqual(answer.json, { resourceType: 'Parameters', parameter: expected }, path);
  }
});

test('of a CodeableConcept one coding has to be valid', async () => {
  const concept = (...coding: object[]) =>
    parameters({ name: 'url', valueUri: genderSet }, { name: 'codeableConcept', valueCodeableConcept: { coding } });
  const ask = async (body: object) => (await full.send('POST', 'ValueSet/$validate-code', body)).json;
  const right = { system: gender, code: 'other' };
  const wrong = { system, code: 'red' };
  assert.equal((await ask(concept(wrong, right))).parameter[0].valueBoolean, true);
  assert.equal((await ask(concept(wrong))).parameter[0].valueBoolean, false);
  assert.match((await ask(concept({ system }))).issue[0].diagnostics, /^codeableConcept holds no code/);
  const coding = parameters({ name: 'coding', valueCoding: right });
  assert.equal((await full.send('POST', 'CodeSystem/$validate-code', coding)).json.parameter[0].valueBoolean, true);
});

test('$lookup tells what the code system says of a code', async () => {
  const answer = await full.get(`CodeSystem/$lookup?system=${system}&code=RED`);
  assert.deepEqual(answer.json, {
    resourceType: 'Parameters',
    parameter: [
      { name: 'name', valueString: 'Colours' },
      { name: 'version', valueString: '2' },
      { name: 'display', valueString: 'Deep red' },
      {
        name: 'designation',
        part: [
          { name: 'language', valueCode: 'de' },
          { name: 'value', valueString: 'Rot' },
        ],
      },
      property('inactive', { valueBoolean: false }),
      property('abstract', { valueBoolean: false }),
      property('parent', { valueCode: 'warm' }),
    ],
  });
  const some = await full.get(`CodeSystem/$lookup?system=${system}&code=mauve&property=status&property=inactive`);
  assert.deepEqual(some.json.parameter.slice(3), [
    property('inactive', { valueBoolean: true }),
    property('status', { valueString: 'retired' }),
  ]);
  const coding = parameters({ name: 'coding', valueCoding: { system: gender, code: 'male' } });
  const posted = await full.send('POST', 'CodeSystem/$lookup', coding);
  assert.equal(posted.json.parameter[2].valueString, 'Male');
  refusedFor(
    await full.get(`CodeSystem/$lookup?system=${gender}&code=x`),
    404,
    'code-unknown',
    /not in the code system/,
  );
});

function property(code: string, value: object): object {
  const part = [
    { name: 'code', valueCode: code },
    { name: 'value', ...value },
  ];
  return { name: 'property', part };
}

test('of two value sets with one URL the one that was changed last counts', async () => {
  const url = 'http://example.com/vs/twice';
  const first = { ...listed, url, version: '1' };
  await full.send('POST', 'ValueSet', first);
  service.clock.advance(1000);
  await full.send('POST', 'ValueSet', { ...set, url, version: '2' });
  assert.equal(codesOf(await full.get(`ValueSet/$expand?url=${url}`)), 'warm red orange mauve');
  assert.equal(codesOf(await full.get(`ValueSet/$expand?url=${url}|1`)), 'hidden');
  assert.equal(codesOf(await full.get(`ValueSet/$expand?url=${url}&valueSetVersion=1`)), 'hidden');
  refusedFor(await full.get(`ValueSet/$expand?url=${url}|3`), 404, 'value-set-unknown', /twice\|3 here/);
});
