/**
 * Bundles that are refused, and transactions that fail: the answer names the entry, and nothing stays in any table
 * (https://hl7.org/fhir/R4/http.html#trules).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appointment, encounter, patient } from '../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { everyRow } from '../support/tenant-rows.ts';
import { batch, bundle, conditionalPost, entry, identified, mrn, post, transaction, urn } from './bundles.ts';

const service = await openTestService({ after }, { PRAXIS_BUNDLE_ENTRIES_MAX: '20' });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const start = '2026-12-01T10:00:00Z';
await full.send('PUT', 'Patient/one', { ...identified('one'), id: 'one' });
for (const _ of [1, 2]) await full.send('POST', 'Patient', identified('twice'));

interface Refusal {
  readonly bundle: unknown;
  readonly status: number;
  readonly code: string;
  readonly says: RegExp;
  readonly at?: string;
}

const good = post(patient('Stone'), urn(1));
const one = { ...identified('one'), id: 'one' };

const bodies: Readonly<Record<string, Refusal>> = {
  'another resource': {
    bundle: patient('Stone'),
    status: 400,
    code: 'resource-type-mismatch',
    says: /^resourceType must be Bundle/,
  },
  'no object': { bundle: [good], status: 400, code: 'resource-type-mismatch', says: /^resourceType must be Bundle/ },
  'a document': {
    bundle: bundle('document', [good]),
    status: 400,
    code: 'bundle-invalid',
    says: /^Bundle\.type must be batch or transaction/,
    at: 'Bundle.type',
  },
  'a searchset': {
    bundle: bundle('searchset', []),
    status: 400,
    code: 'bundle-invalid',
    says: /stored by POST to Bundle/,
    at: 'Bundle.type',
  },
  'no type': {
    bundle: { resourceType: 'Bundle' },
    status: 400,
    code: 'resource-invalid',
    says: /^Bundle\.type/,
    at: 'Bundle.type',
  },
  'an unknown element': {
    bundle: { ...transaction(good), entries: 1 },
    status: 400,
    code: 'resource-invalid',
    says: /entries/,
  },
  'an unknown method': {
    bundle: transaction(good, entry('TRACE', 'Patient')),
    status: 400,
    code: 'resource-invalid',
    says: /^Bundle\.entry\[1\]\.request\.method/,
    at: 'Bundle.entry[1].request.method',
  },
  'too many entries': {
    bundle: transaction(...Array.from({ length: 21 }, () => post(patient('Stone')))),
    status: 413,
    code: 'bundle-too-large',
    says: /^Bundle\.entry has 21 entries; at most 20 are taken/,
    at: 'Bundle.entry',
  },
};

const entries: Readonly<Record<string, Omit<Refusal, 'bundle'> & { readonly entry: object }>> = {
  'no request': {
    entry: { resource: patient('Stone') },
    status: 400,
    code: 'bundle-invalid',
    says: /request is missing/,
  },
  'no resource': {
    entry: entry('POST', 'Patient'),
    status: 400,
    code: 'bundle-invalid',
    says: /resource is missing: POST needs one/,
  },
  'a nested Bundle': { entry: entry('POST', '', batch()), status: 400, code: 'resource-invalid', says: /request\.url/ },
  'a nested Bundle at the base': {
    entry: entry('POST', '/', batch()),
    status: 400,
    code: 'bundle-invalid',
    says: /cannot stand inside another/,
  },
  'an operation that is not served': {
    entry: entry('POST', 'Patient/$nonsense', patient('Stone')),
    status: 404,
    code: 'operation-unknown',
    says: /\$nonsense is not an operation of this path/,
  },
  'another server': {
    entry: entry('PUT', 'https://example.org/fhir/Patient/one', one),
    status: 400,
    code: 'bundle-invalid',
    says: /of another server/,
  },
  'another firm': {
    entry: entry('GET', `${maple.base.replace('/maple/', '/cedar/')}/Patient/one`),
    status: 400,
    code: 'bundle-invalid',
    says: /of another server/,
  },
  metadata: { entry: entry('GET', 'metadata'), status: 400, code: 'bundle-invalid', says: /is metadata/ },
  'a search by POST': {
    entry: entry('POST', 'Patient/_search', patient('x')),
    status: 400,
    code: 'bundle-invalid',
    says: /search by GET/,
  },
  'no path': {
    entry: entry('GET', 'Patient/one/name/first'),
    status: 404,
    code: 'path-unknown',
    says: /request\.url must be/,
  },
  'dots in the path': {
    entry: entry('GET', '../../cedar/Patient/one'),
    status: 404,
    code: 'path-unknown',
    says: /request\.url must be/,
  },
  'an unknown type': {
    entry: entry('POST', 'Patients', patient('x')),
    status: 404,
    code: 'type-unknown',
    says: /^Bundle\.entry\[1\]: Patients/,
  },
  'a method that the path does not take': {
    entry: entry('POST', 'Patient/one', one),
    status: 405,
    code: 'method-not-allowed',
    says: /GET, HEAD, PUT/,
  },
  'an AuditEvent': {
    entry: post({ resourceType: 'AuditEvent' }),
    status: 405,
    code: 'method-not-allowed',
    says: /written by the server alone/,
  },
  'an invalid resource': {
    entry: post({ ...patient('x'), gender: 'none' }),
    status: 400,
    code: 'resource-invalid',
    says: /^Bundle\.entry\[1\](?::|\.resource\.gender)/,
    at: 'Bundle.entry[1].resource.gender',
  },
  'a resource of another type': {
    entry: entry('POST', 'Patient', { resourceType: 'Practitioner' }),
    status: 400,
    code: 'resource-type-mismatch',
    says: /resourceType must be Patient/,
  },
  'another id': { entry: entry('PUT', 'Patient/two', one), status: 400, code: 'resource-id-mismatch', says: /id/ },
  'no such resource to read': {
    entry: entry('GET', 'Patient/none'),
    status: 404,
    code: 'resource-not-found',
    says: /Patient\/none/,
  },
  'no such resource to patch': {
    entry: entry('PATCH', 'Patient/none', { resourceType: 'Parameters', parameter: [] }),
    status: 400,
    code: 'resource-invalid',
    says: /parameter/,
  },
  'an old version': {
    entry: entry('PUT', 'Patient/one', one, { ifMatch: 'W/"7"' }),
    status: 412,
    code: 'precondition-failed',
    says: /If-Match/,
  },
  'a bad ETag': {
    entry: entry('DELETE', 'Patient/one', undefined, { ifMatch: 'seven' }),
    status: 400,
    code: 'header-invalid',
    says: /If-Match/,
  },
  'several matches of a create': {
    entry: conditionalPost(identified('twice'), `identifier=${mrn}|twice`),
    status: 412,
    code: 'precondition-failed',
    says: /Several Patient/,
  },
  'several matches of an update': {
    entry: entry('PUT', `Patient?identifier=${mrn}|twice`, identified('twice')),
    status: 412,
    code: 'precondition-failed',
    says: /Several Patient/,
  },
  'several matches of a delete': {
    entry: entry('DELETE', `Patient?identifier=${mrn}|twice`),
    status: 412,
    code: 'precondition-failed',
    says: /Several Patient/,
  },
  'criteria of another type': {
    entry: conditionalPost(identified('x'), 'Practitioner?name=x'),
    status: 400,
    code: 'bundle-invalid',
    says: /must be criteria of Patient/,
  },
  'unknown criteria': {
    entry: conditionalPost(identified('x'), 'shoe=44'),
    status: 400,
    code: 'search-invalid',
    says: /shoe/,
  },
  'no criteria': {
    entry: entry('DELETE', 'Patient'),
    status: 400,
    code: 'search-invalid',
    says: /criteria are missing/,
  },
  'an unknown search parameter': {
    entry: entry('GET', 'Patient?shoe=44'),
    status: 400,
    code: 'search-invalid',
    says: /shoe/,
  },
};

/** Failures that only entries together, or a transaction as such, can have. */
const together: Readonly<Record<string, Refusal>> = {
  'a reference that finds nothing': {
    bundle: transaction(good, post(encounter(`Patient?identifier=${mrn}|none`))),
    status: 412,
    code: 'precondition-failed',
    says: /^Bundle\.entry\[1\]: The conditional reference Patient\?identifier=… finds no resource/,
    at: 'Bundle.entry[1]',
  },
  'a reference that finds several': {
    bundle: transaction(good, post(encounter(`Patient?identifier=${mrn}|twice`))),
    status: 412,
    code: 'precondition-failed',
    says: /finds several resources/,
    at: 'Bundle.entry[1]',
  },
  'a reference whose search is unknown': {
    bundle: transaction(good, post(encounter('Patient?shoe=44'))),
    status: 400,
    code: 'search-invalid',
    says: /^Bundle\.entry\[1\]: shoe/,
    at: 'Bundle.entry[1]',
  },
  'two entries with a fullUrl': {
    bundle: transaction(good, good),
    status: 400,
    code: 'bundle-invalid',
    says: /^Bundle\.entry\[1\]\.fullUrl/,
    at: 'Bundle.entry[1].fullUrl',
  },
  'a resource that is changed twice': {
    bundle: transaction(entry('PUT', 'Patient/one', one), entry('DELETE', '/Patient/one')),
    status: 400,
    code: 'bundle-invalid',
    says: /^Bundle\.entry\[1\]: Patient\/one is changed by Bundle\.entry\[0\]/,
    at: 'Bundle.entry[1]',
  },
  'a resource that is changed twice, once by criteria': {
    bundle: transaction(entry('DELETE', `Patient?identifier=${mrn}|one`), entry('PUT', 'Patient/one', one)),
    status: 400,
    code: 'bundle-invalid',
    says: /^Bundle\.entry\[1\]: Patient\/one is changed by Bundle\.entry\[0\]/,
  },
  'a resource that is created and updated by criteria': {
    bundle: transaction(entry('PUT', `Patient?identifier=${mrn}|new`, identified('new')), post(identified('new'))),
    status: 400,
    code: 'bundle-invalid',
    says: /is changed by Bundle\.entry\[0\], too/,
  },
};

async function refused(sent: unknown, refusal: Omit<Refusal, 'bundle'>): Promise<Answer> {
  const before = await everyRow(service.database.owner);
  const answer = await full.send('POST', '', sent);
  assert.equal(answer.status, refusal.status, answer.text);
  const [issue] = answer.json.issue;
  assert.equal(issue.details.coding[0].code, refusal.code);
  assert.match(issue.diagnostics, refusal.says);
  if (refusal.at !== undefined) assert.deepEqual(issue.expression, [refusal.at]);
  assert.deepEqual(await everyRow(service.database.owner), before);
  return answer;
}

for (const [what, refusal] of Object.entries(bodies)) {
  test(`refused: ${what}`, async () => void (await refused(refusal.bundle, refusal)));
}

for (const [what, { entry: bad, ...refusal }] of Object.entries(entries)) {
  test(`a transaction with ${what} leaves nothing and names the entry`, async () => {
    const answer = await refused(transaction(good, bad, post(appointment(urn(1), start))), refusal);
    assert.match(answer.json.issue[0].diagnostics, /^Bundle\.entry\[1\]/);
    assert.match(answer.json.issue[0].expression[0], /^Bundle\.entry\[1\]/);
  });
}

for (const [what, refusal] of Object.entries(together)) {
  test(`a transaction fails as a whole: ${what}`, async () => void (await refused(refusal.bundle, refusal)));
}

test('all invalid resources of a transaction are told at once', async () => {
  const bad = post({ ...patient('x'), gender: 'none' });
  const { json } = await full.send('POST', '', transaction(bad, good, bad));
  assert.deepEqual(
    json.issue.map(({ expression }: { expression: string[] }) => expression),
    [['Bundle.entry[0].resource.gender'], ['Bundle.entry[2].resource.gender']],
  );
});

test('a document is stored by POST to Bundle, as any resource', async () => {
  const composition = {
    resourceType: 'Composition',
    status: 'final',
    type: { text: 'note' },
    date: start,
    author: [{ display: 'A' }],
    title: 'Note',
  };
  const document = {
    ...bundle('document', [{ fullUrl: urn(1), resource: composition }]),
    identifier: { system: mrn, value: 'd' },
    timestamp: start,
  };
  const answer = await full.send('POST', 'Bundle', document);
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(answer.json.entry, [{ fullUrl: urn(1), resource: composition }]);
});

test('the base takes POST alone', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const answer = await full.send(method, '', transaction());
    assert.equal(answer.status, 405);
    assert.match(answer.headers.get('allow') ?? '', /POST/);
  }
});
