/** "Did you mean": the nearest of some names, against a table of edits that is filled without any bound. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { findNearestName, resourceTypes, suggestName } from '../src/index.ts';

fc.configureGlobal({ seed: 20_261_126 });

/** Insertions, deletions, replacements and swaps of neighbours, by the whole table. */
function countAllEdits(from: string, to: string): number {
  const rows: number[][] = [];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 0; row <= from.length; row += 1) {
    rows[row] = [];
    for (let column = 0; column <= to.length; column += 1) {
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      (rows[row] as number[])[column] =
        row === 0 || column === 0
          ? row + column
          : Math.min(
              at(row - 1, column) + 1,
              at(row, column - 1) + 1,
              at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1),
              isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
            );
    }
  }
  return at(from.length, to.length);
}

function findNearestByTable(name: string, names: readonly string[]): string | undefined {
  const limit = Math.min(3, Math.floor(name.length / 3));
  const near = names.map((each) => ({ each, edits: countAllEdits(name.toLowerCase(), each.toLowerCase()) }));
  const least = Math.min(...near.map(({ edits }) => edits));
  return least > limit ? undefined : near.find(({ edits }) => edits === least)?.each;
}

/** Names that differ in a few places, and such as have nothing in common. */
const slips = fc
  .record({
    name: fc.constantFrom(...resourceTypes),
    changes: fc.array(fc.tuple(fc.nat(40), fc.constantFrom('', 'e', 'x', 'ie', 'swap')), { maxLength: 5 }),
  })
  .map(({ name, changes }) =>
    changes.reduce((text, [place, change]) => {
      const at = place % (text.length + 1);
      const two = text.slice(at, at + 2);
      return change === 'swap'
        ? text.slice(0, at) + [...two].reverse().join('') + text.slice(at + 2)
        : text.slice(0, at) + change + text.slice(at + 1);
    }, name),
  );

test('the name that takes the fewest edits is found, and none where they are too many', () => {
  fc.assert(
    fc.property(fc.oneof(slips, fc.string({ maxLength: 30 })), (name) => {
      assert.equal(findNearestName(name, resourceTypes), findNearestByTable(name, resourceTypes));
    }),
    { numRuns: 300 },
  );
});

test('upper and lower case are the same, and a name of three letters may have one slip', () => {
  for (const [name, meant] of [
    ['patient', 'Patient'],
    ['PATIENT', 'Patient'],
    ['Pateint', 'Patient'],
    ['Lst', 'List'],
    ['Organisation', 'Organization'],
    ['Li', undefined],
    ['', undefined],
    ['Visit', undefined],
    ['MedicationRequisition', undefined],
  ] as const)
    assert.equal(findNearestName(name, resourceTypes), meant, name);
});

test('a name that is known is no mistake, and a long one is not looked at', () => {
  assert.equal(suggestName('famly', ['given', 'family']), ': did you mean family?');
  assert.equal(suggestName('family', ['given', 'family']), '');
  assert.equal(suggestName('Family', ['given', 'family']), ': did you mean family?');
  const long = 'a'.repeat(64);
  assert.equal(suggestName(`${long}`, [`${long}b`]), `: did you mean ${long}b?`);
  assert.equal(suggestName(`${long}a`, [`${long}b`]), '');
  assert.equal(suggestName('a'.repeat(1_000_000), ['a'.repeat(1_000_000)]), '');
});
