/** Lighter OpenAPI documents (docs/decisions/0338): each is valid, tells the same, and has no schema that leads to itself. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type OpenApiDocument, openApiDocument } from '../../src/openapi/document.ts';
import { describedMethods, slugTag } from '../../src/openapi/openapi.ts';
import { cutCycles } from '../../src/openapi/variants/cycles.ts';
import { guideOperations } from '../../src/openapi/variants/guides.ts';
import { listReferences } from '../../src/openapi/variants/part.ts';
import { openVariants } from '../../src/openapi/variants/variants.ts';

const facts = { softwareVersion: '1.2.3', environmentOrigins: new Map<string, string>(), realmOrigins: new Map() };
const whole = openApiDocument(facts);
const variants = openVariants(facts);

const ofTags = whole.tags.map(({ name }) => [name, variants.ofTag(slugTag(name)) ?? assert.fail(name)] as const);
const ofGuides = Object.keys(guideOperations).map(
  (name) => [`guide ${name}`, variants.ofGuide(name) ?? assert.fail(name)] as const,
);
const all = [...ofTags, ...ofGuides, ['without cycles', variants.whole()] as const];

/** A schema from which references lead back to it, if there is one. */
function findCycle({ components }: OpenApiDocument): string | undefined {
  const schemas = components['schemas'] ?? {};
  const targets = new Map(Object.entries(schemas).map(([name, schema]) => [`schemas/${name}`, listReferences(schema)]));
  const done = new Set<string>();
  const walk = (name: string, above: ReadonlySet<string>): string | undefined => {
    if (above.has(name)) return name;
    if (done.has(name)) return undefined;
    const inside = new Set([...above, name]);
    for (const target of targets.get(name) ?? []) {
      const found = walk(target, inside);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  return [...targets.keys()].map((name) => walk(name, new Set())).find((found) => found !== undefined);
}

test('the whole document has cycles, and no variant has', () => {
  assert.notEqual(findCycle(whole), undefined);
  for (const [name, document] of all) assert.equal(findCycle(document), undefined, name);
});

test('each variant is a valid OpenAPI 3.1 document whose references lead somewhere', async () => {
  const validator = new Validator();
  for (const [name, document] of all) {
    assert.deepEqual(await validator.validate(structuredClone(document)), { valid: true }, name);
    assert.equal(validator.version, '3.1');
    for (const reference of new Set(listReferences(document))) {
      const [kind = '', component = ''] = reference.split('/');
      assert.ok(document.components[kind]?.[component], `${name}: ${reference}`);
    }
  }
});

test('documents of tags have the operations of the whole document, each in one, and only what they need', () => {
  const paths = Object.assign({}, ...ofTags.map(([, document]) => document.paths));
  assert.deepEqual(
    Object.fromEntries(Object.entries(paths).sort()),
    Object.fromEntries(Object.entries(whole.paths).sort()),
  );
  const webhooks = Object.assign({}, ...ofTags.map(([, document]) => document.webhooks));
  assert.deepEqual(webhooks, whole.webhooks);
  for (const [name, document] of ofTags) {
    assert.deepEqual(
      document.tags.map((tag) => tag.name),
      [name],
    );
    const used = new Set(listReferences(document));
    for (const [kind, those] of Object.entries(document.components)) {
      if (kind === 'securitySchemes') continue;
      for (const component of Object.keys(those))
        assert.ok(used.has(`${kind}/${component}`), `${name}: ${kind}/${component}`);
    }
  }
});

test('documents of guides have the operations of their guide', () => {
  for (const [name, byTag] of Object.entries(guideOperations)) {
    const { paths, webhooks, tags } = variants.ofGuide(name) ?? assert.fail(name);
    const ids = [...Object.values(paths), ...Object.values(webhooks)].flatMap((item) =>
      describedMethods.flatMap((method) => item[method]?.operationId ?? []),
    );
    assert.deepEqual(ids.sort(), Object.values(byTag).flat().sort(), name);
    assert.deepEqual(tags.map((tag) => tag.name).sort(), Object.keys(byTag).sort(), name);
  }
  assert.equal(variants.ofGuide('none'), undefined);
  assert.equal(variants.ofGuide('constructor'), undefined);
  assert.equal(variants.ofTag('Pacient'), undefined);
});

test('documents of types are light', () => {
  for (const type of resourceTypesWithEndpoint) {
    const { length } = JSON.stringify(variants.ofTag(type));
    assert.ok(length < 200_000, `${type}: ${length}`);
  }
});

test('what is cut is an object, and everything else stays as it is', () => {
  const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
  const list = (items: object): object => ({ type: 'array', items });
  const cut = (name: string): object => ({ type: 'object', description: `${name}. Its members are not listed here.` });
  const schemas = {
    Extension: {
      properties: { value: reference('Name'), extension: list(reference('Extension')), code: reference('code') },
    },
    Name: { properties: { extension: list(reference('Extension')), text: reference('code') } },
    code: { type: 'string' },
    Item: { properties: { item: list(reference('Item')), name: reference('Name') } },
  };
  assert.deepEqual(cutCycles({ schemas, headers: {} }), {
    headers: {},
    schemas: {
      ...schemas,
      Extension: { properties: { value: cut('Name'), extension: list(cut('Extension')), code: reference('code') } },
      Item: { properties: { item: list(cut('Item')), name: reference('Name') } },
    },
  });
});
