/**
 * For every type and reference parameter, over all official examples and a synthetic practice: _include gives what
 * following the references by hand gives, and _revinclude the reverse (https://hl7.org/fhir/R4/search.html#revinclude). By
 * hand means: select the values with the parameter's expression, and take those that say `Type/id`.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { compileExtractor, type JsonObject } from '@praxis/fhir';
import { openOperatorBudget } from '../../../src/limits/budgets.ts';
import { includesMax, listReferenceParameters, refersElsewhere } from '../../../src/search/includes/include.ts';
import { generatePractice } from '../../../src/synthetic/practice.ts';
import { keyOf, loadBare, namedBy, typeOf } from '../../search/joined-by-hand.ts';
import { officialExamples } from '../../search/official-examples.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService, startMs } from '../../support/service.ts';

const service = await openTestService({ after });

/** Which resources refer, by which parameter, to which: keys are `Type/id`. */
interface Link {
  readonly source: string;
  readonly parameter: string;
  readonly target: string;
}

function linksByHand(resources: readonly JsonObject[]): readonly Link[] {
  const keys = new Set(resources.map(keyOf));
  return resources.flatMap((resource) => {
    const source = keyOf(resource);
    const parameters = listReferenceParameters(typeOf(source), []).filter(refersElsewhere);
    return parameters.flatMap(({ code, definition }) => {
      const values = compileExtractor(typeOf(source), definition.expression ?? '')(resource, openOperatorBudget(), {
        what: 'A test',
        cheaper: 'test less',
      });
      return values
        .flatMap((value) => namedBy(value) ?? [])
        .filter((target) => keys.has(target))
        .map((target) => ({ source, parameter: `${typeOf(source)}:${code}`, target }));
    });
  });
}

/** What all pages show: the matches, and what is included with each page. */
interface Shown {
  readonly matches: ReadonlySet<string>;
  readonly included: ReadonlySet<string>;
}

async function search(caller: Caller, query: string): Promise<readonly Shown[]> {
  const pages: Shown[] = [];
  for (let next: string | undefined = query; next !== undefined; ) {
    const { status, json, text } = await caller.get(next);
    assert.equal(status, 200, text);
    const keys = (mode: string): string[] =>
      (json.entry ?? [])
        .filter(({ search }: { search: { mode: string } }) => search.mode === mode)
        .map(({ resource }: { resource: JsonObject }) => keyOf(resource));
    assert.deepEqual(keys('outcome'), [], `${query} is complete`);
    const all = [...keys('match'), ...keys('include')];
    assert.equal(new Set(all).size, all.length, `${query} shows each resource once`);
    pages.push({ matches: new Set(keys('match')), included: new Set(keys('include')) });
    next = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  return pages;
}

/** Compares what each page includes with what leads `from` its matches `to` others. */
async function compare(
  caller: Caller,
  query: string,
  links: readonly Link[],
  from: 'source' | 'target',
): Promise<void> {
  const to = from === 'source' ? 'target' : 'source';
  for (const page of await search(caller, query)) {
    const expected = new Set(links.filter((link) => page.matches.has(link[from])).map((link) => link[to]));
    assert.deepEqual([...page.included].toSorted(), [...expected.difference(page.matches)].toSorted(), query);
  }
}

const practice = [
  ...generatePractice({
    seed: 'includes',
    firm: 'cedar',
    name: 'Cedar',
    timeZone: 'America/New_York',
    patients: 3,
    todayMs: startMs,
  }),
];

for (const [name, resources, least] of [
  ['maple', officialExamples(), 300],
  ['cedar', practice, 100],
] as const) {
  test(`includes equal the references followed by hand at ${name}`, async (t) => {
    const firm = await makeFirm(service, name);
    const caller = await openCaller(service, await makeApplication(service, name, ['acl/*'], [firm]), firm);
    await loadBare(service, firm, resources);
    const links = linksByHand(resources);
    // Of AuditEvent every search also finds events of the ledger, which the searches of this test add to.
    const types = [...new Set(resources.map((resource) => typeOf(keyOf(resource))))].filter(
      (type) => type !== 'AuditEvent',
    );
    t.diagnostic(`${resources.length} resources of ${types.length} types, ${links.length} references among them`);
    assert.ok(links.length > least);
    for (const type of types) {
      const all = links.filter(({ source }) => typeOf(source) === type);
      const codes = listReferenceParameters(type, []).map(({ code }) => code);
      const [used, unused] = [true, false].map((has) =>
        codes.filter((code) => has === all.some(({ parameter }) => parameter === `${type}:${code}`)),
      );
      for (const code of used ?? []) await compareParameter(caller, type, code, links);
      const others = (unused ?? []).map((code) => `_include=${type}:${code}`);
      await compare(caller, `${type}?${others.slice(0, includesMax).join('&')}`, [], 'source');
      await compare(caller, `${type}?_include=*`, all, 'source');
    }
  });
}

/** The parameter in both directions, to all types and to each that it leads to. */
async function compareParameter(caller: Caller, type: string, code: string, links: readonly Link[]): Promise<void> {
  const own = links.filter(({ parameter }) => parameter === `${type}:${code}`);
  await compare(caller, `${type}?_include=${type}:${code}`, own, 'source');
  for (const target of new Set(own.map((link) => typeOf(link.target)))) {
    // Some examples refer to types that the parameter does not name; these may not be asked for.
    if (!allowed(type, code, target)) continue;
    const narrowed = own.filter((link) => typeOf(link.target) === target);
    await compare(caller, `${type}?_include=${type}:${code}:${target}`, narrowed, 'source');
    await compare(caller, `${target}?_revinclude=${type}:${code}`, narrowed, 'target');
  }
}

function allowed(type: string, code: string, target: string): boolean {
  const parameter = listReferenceParameters(type, []).find((each) => each.code === code);
  return parameter?.definition.targets.includes(target) ?? false;
}
