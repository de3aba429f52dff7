/**
 * The bulk definitions among the official R4 instances: each is accepted, or refused for a listed defect.
 * Slow: validates 4,560 definitions.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { definitions, findingsOf, listedFindings } from './findings.ts';
import { rejectedDefinitions } from './rejected-examples.ts';

test('each of the 4,560 bulk definitions is valid or has a listed defect', () => {
  assert.equal(definitions.length, 4560);
  assert.deepEqual(findingsOf(definitions), listedFindings(rejectedDefinitions));
});
