/**
 * Value sets that are small to write and endless to evaluate are refused before the work is done (docs/decisions/0215, 0220).
 * Each question ends at all: the service answered the first of them after hours, and none before.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { outcomeOf } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const gender = 'http://hl7.org/fhir/administrative-gender';
const url = 'http://example.com/vs/costly';

const valueSet = (include: object[], rest: object = {}) => ({
  resourceType: 'ValueSet',
  url,
  status: 'active',
  compose: { include, ...rest },
});
const byPattern = (...patterns: string[]) =>
  valueSet([{ system: gender, filter: patterns.map((value) => ({ property: 'code', op: 'regex', value })) }]);
const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });

const expand = (set: object) =>
  caller.send('POST', 'ValueSet/$expand', parameters({ name: 'valueSet', resource: set }));
const validate = (set: object) =>
  caller.send(
    'POST',
    'ValueSet/$validate-code',
    parameters({ name: 'valueSet', resource: set }, { name: 'code', valueCode: 'male' }),
  );

const refused = (error: string, issue: string, diagnostics: string, expression?: string) =>
  outcomeOf({ error, issue, diagnostics, ...(expression === undefined ? {} : { expression: [expression] }) });
const tooCostly = refused(
  'too-costly',
  'too-costly',
  `The evaluation of the value set ${url} costs more than one request may: the limit is 2000000 steps of computing. Nothing was changed. To make it cheaper: use fewer includes and filters, and shorter regular expressions`,
);
const atFilter = 'ValueSet.compose.include[0].filter[0]';

test('repetitions inside each other are refused before they are written out', async () => {
  for (const pattern of [
    '((){9999}){5000}',
    '(((){9999}){9999}){10}',
    '(((){9999}){9999}){9999}',
    '((((a?){1000}){1000}){1000}){1000}',
    `${'('.repeat(300)}a${'){1000}'.repeat(300)}`,
  ]) {
    for (const answer of [await expand(byPattern(pattern)), await validate(byPattern(pattern))]) {
      assert.equal(answer.status, 422, pattern);
      assert.deepEqual(answer.json, tooCostly);
    }
  }
});

test('what RE2 does not understand is told with the place of the filter', async () => {
  const problems: readonly (readonly [pattern: string, problem: string])[] = [
    ['a{1001}', 'whose regular expression is not understood: invalid repeat count: `{1001}`'],
    ['(?=a)a', 'whose regular expression has a group (?…) of another kind than (?:…)'],
    ['(?i)MALE', 'whose regular expression has a group (?…) of another kind than (?:…)'],
    ['(a)\\1', 'whose regular expression is not understood: invalid escape sequence: `\\1`'],
    ['a'.repeat(4_001), 'whose regular expression has more than 4000 characters'],
  ];
  for (const [pattern, problem] of problems) {
    const answer = await expand(byPattern(pattern));
    assert.equal(answer.status, 422, pattern);
    const told = `The value set ${url} has a filter ${problem}`;
    assert.deepEqual(answer.json, refused('value-set-invalid', 'processing', told, atFilter));
  }
});

test('an include has a limited number of filters', async () => {
  assert.equal((await expand(byPattern(...Array.from({ length: 20 }, () => 'male')))).status, 200);
  const answer = await expand(byPattern(...Array.from({ length: 21 }, () => 'male')));
  assert.equal(answer.status, 422);
  const told = `The value set ${url} has more than 20 filters in one part`;
  assert.deepEqual(answer.json, refused('value-set-invalid', 'processing', told, 'ValueSet.compose.include[0]'));
});

test('many patterns and long texts count together', async () => {
  const parts = Array.from({ length: 500 }, () => ({
    system: 'http://dicom.nema.org/resources/ontology/DCM',
    filter: [{ property: 'display', op: 'regex', value: '(([a-z]|[a-z ])*){30}!' }],
  }));
  const answer = await expand(valueSet(parts));
  assert.equal(answer.status, 422);
  assert.deepEqual(answer.json, tooCostly);
});

test('a pattern matches the whole value, line breaks too, and an honest one is cheap', async () => {
  const codes = async (pattern: string) =>
    ((await expand(byPattern(pattern))).json.expansion.contains ?? []).map(({ code }: { code: string }) => code);
  assert.deepEqual(await codes('m.*|o[a-z]{4}'), ['male', 'other']);
  assert.deepEqual(await codes('^(fe)?male$'), ['male', 'female']);
  assert.deepEqual(await codes('mal'), []);
  assert.deepEqual(await codes('\\p{L}{6,7}'), ['female', 'unknown']);
});

test('a code system that is sent is read once, however many codings are asked about', async () => {
  const codings = Array.from({ length: 300 }, (_, at) => ({ code: `x${at}` }));
  const system = {
    resourceType: 'CodeSystem',
    url: 'http://example.com/long',
    status: 'active',
    content: 'complete',
    concept: Array.from({ length: 5_000 }, (_, at) => ({ code: `c${at}` })),
  };
  const answer = await caller.send(
    'POST',
    'CodeSystem/$validate-code',
    parameters(
      { name: 'codeSystem', resource: system },
      { name: 'codeableConcept', valueCodeableConcept: { coding: codings } },
    ),
  );
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json.parameter, [
    { name: 'result', valueBoolean: false },
    { name: 'message', valueString: 'The code is not in the code system' },
  ]);
});

test('a search by a value set that is too costly is refused, and the next one is answered', async () => {
  await caller.send('POST', 'ValueSet', byPattern('(((){9999}){9999}){9999}'));
  for (const modifier of ['in', 'not-in']) {
    const answer = await caller.send('GET', `Patient?gender:${modifier}=${url}`);
    assert.equal(answer.status, 422, answer.text);
    assert.deepEqual(answer.json, tooCostly);
  }
  assert.equal((await caller.send('GET', 'Patient?gender=male')).status, 200);
});
