/**
 * The documentation of the API, open to all: `/openapi.json` and lighter documents beside it, and the pages below `/docs`
 * (docs/decisions/0337, 0338). Each text is made when it is first asked for, with what makes it.
 */
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { DocumentFacts } from '../../openapi/document.ts';
import type { Place } from '../../reference/operation/request-panel.ts';
import type { Compressor } from '../answer/compression.ts';
import { makeTextFile, sendTextFile, type TextFile } from '../answer/text-file.ts';
import { findSandboxPlace } from './sandbox-place.ts';

export interface Documentation {
  /** Whether a path is one of the documentation. */
  has(path: string): Promise<boolean>;
  /** Answers such a path. */
  send(path: string, reply: FastifyReply): Promise<FastifyReply>;
}

export interface DocumentationFacts extends DocumentFacts {
  /** Origin that the operator has set; '' where it is that of each request. */
  readonly baseUrl: string;
  readonly dataDir: string;
}

const json = 'application/json; charset=utf-8';
const page = 'text/html; charset=utf-8';

/** Documents of tags, and below it those of guides. */
const variantsPath = '/openapi/';
const variantPattern = /^\/openapi\/(guides\/)?([A-Za-z0-9-]+)\.json$/;

/** Characters of pages and of light documents that are kept; what was not asked for longest is made again. */
const keptCharactersMax = 24_000_000;

/** The documentation. */
export function openDocumentation(given: DocumentationFacts, compressor: Compressor): Documentation {
  const { softwareVersion, environmentOrigins, realmOrigins } = given;
  const facts: DocumentFacts = { softwareVersion, environmentOrigins, realmOrigins };
  const reference = once(async () => {
    const { Reference } = await import('../../reference/reference.ts');
    return new Reference({ ...facts, place: buildPlace(given) });
  });
  const variants = once(async () => (await import('../../openapi/variants/variants.ts')).openVariants(facts));
  const single: Readonly<Record<string, () => Promise<TextFile>>> = {
    '/openapi.json': once(async () => {
      const { openApiDocument } = await import('../../openapi/document.ts');
      return makeTextFile(json, JSON.stringify(openApiDocument(facts)));
    }),
    '/openapi/without-cycles.json': once(async () => makeTextFile(json, JSON.stringify((await variants()).whole()))),
    '/docs/search.json': once(async () => makeTextFile(json, await (await reference()).buildSearchIndex())),
  };
  const kept = new LRUCache<string, TextFile>({
    maxSize: keptCharactersMax,
    sizeCalculation: ({ text }) => text.length,
  });

  const make = async (path: string): Promise<TextFile | undefined> => {
    if (path.startsWith(variantsPath)) {
      const [matched, guides, name = ''] = variantPattern.exec(path) ?? [];
      if (matched === undefined) return undefined;
      const document = guides === undefined ? (await variants()).ofTag(name) : (await variants()).ofGuide(name);
      return document && makeTextFile(json, JSON.stringify(document));
    }
    const text = (await reference()).find(path);
    return text === undefined ? undefined : makeTextFile(page, text);
  };
  const find = async (path: string): Promise<TextFile | undefined> => {
    if (Object.hasOwn(single, path)) return await single[path]?.();
    if (path !== '/docs' && !path.startsWith('/docs/') && !path.startsWith(variantsPath)) return undefined;
    const known = kept.get(path);
    if (known !== undefined) return known;
    const made = await make(path);
    if (made !== undefined) kept.set(path, made);
    return made;
  };
  return {
    has: async (path) => (await find(path)) !== undefined,
    async send(path, reply) {
      const file = await find(path);
      if (file === undefined) throw new TypeError(`${path} is no path of the documentation`);
      if (file.contentType === page) {
        reply.header('content-security-policy', (await reference()).policy).header('referrer-policy', 'no-referrer');
      }
      return sendTextFile(compressor, file, reply);
    },
  };
}

/** Where requests of the pages go: in a sandbox to its first firm, elsewhere to what is filled in. */
function buildPlace({ dataDir, baseUrl }: DocumentationFacts): Place {
  const sandbox = findSandboxPlace(dataDir);
  if (sandbox !== undefined) return { ...sandbox, origin: baseUrl || sandbox.origin, isSandbox: true };
  const nowhere = { environment: '', firm: '', product: 'pm', realm: '' };
  return { ...nowhere, origin: baseUrl || 'https://praxis.example.com', isSandbox: false };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
