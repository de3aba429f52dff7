/**
 * Every official R4 example instance goes through the import and comes back semantically equal, decimals digit by digit;
 * those that are refused are exactly those with a listed defect (packages/fhir/test/rejected-examples.ts).
 * Slow: loads all official examples.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { formatDecimal, isRawDecimal, type JsonObject, type JsonValue, parseJson } from '@praxis/fhir';
import { rejectedExamples } from '../../../fhir/test/rejected-examples.ts';
import { getStoredText } from '../../src/access/disclosure.ts';
import { importFiles } from '../../src/cli/importing/files.ts';
import { importFilesAt } from '../../src/cli/importing/import-files.ts';
import type { ImportProblem } from '../../src/cli/importing/problem.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { makeFirm, openTestPlatform } from './platform.ts';

const folder = fileURLToPath(new URL('../../../../node_modules/hl7.fhir.r4.examples/', import.meta.url));
const bulkDefinition = /^(StructureDefinition|ValueSet|CodeSystem|ConceptMap|SearchParameter|OperationDefinition)-/;
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && name !== 'package.json' && !bulkDefinition.test(name))
  .sort();

/** Entries of example Bundles that ask for something else than storing, by file. */
const notExecuted: Readonly<Record<string, readonly string[]>> = {
  'Bundle-bundle-request-medsallergies.json': ['GET', 'GET', 'GET', 'GET', 'GET'],
  'Bundle-bundle-request-simplesummary.json': ['GET', 'GET', 'GET', 'GET'],
  'Bundle-bundle-transaction.json': [
    'conditions',
    'conditions',
    'conditions',
    'DELETE',
    'DELETE',
    'operations',
    'GET',
    'GET',
  ],
  'Bundle-xds.json': ['conditions'],
};

const platform = await openTestPlatform({ after });
const firm = await makeFirm(platform, 'maple');
const scope = await openOperatorScope(platform.database, platform.clock, firm);
const problems: ImportProblem[] = [];
const files = await importFiles(names.map((name) => folder + name));
const { stored } = await importFilesAt(platform, firm, files, {
  mode: 'upsert',
  validate: true,
  lenientInvariants: true,
  isAnew: false,
  checksReferences: false,
  onContinue: () => undefined,
  onProblem: (problem) => void problems.push(problem),
  onProgress: () => undefined,
});

test('what is refused has a listed defect, or is a request in a Bundle', () => {
  assert.equal(names.length, 746);
  const refused: Record<string, number> = {};
  const requests: Record<string, string[]> = {};
  for (const { origin, issues } of problems) {
    const [{ diagnostics } = { diagnostics: '' }] = issues;
    const name = origin.slice(folder.length);
    const [, what] =
      /^Bundle\.entry\[\d+\]\.request\.\w+: (\w+) (?:is|are) not executed by an import$/.exec(diagnostics) ?? [];
    if (what === undefined) refused[name] = issues.length;
    else requests[name] = [...(requests[name] ?? []), what];
  }
  const listed = Object.entries(rejectedExamples).map(([name, defects]) => [
    name,
    defects.reduce((sum, defect) => sum + defect.count, 0),
  ]);
  assert.deepEqual(refused, Object.fromEntries(listed));
  assert.deepEqual(requests, notExecuted);
});

test('what is stored reads back as it was written', async () => {
  const expected = expectedFingerprints();
  const latest = new Map<string, string>();
  let count = 0;
  let decimals = 0;
  for await (const { type, id, versionId, content } of platform.store.stream(scope)) {
    const resource = objectOf(parseJson(getStoredText(content)));
    const meta = objectOf(resource.meta ?? null);
    assert.deepEqual([resource.id, meta.versionId], [id, String(versionId)]);
    decimals += numbersThatLoseDigits(resource);
    latest.set(`${type}/${id}`, fingerprint(resource));
    count += versionId;
  }
  assert.equal(count, stored, 'every resource that was stored is a version of one that is there');
  assert.ok(decimals > 100, `only ${decimals} decimals would lose digits as doubles`);
  for (const { fingerprints, name, key } of expected.named.values()) {
    assert.equal(latest.get(key), fingerprints.at(-1), `${key} of ${name} came back otherwise`);
    if (fingerprints.length > 1) assert.deepEqual(await versionsOf(key), fingerprints, `versions of ${key}`);
    latest.delete(key);
  }
  // What had no id got one: known by its content.
  assert.deepEqual([...latest.values()].sort(), expected.unnamed.sort());
});

interface Expectation {
  readonly key: string;
  /** The file that had it last. */
  readonly name: string;
  readonly fingerprints: readonly string[];
}

/** Fingerprints of all resources in all files but the refused: those with ids by type and id, in the order of the files. */
function expectedFingerprints(): { readonly named: ReadonlyMap<string, Expectation>; readonly unnamed: string[] } {
  const named = new Map<string, Expectation>();
  const unnamed: string[] = [];
  for (const name of names) {
    if (name in rejectedExamples) continue;
    for (const resource of resourcesIn(objectOf(parseJson(readFileSync(folder + name, 'utf8'))))) {
      // Nobody subscribes by an import.
      const print = fingerprint(resource.resourceType === 'Subscription' ? { ...resource, status: 'off' } : resource);
      const key = `${String(resource.resourceType)}/${String(resource.id)}`;
      if (resource.id === undefined) unnamed.push(print);
      else named.set(key, { key, name, fingerprints: [...(named.get(key)?.fingerprints ?? []), print] });
    }
  }
  return { named, unnamed };
}

/** The resource, or those in the entries of a Bundle that are to be stored one by one. */
function resourcesIn(document: JsonObject): JsonObject[] {
  if (document.resourceType !== 'Bundle' || !['collection', 'batch', 'transaction'].includes(String(document.type)))
    return [document];
  return arrayOf(document.entry)
    .map(objectOf)
    .filter(({ resource, request }) => {
      const { method = 'PUT', url = '', ifNoneExist, ifMatch } = request === undefined ? {} : objectOf(request);
      const isConditional = ifNoneExist !== undefined || ifMatch !== undefined;
      return resource !== undefined && /^P[OU]/.test(String(method)) && !/[$?]/.test(String(url)) && !isConditional;
    })
    .map(({ resource }) => objectOf(resource ?? null));
}

async function versionsOf(key: string): Promise<string[]> {
  const [type = '', id = ''] = key.split('/');
  const { versions } = await platform.store.history(scope, type, id, { limit: 100 });
  return versions.map(({ content }) => fingerprint(objectOf(parseJson(getStoredText(content))))).reverse();
}

/** The same for resources that mean the same: the order of members, version, time and made ids do not count. */
function fingerprint(resource: JsonObject): string {
  const { meta, id, ...rest } = resource;
  const { versionId, lastUpdated, ...kept } = meta === undefined ? {} : objectOf(meta);
  const given = Object.keys(kept).length === 0 ? rest : { ...rest, meta: kept };
  return createHash('sha256').update(canonical(given)).digest('base64url');
}

/** Links by urn become `Type/id` of a made id, and are compared as a link only; a test of their own shows where they lead. */
const urnLink = /^urn:(?:uuid|oid):/;
const madeLink = /^[A-Z][A-Za-z]+\/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function canonical(value: JsonValue, name = ''): string {
  if (typeof value === 'number' || isRawDecimal(value)) return formatDecimal(value);
  if (typeof value === 'string')
    return JSON.stringify(name === 'reference' && (urnLink.test(value) || madeLink.test(value)) ? 'a link' : value);
  if (Array.isArray(value)) return `[${value.map((each) => canonical(each)).join()}]`;
  if (value === null || typeof value === 'boolean') return String(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null, key)}`);
  return `{${members.join()}}`;
}

function numbersThatLoseDigits(value: JsonValue): number {
  if (isRawDecimal(value)) return 1;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + numbersThatLoseDigits(each), 0);
}

function objectOf(value: JsonValue): JsonObject {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value));
  return value;
}

function arrayOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
