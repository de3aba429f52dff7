/**
 * Bad input gets a precise error and changes nothing: what is wrong, where, and what would be right, in one
 * OperationOutcome whose whole body is asserted.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import { assertRefused, type ExpectedRefusal } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { openWire } from '../support/wire.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { headers, get, send } = await openCaller(service, operator, maple);
assert.equal((await send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one' })).status, 201);
assert.equal((await send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one', gender: 'male' })).status, 200);
const wire = openWire(service.origin);
after(() => wire.close());

const base = '/sandbox/firm/maple/pm/fhir/v2';
const before = await tenantRows(service.database.owner);
test.afterEach(async () => assert.deepEqual(await tenantRows(service.database.owner), before));

type Body = string | Buffer | Readonly<Record<string, unknown>> | null;

async function assertBad(
  method: string,
  path: string,
  body: Body,
  expected: ExpectedRefusal,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const sent = { ...headers, 'content-type': 'application/fhir+json', ...more };
  const answer = await wire.send({
    method,
    path: `${base}/${path}`,
    headers: sent,
    ...(body === null ? {} : { body: text }),
  });
  assertRefused(answer, expected);
}

/** A body that is refused both as a new resource and as a new version. */
async function assertBadBody(body: Body, expected: ExpectedRefusal): Promise<void> {
  await assertBad('POST', 'Patient', body, expected);
  await assertBad('PUT', 'Patient/one', body, expected);
}

const malformed = { status: 400, error: 'json-malformed', issue: 'structure' };
const invalid = { status: 400, error: 'resource-invalid', issue: 'structure' };

test('malformed JSON: line and column', async () => {
  for (const [text, diagnostics] of [
    ['', 'a JSON value is expected, not the end of the text (line 1, column 1)'],
    ['{', 'a key in double quotes is expected, not the end of the text (line 1, column 2)'],
    ['hello', 'a JSON value is expected, not "h" (line 1, column 1)'],
    ["{'resourceType':'Patient'}", 'a key in double quotes is expected, not "\'" (line 1, column 2)'],
    ['\ufeff{"resourceType":"Patient"}', 'byte order mark before the JSON text (line 1, column 1)'],
  ] as const) {
    await assertBadBody(text, { ...malformed, diagnostics });
  }
});

test('malformed JSON inside a resource: the element, too', async () => {
  for (const [text, path, problem] of [
    ['{"resourceType":"Patient",}', 'Patient', 'a key in double quotes is expected, not "}" (line 1, column 27)'],
    ['{"resourceType":"Patient"} x', 'Patient', 'text after the JSON value: "x" (line 1, column 28)'],
    [
      '{"resourceType":"Patient",\n "multipleBirthInteger":NaN}',
      'Patient.multipleBirthInteger',
      'a JSON value is expected, not "N" (line 2, column 25)',
    ],
    [
      '{"resourceType":"Patient","multipleBirthInteger":01}',
      'Patient.multipleBirthInteger',
      'a number may not begin with a superfluous 0 (line 1, column 50)',
    ],
    [
      '{"resourceType":"Patient","language":"a\u0001"}',
      'Patient.language',
      'a control character (U+0001) must be escaped inside a string (line 1, column 40)',
    ],
    [
      '{"resourceType":"Patient","name":[{"family":"\\ud800"}]}',
      'Patient.name[0].family',
      'a string has half of a surrogate pair (\\uD800 to \\uDFFF) alone (line 1, column 45)',
    ],
  ] as const) {
    await assertBadBody(text, { ...malformed, diagnostics: `${path}: ${problem}`, expression: [path] });
  }
});

test('duplicate keys and __proto__, also escaped and nested', async () => {
  for (const [text, path, problem] of [
    [
      '{"resourceType":"Patient","gender":"male","gender":"female"}',
      'Patient.gender',
      'the key "gender" occurs twice in one object (line 1, column 43)',
    ],
    [
      '{"resourceType":"Patient","name":[{"family":"a","fam\\u0069ly":"b"}]}',
      'Patient.name[0].family',
      'the key "family" occurs twice in one object (line 1, column 49)',
    ],
    [
      '{"resourceType":"Patient","__proto__":{"admin":true}}',
      'Patient.__proto__',
      'the key "__proto__" is not accepted (line 1, column 27)',
    ],
    [
      '{"resourceType":"Patient","__pr\\u006fto__":{}}',
      'Patient.__proto__',
      'the key "__proto__" is not accepted (line 1, column 27)',
    ],
    [
      '{"resourceType":"Patient","name":[{"__proto__":{"family":"x"}}]}',
      'Patient.name[0].__proto__',
      'the key "__proto__" is not accepted (line 1, column 36)',
    ],
  ] as const) {
    await assertBadBody(text, { ...malformed, diagnostics: `${path}: ${problem}`, expression: [path] });
  }
  assert.equal(({} as { admin?: boolean }).admin, undefined);
});

test('nesting and arrays beyond the limits', async () => {
  const path = `${'[0]'.repeat(27).slice(0, 80)}…${'[0]'.repeat(14).slice(-40)}`;
  await assertBadBody('['.repeat(100_000), {
    ...malformed,
    diagnostics: `${path}: objects and arrays may be nested 64 deep at most (line 1, column 65)`,
    expression: [path],
  });
  await assertBadBody(`{"resourceType":"Patient","photo":[${'1,'.repeat(20_000)}1]}`, {
    ...malformed,
    diagnostics: 'Patient.photo[20000]: an array may have 20000 entries at most (line 1, column 40036)',
    expression: ['Patient.photo[20000]'],
  });
});

test('objects of very many members are refused where the first is too many, not one finding after another', async () => {
  const members = Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`).join(',');
  await assertBadBody(`{${members}}`, {
    ...malformed,
    diagnostics: `an object may have 1000 members at most (line 1, column ${members.indexOf('"k1000"') + 2})`,
  });
});

test('bytes that are no UTF-8', async () => {
  const latin1 = Buffer.from('{"resourceType":"Patient","name":[{"family":"\u00e9"}]}', 'latin1');
  const expected = { status: 400, error: 'request-malformed', issue: 'invalid', diagnostics: 'The body is not UTF-8' };
  await assertBadBody(latin1, expected);
});

test('JSON that is no resource, or one of another type than the path', async () => {
  for (const [text, problem] of [
    ['null', 'may not be null: leave the element out'],
    ['[]', 'must be a JSON object (a resource)'],
    ['"Patient"', 'must be a JSON object (a resource)'],
    ['{"name":[{"family":"x"}]}', 'must be a resource: resourceType is missing'],
    ['{"resourceType":1}', 'must be a resource: resourceType is not a JSON string'],
  ] as const) {
    await assertBadBody(text, { ...invalid, diagnostics: `Patient: ${problem}`, expression: ['Patient'] });
  }
  for (const resourceType of ['Appointment', 'Patience', 'patient', '']) {
    await assertBadBody(
      { resourceType, status: 'booked' },
      {
        status: 400,
        error: 'resource-type-mismatch',
        issue: 'invalid',
        diagnostics: 'resourceType must be Patient, the type in the path',
        expression: ['resourceType'],
      },
    );
  }
});

test('id: missing, different from the path, malformed', async () => {
  const mismatch = { status: 400, error: 'resource-id-mismatch', issue: 'invalid', expression: ['id'] };
  await assertBad('PUT', 'Patient/one', patient('x'), {
    ...mismatch,
    diagnostics:
      'id is missing: the body of an update carries the id of the path. PUT replaces the whole resource: to change some elements only, use PATCH',
  });
  await assertBad(
    'PUT',
    'Patient/one',
    { ...patient('x'), id: 'two' },
    {
      ...mismatch,
      diagnostics: 'id differs from the id in the path: the body of an update carries the same id',
    },
  );
  await assertBadBody(
    { ...patient('x'), id: 'a b' },
    {
      ...invalid,
      issue: 'value',
      diagnostics: 'Patient.id: must be an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."',
      expression: ['Patient.id'],
    },
  );
  await assertBadBody(
    { ...patient('x'), id: 1 },
    { ...invalid, diagnostics: 'Patient.id: must be a JSON string', expression: ['Patient.id'] },
  );
});

test('elements: unknown, of the wrong shape, empty, several of a choice', async () => {
  for (const [more, path, problem] of [
    [{ colour: 'red' }, 'Patient.colour', 'unknown element of Patient'],
    [{ constructor: {} }, 'Patient.constructor', 'unknown element of Patient'],
    [{ name: [{ first: 'x' }] }, 'Patient.name[0].first', 'unknown element of HumanName'],
    [{ birthDate: ['1970-01-01'] }, 'Patient.birthDate', 'may not be an array: it has one value at most'],
    [{ name: { family: 'x' } }, 'Patient.name', 'must be a JSON array: name may repeat'],
    [{ name: [] }, 'Patient.name', 'may not be an empty array: leave the element out'],
    [{ name: [{}] }, 'Patient.name[0]', 'may not be an empty object: leave the element out'],
    [{ gender: null }, 'Patient.gender', 'may not be null: leave the element out'],
    [
      { deceasedBoolean: true, deceasedDateTime: '2020' },
      'Patient.deceased',
      'may have one type only: deceasedBoolean and deceasedDateTime are both present',
    ],
  ] as const) {
    await assertBadBody(
      { resourceType: 'Patient', id: 'one', ...more },
      { ...invalid, diagnostics: `${path}: ${problem}`, expression: [path] },
    );
  }
});

test('values: codes, dates, and all problems of a resource at once', async () => {
  const code =
    'Patient.gender: "purple" is not in the required value set http://hl7.org/fhir/ValueSet/administrative-gender: allowed is male, female, other, unknown';
  await assertBadBody(
    { resourceType: 'Patient', id: 'one', gender: 'purple' },
    { ...invalid, issue: 'code-invalid', diagnostics: code, expression: ['Patient.gender'] },
  );
  await assertBadBody(
    { resourceType: 'Patient', id: 'one', birthDate: '1970-13-01' },
    {
      ...invalid,
      issue: 'value',
      diagnostics: 'Patient.birthDate: "1970-13-01" must be a date as YYYY, YYYY-MM or YYYY-MM-DD',
      expression: ['Patient.birthDate'],
    },
  );
  await assertBadBody(
    { resourceType: 'Patient', id: 'one', colour: 'red', gender: 'purple' },
    {
      ...invalid,
      diagnostics: 'Patient.colour: unknown element of Patient',
      expression: ['Patient.colour'],
      more: [{ error: 'resource-invalid', issue: 'code-invalid', diagnostics: code, expression: ['Patient.gender'] }],
    },
  );
});

test('references: broken syntax, another type, an unknown type, an id that is none', async () => {
  for (const [reference, problem] of [
    [
      'not a reference',
      '"not a reference" is not a reference: Type/id, Type/id/_history/version, #id or an absolute URL is expected',
    ],
    ['Organization/a b', '"a b" is not an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."'],
    ['Nothing/1', '"Nothing" is not a resource type'],
    ['Patient/1', 'may not point to Patient: allowed is Organization'],
    ['#x', '"#x" must be the id of a contained resource (ref-1)'],
  ] as const) {
    const path = 'Patient.managingOrganization.reference';
    await assertBadBody(
      { resourceType: 'Patient', id: 'one', managingOrganization: { reference } },
      {
        ...invalid,
        issue: 'value',
        diagnostics: `${path}: ${problem}`,
        expression: [path],
      },
    );
  }
});

test('If-Match that does not name the current version is 412, for update and delete', async () => {
  for (const tag of ['W/"1"', '"1"', '1', 'W/"1", W/"9"', 'W/"999999999"']) {
    const expected = {
      status: 412,
      error: 'precondition-failed',
      issue: 'conflict',
      diagnostics: 'If-Match does not name the current version, which is W/"2": read it again and repeat the change',
      expression: ['If-Match'],
    };
    await assertBad('PUT', 'Patient/one', { ...patient('x'), id: 'one' }, expected, { 'if-match': tag });
    await assertBad('DELETE', 'Patient/one', null, expected, { 'if-match': tag });
  }
  await assertBad(
    'PUT',
    'Patient/three',
    { ...patient('x'), id: 'three' },
    {
      status: 412,
      error: 'precondition-failed',
      issue: 'conflict',
      diagnostics: 'If-Match names a version, but there is no current one',
      expression: ['If-Match'],
    },
    { 'if-match': '*' },
  );
});

test('headers of the wrong form name themselves', async () => {
  const header = (name: string): ExpectedRefusal => ({
    status: 400,
    error: 'header-invalid',
    issue: 'value',
    diagnostics: `${name} must hold entity tags in double quotes such as W/"3"`,
    expression: [name],
  });
  for (const tag of ['abc', '', ',', 'w/"1"', '"1', '"', 'W/"1" x', 'W/"1""2"', '*, "1"', '-1']) {
    await assertBad('PUT', 'Patient/one', { ...patient('x'), id: 'one' }, header('If-Match'), { 'if-match': tag });
    await assertBad('DELETE', 'Patient/one', null, header('If-Match'), { 'if-match': tag });
    await assertBad('GET', 'Patient/one', null, header('If-None-Match'), { 'if-none-match': tag });
  }
});

test('well-formed tags that no version has match nothing: If-Match is 412, If-None-Match lets pass', async () => {
  const current = { ...patient('x'), id: 'one' };
  for (const tag of [
    '"abc"',
    'W/"x"',
    '"a,b"',
    '""',
    'W/"99999999999999999999"',
    '"0"',
    '"02"',
    '"x", W/"7"',
    ',"x",',
  ]) {
    const refused = await send('PUT', 'Patient/one', current, { 'if-match': tag });
    assert.equal(refused.status, 412, `${tag}: ${refused.text}`);
    assert.equal((await send('DELETE', 'Patient/one', undefined, { 'if-match': tag })).status, 412, tag);
    assert.equal((await get('Patient/one', { 'if-none-match': tag })).status, 200, tag);
    assert.equal((await get('Patient/one', { 'if-none-match': `${tag}, W/"2"` })).status, 304, tag);
  }
});

test('headers that RFC 9110 and RFC 7240 say to ignore when they make no sense are ignored', async () => {
  const odd = {
    'if-modified-since': 'garbage',
    prefer: 'return=nonsense; "=,;',
    'accept-language': '\u00ff',
    range: 'bytes=0-1',
  };
  const answer = await wire.send({ path: `${base}/Patient/one`, headers: { ...headers, ...odd } });
  assert.equal(answer.status, 200);
});

test('searches: escapes, unknown parameters, broken values', async () => {
  const search = { status: 400, error: 'search-invalid', issue: 'invalid' };
  await assertBad('GET', 'Patient?family=%zz', null, {
    ...search,
    diagnostics: 'The value of family has a broken percent-escape: write % as %25 and encode characters as UTF-8',
    expression: ['family'],
  });
  await assertBad('GET', 'Patient?colour=red', null, {
    ...search,
    diagnostics:
      'colour is not a search parameter of Patient; metadata lists those that are (Prefer: handling=lenient ignores unknown ones)',
    expression: ['colour'],
  });
  for (const [query, name] of [
    ['birthdate=yesterday', 'birthdate'],
    ['birthdate=2020-13-01', 'birthdate'],
    ['birthdate=xx2020', 'birthdate'],
    ['_sort=colour', '_sort'],
    ['_count=many', '_count'],
    ['page=0', 'page'],
    ['_total=some', '_total'],
    ['gender:nonsense=male', 'gender:nonsense'],
    ['_cursor=nonsense', '_cursor'],
  ] as const) {
    const answer = await wire.send({ path: `${base}/Patient?${query}`, headers });
    assert.equal(answer.status, 400, query);
    assert.equal(answer.json.issue.length, 1);
    assert.deepEqual(answer.json.issue[0].expression, [name], query);
  }
});
