/**
 * The documentation of the API, open to all: `/openapi.json` and lighter documents beside it, and the pages below `/docs`
 * (docs/decisions/0337, 0338). Each text is made when it is first asked for, with what makes it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { DocumentFacts } from '../../openapi/document.ts';
import type { Place } from '../../reference/operation/request-panel.ts';
import type { Compressor } from '../answer/compression.ts';
import { countKeptBytes, makeTextFile, sendTextFile, type TextFile } from '../answer/text-file.ts';
import { findSandboxPlace } from './sandbox-place.ts';

export interface Documentation {
  /** Whether a path can only be one of the documentation; costs nothing. */
  covers(path: string): boolean;
  /**
   * The text at a path; undefined where there is none.
   * @param beforeMaking called before it is made, which costs time; may refuse
   */
  find(path: string, beforeMaking: () => void): Promise<TextFile | undefined>;
  /** Answers a path with what was found there. */
  send(path: string, file: TextFile, reply: FastifyReply): Promise<FastifyReply>;
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

/** Bytes of pages and of light documents that are kept, compressed ones as well; what was not asked for longest is made again. */
const keptBytesMax = 24_000_000;

/** The documentation. */
export function openDocumentation(given: DocumentationFacts, compressor: Compressor): Documentation {
  const { softwareVersion, environmentOrigins, realmOrigins } = given;
  const facts: DocumentFacts = { softwareVersion, environmentOrigins, realmOrigins };
  const reference = once(async () => {
    const { Reference } = await import('../../reference/reference.ts');
    await nextTurn();
    const made = new Reference({ ...facts, place: buildPlace(given) });
    await nextTurn();
    return made;
  });
  const variants = once(async () => (await import('../../openapi/variants/variants.ts')).openVariants(facts));
  const single: Readonly<Record<string, () => Promise<TextFile>>> = {
    '/openapi.json': once(async () => {
      const { openApiDocument } = await import('../../openapi/document.ts');
      return await writeDocument(openApiDocument(facts));
    }),
    '/openapi/without-cycles.json': once(async () => await writeDocument((await variants()).whole())),
    '/docs/search.json': once(async () => makeTextFile(json, await (await reference()).buildSearchIndex())),
  };
  const kept = new LRUCache<string, TextFile>({
    maxSize: keptBytesMax,
    sizeCalculation: countKeptBytes,
  });

  const make = async (path: string): Promise<TextFile | undefined> => {
    if (path.startsWith(variantsPath)) {
      const [matched, guides, name = ''] = variantPattern.exec(path) ?? [];
      if (matched === undefined) return undefined;
      const document = guides === undefined ? (await variants()).ofTag(name) : (await variants()).ofGuide(name);
      return document && (await writeDocument(document));
    }
    const text = (await reference()).find(path);
    return text === undefined ? undefined : makeTextFile(page, text);
  };
  const covers = (path: string): boolean =>
    Object.hasOwn(single, path) || path === '/docs' || path.startsWith('/docs/') || path.startsWith(variantsPath);
  return {
    covers,
    async find(path, beforeMaking) {
      if (Object.hasOwn(single, path)) return await single[path]?.();
      if (!covers(path)) return undefined;
      const known = kept.get(path);
      if (known !== undefined) return known;
      beforeMaking();
      const made = await make(path);
      if (made !== undefined) kept.set(path, made);
      return made;
    },
    async send(path, file, reply) {
      if (file.contentType === page) {
        reply.header('content-security-policy', (await reference()).policy).header('referrer-policy', 'no-referrer');
      }
      const bytes = countKeptBytes(file);
      await sendTextFile(compressor, file, reply);
      // What it was compressed to counts, too.
      if (countKeptBytes(file) > bytes && kept.peek(path) === file) {
        kept.delete(path);
        kept.set(path, file);
      }
      return reply;
    },
  };
}

/** A document as JSON; requests that wait get their turn before. */
async function writeDocument(document: object): Promise<TextFile> {
  await nextTurn();
  return makeTextFile(json, JSON.stringify(document));
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
