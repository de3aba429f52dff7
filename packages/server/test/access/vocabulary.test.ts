/** The registry holds exactly the published entries, and proves at start that it speaks of things that exist. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { EntryDefinition, ResourceEntry } from '../../src/access/entries/definition.ts';
import { parseEntry } from '../../src/access/grammar.ts';
import { entryAreas, knownEntries, ownEntries, sampleTokenEntries } from '../../src/access/registry.ts';
import { EntryDefinitionError, verifyEntries } from '../../src/access/verify-entries.ts';
import { publishedEntries, sampleToken } from './published-entries.ts';

const slips: readonly (readonly [string, EntryDefinition, RegExp])[] = [
  [
    'an unknown type',
    { kind: 'resource', code: 'x', type: 'Pateint', means: '', letters: 'r', sample: '' },
    /x: Pateint is not a resource type/,
  ],
  [
    'a type without an endpoint',
    { kind: 'resource', code: 'x', type: 'Parameters', means: '', letters: 'r', sample: '' },
    /Parameters is not a resource type/,
  ],
  [
    'an unknown letter',
    { kind: 'resource', code: 'x', type: 'Patient', means: '', letters: 'rd', sample: '' },
    /letters are some of rscum/,
  ],
  [
    'no letter',
    { kind: 'resource', code: 'x', type: 'Patient', means: '', letters: '', sample: '' },
    /letters are missing/,
  ],
  [
    'a sample letter that is none',
    { kind: 'resource', code: 'x', type: 'Patient', means: '', letters: 'r', sample: 's' },
    /sample has a letter/,
  ],
  [
    'no type and no operator row',
    { kind: 'resource', code: 'x', means: '', letters: 'r', sample: '' },
    /only an operator can give it a meaning/,
  ],
  [
    'a subtype that does not end the code',
    { kind: 'resource', code: 'x', subtype: 'y', type: 'Patient', means: '', letters: 'r', sample: '' },
    /must end with _y/,
  ],
  [
    'a code that the grammar cannot read',
    { kind: 'opaque', code: 'X-1', means: '', sample: false },
    /words of small letters/,
  ],
  ['an unknown element', fielded({ id: ['identifeir'] }, 'rs'), /Patient has no element identifeir/],
  ['narrative by name', fielded({ id: ['text'] }, 'rs'), /text cannot be opened by name/],
  ['contained resources by name', fielded({ id: ['contained'] }, 'rs'), /contained cannot be opened by name/],
  ['extensions by name', fielded({ id: ['extension'] }, 'rs'), /extension cannot be opened by name/],
  ['a field without an element', fielded({ id: [] }, 'rs'), /field id opens no element/],
  ['fields after a writing letter', fielded({ id: ['identifier'] }, 'c'), /fields may follow r and s/],
  [
    'a published combination of unknown fields',
    { ...fielded({ id: ['identifier'] }, 's'), published: ['s_dob'] },
    /published s_dob does not follow/,
  ],
  [
    'an unknown search parameter',
    {
      kind: 'resource',
      code: 'x',
      type: 'Task',
      means: '',
      letters: 'r',
      sample: '',
      rows: [{ parameter: 'kode', values: ['A'] }],
    },
    /Task has no search parameter kode/,
  ],
  [
    'a row criterion that is no token',
    {
      kind: 'resource',
      code: 'x',
      type: 'Patient',
      means: '',
      letters: 'r',
      sample: '',
      rows: [{ parameter: 'birthdate', values: ['2020'] }],
    },
    /birthdate is a date parameter/,
  ],
  [
    'a row criterion without value',
    {
      kind: 'resource',
      code: 'x',
      type: 'Task',
      means: '',
      letters: 'r',
      sample: '',
      rows: [{ parameter: 'code', values: [] }],
    },
    /code needs values/,
  ],
  [
    'a row criterion that the search syntax splits',
    {
      kind: 'resource',
      code: 'x',
      type: 'Task',
      means: '',
      letters: 'r',
      sample: '',
      rows: [{ parameter: 'code', values: ['A,B'] }],
    },
    /code needs values/,
  ],
  [
    'a filter without criterion',
    { kind: 'filter', code: 'lab_type_x', type: 'ServiceRequest', means: '', sample: false, rows: [] },
    /a filter needs a row criterion/,
  ],
  [
    'a filter outside the grammar',
    {
      kind: 'filter',
      code: 'labs',
      type: 'ServiceRequest',
      means: '',
      sample: false,
      rows: [{ parameter: 'category', values: ['A'] }],
    },
    /must begin with lab_type_/,
  ],
  [
    'an unknown payload',
    { kind: 'bundle', code: 'trans_bndl_x', payload: 'Labs', means: '', sample: false },
    /Labs is not a resource type/,
  ],
];

function fielded(fields: Record<string, readonly string[]>, fieldLetters: string): ResourceEntry {
  return { kind: 'resource', code: 'x', type: 'Patient', means: '', letters: 'r', sample: '', fields, fieldLetters };
}

for (const [slip, row, message] of slips) {
  test(`an entry definition with ${slip} stops the start`, () => {
    assert.throws(
      () => verifyEntries([row]),
      (error) => error instanceof EntryDefinitionError && message.test(error.message),
    );
  });
}

test('a code defined twice stops the start', () => {
  const rows = entryAreas.flatMap((area) => area.entries);
  assert.throws(() => verifyEntries([...rows, ...rows.slice(0, 1)]), /pat: defined twice/);
});

test('the registry agrees with the definitions of R4', () => {
  verifyEntries();
});

test('the registry holds exactly the 104 published entries', () => {
  assert.equal(publishedEntries.length, 104);
  const others = knownEntries.filter((entry) => !ownEntries.includes(entry));
  assert.deepEqual(others.toSorted(), publishedEntries.toSorted());
});

test('the entries beside them are for subscriptions', () => {
  assert.deepEqual(ownEntries, ['acl/sbscr_r', 'acl/sbscr_s', 'acl/sbscr_c', 'acl/sbscr_u']);
});

test('the registry knows the 71 entries of the sample token', () => {
  assert.equal(sampleToken.length, 71);
  assert.deepEqual(sampleTokenEntries.toSorted(), sampleToken.toSorted());
});

test('every published entry is understood by the grammar', () => {
  for (const text of publishedEntries) assert.notEqual(parseEntry(text).kind, 'refused', text);
});
