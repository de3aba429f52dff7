/**
 * Every official R4 instance as $validate judges it, but for its structure (packages/fhir/test): against R4's invariants, the
 * profiles it states and the extensions it has. None breaks a rule but those listed, each with the defect.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import test from 'node:test';
import { checkInvariants, loadOfficialProfiles, parseJson } from '@praxis/fhir';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { findCanonicalUnit } from '../../src/search/kinds/ucum.ts';
import { examine } from '../../src/validation/examine.ts';
import type { Finding } from '../../src/validation/finding.ts';
import { listNamedProfiles } from '../../src/validation/named-profiles.ts';
import { toPlain } from '../../src/validation/plain.ts';
import { loadProfiles } from '../../src/validation/profiles.ts';
import { objectOf } from './plain-resource.ts';

const folder = new URL('../../../../node_modules/hl7.fhir.r4.examples/', import.meta.url);
const bulkDefinition = /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-/;
const files = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'package.json');
const official = await loadOfficialProfiles();

/** Bundles and guides of definitions: what they hold is examined file by file. */
const bytesMax = 1_500_000;
/** Of the definitions every so-many-th: they are alike, and examining all takes long. */
const definitionStep = 40;

/** Warnings that R4 itself calls advice: the names of definitions and the narrative. */
const advice = /^(dom-6|[a-z]+-0)$/;

/** File → issues of severity error, as rule and path, with the reason why they are right. */
const broken: Readonly<Record<string, { readonly found: readonly string[]; readonly defect: string }>> = {
  'StructureDefinition-Definition.json': {
    found: ['sdf-4 StructureDefinition'],
    defect: 'A logical model that is not abstract and has no baseDefinition.',
  },
  'StructureDefinition-Event.json': {
    found: ['sdf-4 StructureDefinition'],
    defect: 'A logical model that is not abstract and has no baseDefinition.',
  },
  'StructureDefinition-FiveWs.json': {
    found: ['sdf-4 StructureDefinition'],
    defect: 'A logical model that is not abstract and has no baseDefinition.',
  },
  'StructureDefinition-Request.json': {
    found: ['sdf-4 StructureDefinition'],
    defect: 'A logical model that is not abstract and has no baseDefinition.',
  },
};

test('the example instances break no invariant, profile or extension definition', async () => {
  const examples = files.filter((name) => !bulkDefinition.test(name) && sizeOf(name) <= bytesMax);
  assert.equal(examples.length, 734);
  const { errors, warnings } = await findingsOf(examples);
  assert.deepEqual(errors, {});
  assert.deepEqual([...warnings], ['profile-unknown']);
});

test('of the definitions only those that are listed break an invariant', async () => {
  const definitions = files.filter((name) => bulkDefinition.test(name));
  const some = definitions.filter((name, index) => Object.hasOwn(broken, name) || index % definitionStep === 0);
  const { errors, warnings } = await findingsOf(some);
  const listed = Object.fromEntries(Object.entries(broken).map(([name, { found }]) => [name, found]));
  assert.deepEqual(errors, listed);
  assert.ok(!warnings.has('invariant-unevaluated'));
});

async function findingsOf(names: readonly string[]) {
  const errors: Record<string, readonly string[]> = {};
  const warnings = new Set<string>();
  for (const name of names) {
    const findings = await examined(name);
    const wrong = findings.filter(({ severity }) => severity === 'error');
    if (wrong.length > 0) errors[name] = wrong.map(({ rule, path }) => `${rule} ${path}`);
    for (const { severity, rule } of findings) if (severity === 'warning' && !advice.test(rule)) warnings.add(rule);
  }
  return { errors, warnings };
}

async function examined(name: string): Promise<readonly Pick<Finding, 'severity' | 'rule' | 'path'>[]> {
  const resource = objectOf(parseJson(readFileSync(new URL(name, folder), 'utf8')));
  const plain = toPlain(resource);
  const loaded = await loadProfiles(official, listNamedProfiles(plain), async () => undefined);
  const budget = openOperatorBudget();
  const breaches = checkInvariants(resource, {
    severity: 'all',
    breachesMax: 1000,
    budget,
    findUnit: findCanonicalUnit,
  });
  return [
    ...breaches.map(({ severity, key, path, unevaluated }) => ({
      severity,
      path,
      rule: unevaluated === undefined ? key : 'invariant-unevaluated',
    })),
    ...examine(plain, [], loaded, 1000).findings,
  ];
}

function sizeOf(name: string): number {
  return statSync(new URL(name, folder)).size;
}
