/** Markup in any text of a document is text on its page: names, descriptions, examples, codes, paths. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { PathItem } from '../../src/openapi/openapi.ts';
import { openFrame } from '../../src/reference/layout.ts';
import { renderTag } from '../../src/reference/lists.ts';
import type { Html } from '../../src/reference/markup/html.ts';
import { listOperations, References } from '../../src/reference/operation/described-operation.ts';
import { renderOperation } from '../../src/reference/operation/operation-page.ts';
import { renderSchema } from '../../src/reference/schema-page.ts';
import { listElements, parsePage } from './parsed-page.ts';

const evil = `"><img src=x onerror=alert(1)></code></textarea></script><script>alert('1')</script><b title='`;

const schema = {
  type: 'object',
  description: evil,
  required: ['status'],
  properties: {
    status: { $ref: '#/components/schemas/codes.evil' },
    [evil]: { type: 'array', items: { $ref: '#/components/schemas/Patient' } },
    subject: { $ref: '#/components/schemas/Reference', description: evil },
    fixed: { const: evil },
  },
};
const components = {
  schemas: {
    Patient: schema,
    Reference: { type: 'object', properties: {} },
    'codes.evil': { type: 'string', enum: [evil, 'b'] },
    'search.token': { type: 'array', description: evil },
  },
  examples: { evil: { summary: evil, value: { status: evil, [evil]: [evil] } } },
};
const content = { 'application/fhir+json': { schema: { $ref: '#/components/schemas/Patient' } } };
const examples = { evil: { $ref: '#/components/examples/evil' } };
const operation = {
  operationId: 'evil',
  summary: evil,
  description: `${evil}\n\n| ${evil} |\n| --- |\n| \`${evil}\` |\n\n[${evil}](javascript:alert(1))`,
  tags: [evil],
  deprecated: true,
  parameters: [
    {
      name: evil,
      in: 'query',
      description: evil,
      schema: { $ref: '#/components/schemas/search.token' },
      example: [evil],
    },
    { name: 'choice', in: 'query', description: evil, schema: { $ref: '#/components/schemas/codes.evil' } },
    { name: evil, in: 'header', description: evil, schema: { type: 'string', examples: [evil] } },
    { name: 'id', in: 'path', description: evil, required: true, schema: { type: 'string' } },
  ],
  requestBody: { required: true, description: evil, content: { [evil]: { schema }, ...content } },
  responses: {
    '200': {
      description: evil,
      headers: { [evil]: { $ref: '#/components/headers/x' } },
      content: { 'application/fhir+json': { schema, examples } },
    },
    [evil]: { description: evil, content: { 'application/fhir+json': { schema: { title: evil } } } },
  },
} as const;
const place = { origin: evil, environment: evil, firm: evil, product: evil, realm: evil, isSandbox: true };
const frame = openFrame(evil, {
  environments: new Map([[evil, 'https://example.com']]),
  realms: new Map(),
});

function assertHarmless(main: Html): void {
  const navigation = [{ title: evil, links: [{ title: evil, url: `/docs/${evil}` }] }];
  const page = parsePage(frame.render({ title: evil, url: `/docs/${evil}`, main, navigation }));
  assert.deepEqual(listElements(page, 'img'), []);
  assert.deepEqual(listElements(page, 'b'), []);
  assert.equal(listElements(page, 'script').length, 1);
  for (const { attributes } of page.elements) {
    assert.ok(!attributes.has('onerror') && !attributes.has('src'));
    assert.doesNotMatch(attributes.get('href') ?? '', /^javascript:/);
  }
}

test('on the page of an operation, of its tag and of a structure', () => {
  const references = new References(components);
  const items = { [`/{id}/${evil}`]: { post: operation, get: { ...operation, requestBody: undefined } } } as unknown;
  for (const kind of ['data', 'webhook', 'administration'] as const) {
    const operations = listOperations(items as Record<string, PathItem>, references, kind);
    assert.equal(operations.length, 2);
    for (const described of operations) assertHarmless(renderOperation(described, references, place));
    assertHarmless(renderTag({ name: evil, description: evil }, 'reference', operations));
  }
  const main = renderSchema('Patient', references);
  assert.ok(main);
  assertHarmless(main);
});
