/** The rows themselves: docs/integrate/conformance.md may only say of a case that it passes if there is a test that runs it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Clause } from './clause.ts';
import { pages } from './pages.ts';
import { caseOf } from './run.ts';

const clauses = pages.flatMap((page) => page.clauses);

test('every page has a test file that runs it', () => {
  for (const { name } of pages) {
    const text = readFileSync(new URL(`${name}.test.ts`, import.meta.url), 'utf8');
    assert.match(text, new RegExp(`await runPage\\(${name}\\);`));
  }
});

test('an id is that of one clause and tells its page', () => {
  assert.equal(new Set(clauses.map(({ id }) => id)).size, clauses.length);
  for (const { name, clauses: own } of pages) {
    for (const { id } of own) assert.match(id, new RegExp(`^${name}-[a-z-]+-\\d+$`));
  }
});

test('what has no case says why, and only a SHOULD is departed from', () => {
  const said = (reason: string) => assert.ok(reason.length > 10, reason);
  for (const { check, level } of clauses) {
    if (typeof check === 'function') continue;
    if ('notApplicable' in check) said(check.notApplicable);
    else {
      said(check.departs);
      assert.match(level, /^SHOULD/);
    }
  }
});

test('a clause is run, unless it does not apply', () => {
  const without = (clause: Clause) => caseOf(clause) === undefined;
  const unable = clauses.filter(({ check }) => typeof check === 'object' && 'notApplicable' in check);
  assert.deepEqual(clauses.filter(without), unable);
});
