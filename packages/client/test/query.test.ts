/** Queries as they are sent. https://hl7.org/fhir/R4/search.html */
import assert from 'node:assert/strict';
import test from 'node:test';
import { escapeValue, matchAny, type SearchQuery } from '@praxis/client';
import { encodeQuery } from '../src/query.ts';

const patients: readonly { readonly query: SearchQuery<'Patient'>; readonly sent: readonly string[] }[] = [
  { query: {}, sent: [] },
  { query: { family: 'smith', active: true, _count: 5 }, sent: ['family=smith', 'active=true', '_count=5'] },
  { query: { birthdate: ['ge1990', 'lt2000'] }, sent: ['birthdate=ge1990', 'birthdate=lt2000'] },
  { query: { family: matchAny('smith', 'a,b', 'c\\d') }, sent: ['family=smith,a\\,b,c\\\\d'] },
  { query: { 'family:exact': escapeValue('a,b|c$') }, sent: ['family:exact=a\\,b\\|c\\$'] },
  {
    query: { _sort: ['-birthdate', 'family'], _elements: ['name'] },
    sent: ['_sort=-birthdate,family', '_elements=name'],
  },
  { query: { organization: { name: 'oak' } }, sent: ['organization.name=oak'] },
  { query: { organization: { partof: { 'name:exact': 'oak' } } }, sent: ['organization.partof.name:exact=oak'] },
  {
    query: { 'general-practitioner': { Practitioner: { family: ['a', 'b'] } } },
    sent: ['general-practitioner:Practitioner.family=a', 'general-practitioner:Practitioner.family=b'],
  },
  {
    query: {
      _has: [{ Observation: { patient: { code: '1', status: 'final' } } }, { Task: { patient: { code: '2' } } }],
    },
    sent: ['_has:Observation:patient:code=1', '_has:Observation:patient:status=final', '_has:Task:patient:code=2'],
  },
  {
    query: { _has: { Encounter: { patient: { _has: { Condition: { encounter: { code: 'x' } } } } } } },
    sent: ['_has:Encounter:patient:_has:Condition:encounter:code=x'],
  },
  {
    query: { _revinclude: ['Task:patient', 'Encounter:patient'] },
    sent: ['_revinclude=Task:patient', '_revinclude=Encounter:patient'],
  },
];

for (const { query, sent } of patients) {
  test(`query ${JSON.stringify(query)}`, () => {
    assert.deepEqual(
      encodeQuery(query).map((pair) => pair.join('=')),
      sent,
    );
  });
}
