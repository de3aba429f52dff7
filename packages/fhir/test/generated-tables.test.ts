// The committed tables are what the generator makes of the official packages, and hold all that it read.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { typeText } from '../../../tools/generate-fhir/definitions.ts';
import { baseStructureDefinitions, type PublishedElement } from '../../../tools/generate-fhir/packages.ts';
import { generatedFiles } from '../../../tools/generate-fhir.ts';
import { type ElementDefinition, errata, findTypeDefinition } from '../src/index.ts';

const tablesBytesMax = 1_500_000;
/** Loaded on first use: by validation against rules and profiles, and by terminology. */
const loadedLater = new Set(['constraints.js', 'profiles.js', 'code-systems.js', 'value-set-definitions.js']);
const laterBytesMax = 3_000_000;

const files = generatedFiles();

test('the committed files are up to date: else run node tools/generate-fhir.ts', () => {
  for (const [name, content] of files) {
    const committed = readFileSync(new URL(`../src/generated/${name}`, import.meta.url), 'utf8');
    assert.ok(committed === content, `${name} differs from what the generator writes`);
  }
});

test('the generator writes the same bytes each time', () => {
  assert.deepEqual(generatedFiles(), files);
});

test('the tables that a server loads are small, and those that it may load later are not large', () => {
  const bytes = { atStart: 0, later: 0 };
  for (const [name, content] of files) {
    if (!name.endsWith('.js')) continue;
    bytes[loadedLater.has(name) ? 'later' : 'atStart'] += Buffer.byteLength(content);
  }
  assert.ok(bytes.atStart <= tablesBytesMax, `${bytes.atStart} bytes at the start`);
  assert.ok(bytes.later <= laterBytesMax, `${bytes.later} bytes later`);
});

test('the view gives back every element of every snapshot, inherited ones included', () => {
  let compared = 0;
  for (const definition of baseStructureDefinitions()) {
    const view = findTypeDefinition(definition.type);
    assert.equal(view?.name, definition.type);
    assert.equal(view?.kind, definition.kind);
    assert.equal(view?.base, definition.baseDefinition?.replace(/.*\//, ''));
    if (definition.kind === 'primitive-type') continue;
    for (const published of definition.snapshot.element.slice(1)) {
      const element = elementAt(published.path);
      assert.ok(element !== undefined, published.path);
      assert.deepEqual(facts(element), publishedFacts(published), published.path);
      compared += 1;
    }
    const names = definition.snapshot.element.filter(({ path }) => path.split('.').length === 2);
    assert.deepEqual(
      [...(view?.elements.keys() ?? [])],
      names.map(({ path }) => path.replace(/.*\./, '').replace('[x]', '')),
    );
  }
  assert.equal(compared, 7406);
});

function elementAt(path: string): ElementDefinition | undefined {
  const [typeName = '', ...names] = path.split('.');
  let type = findTypeDefinition(typeName);
  let element: ElementDefinition | undefined;
  for (const name of names) {
    element = type?.elements.get(name.replace('[x]', ''));
    type = element?.children;
  }
  return element;
}

function facts(element: ElementDefinition) {
  return {
    min: element.min,
    max: element.max,
    choice: element.choice,
    summary: element.summary,
    modifier: element.modifier,
    binding: element.binding,
    types: element.types.map(({ code, targets }) => (targets === undefined ? code : `${code}(${targets.join('|')})`)),
  };
}

function publishedFacts(published: PublishedElement) {
  const erratum = errata.find(
    ({ change }) => change.kind === 'element-type' && change.path === published.base?.path,
  )?.change;
  const types = published.contentReference === undefined ? (published.type ?? []).map(typeText) : ['BackboneElement'];
  return {
    min: published.min,
    max: published.max === '*' ? Number.POSITIVE_INFINITY : Number(published.max),
    choice: published.path.endsWith('[x]'),
    summary: published.isSummary === true,
    modifier: published.isModifier === true,
    binding: published.binding?.strength === 'required' ? published.binding.valueSet?.split('|')[0] : undefined,
    types: erratum?.kind === 'element-type' ? [erratum.to] : types,
  };
}
