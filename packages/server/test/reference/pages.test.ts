/**
 * The pages of the documentation (docs/decisions/0337), made without a service: every operation has one, links lead somewhere,
 * markup of texts is text, and no page is too much for a browser.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import test from 'node:test';
import { buildAdministrationDocument } from '../../src/openapi/administration.ts';
import { openApiDocument } from '../../src/openapi/document.ts';
import { describedMethods, slugTag } from '../../src/openapi/openapi.ts';
import { guideOperations } from '../../src/openapi/variants/guides.ts';
import { type DocumentVariants, openVariants } from '../../src/openapi/variants/variants.ts';
import { buildOperationPath } from '../../src/reference/addresses.ts';
import { listGuides } from '../../src/reference/guides.ts';
import { Reference } from '../../src/reference/reference.ts';
import { listElements, type ParsedPage, parsePage } from './parsed-page.ts';

const facts = { softwareVersion: '1.2.3', environmentOrigins: new Map<string, string>(), realmOrigins: new Map() };
const place = {
  origin: 'https://praxis.example.com',
  environment: '',
  firm: '',
  product: 'pm',
  realm: '',
  isSandbox: false,
};
const reference = new Reference({ ...facts, place });
const document = openApiDocument(facts);

/** Elements and texts that a page may have. */
const nodesMax = 3_000;

/** What is remembered of a page: of 2,000 pages the elements would be too much. */
interface SeenPage {
  readonly headings: readonly string[];
  readonly nodes: number;
  readonly links: readonly string[];
  readonly ids: ReadonlySet<string>;
  readonly hasQuery: boolean;
}

const pages = new Map<string, SeenPage>();

/** The page at a path, all of whose elements were looked at. */
function pageAt(path: string): SeenPage {
  const known = pages.get(path);
  if (known !== undefined) return known;
  const parsed = parsePage(reference.find(path) ?? assert.fail(`${path} is no page`));
  const seen = look(path, parsed);
  pages.set(path, seen);
  return seen;
}

/** Ids are unique, each field has a label, and nothing is loaded or run but the one script and style. */
function look(path: string, page: ParsedPage): SeenPage {
  const ids = page.elements.flatMap(({ attributes }) => attributes.get('id') ?? []);
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
    path,
  );
  const labelled = new Set(listElements(page, 'label').map(({ attributes }) => attributes.get('for')));
  for (const { name, attributes } of page.elements) {
    const isField = ['input', 'select', 'textarea'].includes(name);
    assert.ok(!isField || labelled.has(attributes.get('id')), `${path}: ${attributes.get('id')} has a label`);
    for (const key of attributes.keys()) assert.doesNotMatch(key, /^(?:src|style|on.*|ping|background)$/, path);
    if (name === 'link') assert.equal(attributes.get('href'), 'data:,', path);
    const href = name === 'a' ? (attributes.get('href') ?? assert.fail(path)) : '';
    if (!/^[/#]/.test(href) && href !== '') {
      assert.match(href, /^https?:\/\//, path);
      assert.equal(attributes.get('rel'), 'noreferrer', `${path} ${href}`);
    }
  }
  for (const name of ['script', 'style', 'h1', 'main'])
    assert.equal(listElements(page, name).length, 1, `${path} ${name}`);
  const places = new Set(page.elements.map(({ attributes }) => attributes.get('data-in')));
  return {
    headings: listElements(page, 'h1').map(({ text }) => text),
    nodes: page.nodes,
    links: [...new Set(listElements(page, 'a').map(({ attributes }) => attributes.get('href') ?? ''))],
    ids: new Set(ids),
    hasQuery: places.has('query') || places.has('criteria'),
  };
}

const operationPaths = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((item) =>
  describedMethods.flatMap((method) => {
    const operation = item[method];
    return operation === undefined
      ? []
      : [{ operation, path: buildOperationPath(operation.tags[0] ?? '', operation.operationId) }];
  }),
);

/** Whether the document has parameters of the query for operations of paths. */
const hasQuery = new Map(
  Object.values(document.paths).flatMap((item) =>
    describedMethods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const all = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((given) => {
        const name = '$ref' in given ? given.$ref.slice('#/components/parameters/'.length) : '';
        return name === '' ? given : (document.components['parameters']?.[name] ?? assert.fail(name));
      });
      return [[operation.operationId, all.some((each) => Reflect.get(each as object, 'in') === 'query')] as const];
    }),
  ),
);

const administration = buildAdministrationDocument(facts.softwareVersion);
const administrationPaths = Object.values(administration.paths).flatMap((item) =>
  describedMethods.flatMap((method) => {
    const operation = item[method];
    if (operation === undefined) return [];
    return [{ operation, path: buildOperationPath(operation.tags[0] ?? '', operation.operationId, 'administration') }];
  }),
);

test('every operation of the document has a page that names it', () => {
  assert.ok(operationPaths.length > 1_900);
  for (const { operation, path } of operationPaths) {
    const page = pageAt(path);
    assert.deepEqual(page.headings, [operation.summary], path);
    assert.ok(page.nodes <= nodesMax, `${path}: ${page.nodes} nodes`);
    assert.equal(page.hasQuery, hasQuery.get(operation.operationId) ?? false, path);
  }
});

test('every action of the administration has a page that names it', () => {
  assert.ok(administrationPaths.length > 80, String(administrationPaths.length));
  for (const { operation, path } of administrationPaths) {
    const page = pageAt(path);
    assert.deepEqual(page.headings, [operation.summary], path);
    assert.ok(page.nodes <= nodesMax, `${path}: ${page.nodes} nodes`);
  }
});

test('front page, groups and guides lead to every page', () => {
  const seen = new Set(['/docs']);
  for (const path of seen) {
    for (const href of pageAt(path).links) {
      const [url = ''] = href.split('#');
      if (url.startsWith('/docs')) seen.add(url); // a Set is walked on to what is added meanwhile
    }
  }
  assert.deepEqual(
    [...operationPaths, ...administrationPaths].filter(({ path }) => !seen.has(path)),
    [],
  );
  const guides = listGuides().map(({ name }) => `/docs/guides/${name}`);
  assert.ok(guides.length >= 21);
  assert.deepEqual(
    guides.filter((path) => !seen.has(path)),
    [],
  );
  for (const path of seen) assert.ok(pageAt(path).nodes <= (path.startsWith('/docs/guides/') ? 8_000 : nodesMax), path);
});

test('every link of a page leads to a page, a document or a heading that there is', () => {
  const files = new Set(['/openapi.json', '/openapi/without-cycles.json', '/admin/openapi.json']);
  const variants = openVariants(facts);
  for (const { name } of document.tags) files.add(`/openapi/${slugTag(name)}.json`);
  for (const name of Object.keys(guideOperations)) files.add(`/openapi/guides/${name}.json`);
  for (const file of files) assert.ok(findVariant(variants, file), file);
  for (const [path, { links }] of pages) {
    for (const href of links.filter((each) => !each.startsWith('http'))) {
      const [url = '', fragment = ''] = href.split('#');
      if (files.has(url)) continue;
      const target = pageAt(url === '' ? path : url);
      assert.ok(fragment === '' || target.ids.has(fragment), `${path} links to ${href}`);
    }
  }
});

/** The documents that these pages link to; others are asked for over HTTP elsewhere. */
function findVariant(variants: DocumentVariants, file: string): unknown {
  const [, guide, name = ''] = /^\/openapi\/(guides\/)?([A-Za-z-]+)\.json$/.exec(file) ?? [];
  if (name === '' || name === 'without-cycles') return true;
  return guide === undefined ? variants.ofTag(name) : variants.ofGuide(name);
}

test('pages run and load nothing but what their policy names by its hash', () => {
  const directives = new Map(
    reference.policy
      .split('; ')
      .map((directive) => [directive.split(' ')[0] ?? '', directive.split(' ').slice(1).join(' ')]),
  );
  const digest = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;
  const html = reference.find('/docs/reference/Patient/readPatient') ?? '';
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(html) ?? [];
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
  assert.deepEqual(
    [...directives],
    [
      ['default-src', "'none'"],
      ['script-src', digest(script)],
      ['style-src', digest(style)],
      ['img-src', 'data:'],
      ['connect-src', "'self'"],
      ['base-uri', "'none'"],
      ['form-action', "'none'"],
      ['frame-ancestors', "'none'"],
      ['require-trusted-types-for', "'script'"],
      ['trusted-types', "'none'"],
    ],
  );
  assert.doesNotMatch(
    script,
    /innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|localStorage|document\.cookie/,
  );
});

test('origins that environments have of their own may be called', () => {
  const own = new Reference({ ...facts, environmentOrigins: new Map([['prod', 'https://api.example.com']]), place });
  assert.match(own.policy, /; connect-src 'self' https:\/\/api\.example\.com; /);
  const [body] = listElements(parsePage(own.find('/docs') ?? ''), 'body');
  assert.deepEqual(JSON.parse(body?.attributes.get('data-origins') ?? ''), {
    environments: { prod: 'https://api.example.com' },
    realms: {},
  });
});

test('what is no page has none', () => {
  for (const path of [
    '/docs/',
    '/docs/guides',
    '/docs/guides/none',
    '/docs/guides/first-call/more',
    '/docs/guides/../README',
    '/docs/reference/Pacient',
    '/docs/reference/Patient/readPractitioner',
    '/docs/reference/Patient/readPatient/more',
    '/docs/reference/constructor',
    '/docs/schemas/Patient.contact',
    '/docs/schemas/Resource',
    '/docs/schemas/toString',
    '/docs/schemas/string',
  ])
    assert.equal(reference.find(path), undefined, path);
});

test('guides of the table are guides, and their operations operations', () => {
  const known = new Set(listGuides().map(({ name }) => name));
  for (const [guide, byTag] of Object.entries(guideOperations)) {
    assert.ok(known.has(guide), guide);
    for (const [tag, ids] of Object.entries(byTag)) {
      for (const id of ids)
        assert.ok(
          operationPaths.some(({ path }) => path === buildOperationPath(tag, id)),
          `${guide} ${tag} ${id}`,
        );
    }
    const { links } = pageAt(`/docs/guides/${guide}`);
    assert.ok(links.includes(`/openapi/guides/${guide}.json`), guide);
  }
});

test('the search finds guides by section, and operations', async () => {
  const entries: [string, string, string, string?][] = JSON.parse(await reference.buildSearchIndex());
  const urls = new Set(entries.map(([, , url]) => url));
  assert.deepEqual(
    [...operationPaths, ...administrationPaths].filter(({ path }) => !urls.has(path)),
    [],
  );
  assert.deepEqual(
    entries
      .filter(([title]) => title === '$book of the type' || title === 'Get a token')
      .map(([, hint, url]) => [hint, url]),
    [
      ['Guide: First call', '/docs/guides/first-call#get-a-token'],
      ['POST /Appointment/$book', '/docs/reference/Appointment/bookAppointmentOfType'],
    ],
  );
  for (const url of urls) pageAt(url.split('#')[0] ?? '');
});
