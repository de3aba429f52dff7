/**
 * The documentation of the API, open to all: `/openapi.json`, its parts, and the page to browse them at `/docs`.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DocumentFacts, type OpenApiDocument, openApiDocument } from '../../openapi/document.ts';
import { extractTag } from '../../openapi/part.ts';
import type { Compressor } from '../answer/compression.ts';
import { makeTextFile, sendTextFile, type TextFile } from '../answer/text-file.ts';
import {
  buildReferencePolicy,
  packageFiles,
  readPackageFile,
  referencePage,
  startScript,
  startScriptPath,
} from './reference-page.ts';

export interface Documentation {
  /** Whether a path is one of the documentation. */
  has(path: string): boolean;
  /** Answers such a path. */
  send(path: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

const json = 'application/json; charset=utf-8';
const partPattern = /^\/docs\/openapi\/([A-Za-z-]+)\.json$/;

/** The documentation; each text is made when it is first asked for. */
export function openDocumentation(facts: DocumentFacts, compressor: Compressor): Documentation {
  const document = once(() => openApiDocument(facts));
  const policy = buildReferencePolicy([
    ...new Set([...facts.environmentOrigins.values(), ...facts.realmOrigins.values()]),
  ]);
  const files: Readonly<Record<string, () => TextFile | Promise<TextFile>>> = {
    '/openapi.json': once(() => makeTextFile(json, JSON.stringify(document()))),
    '/docs': once(() => makeTextFile('text/html; charset=utf-8', referencePage)),
    [startScriptPath]: once(() => makeTextFile('text/javascript; charset=utf-8', startScript(partsOf(document())))),
    ...Object.fromEntries(
      Object.entries(packageFiles).map(([path, { name, contentType }]) => [
        path,
        once(async () => makeTextFile(contentType, await readPackageFile(name))),
      ]),
    ),
  };
  const parts = new Map<string, TextFile>();
  const part = (tag: string): TextFile => {
    const file = parts.get(tag) ?? makeTextFile(json, JSON.stringify(extractTag(document(), tag)));
    parts.set(tag, file);
    return file;
  };
  const tagOf = (path: string): string | undefined => {
    const name = partPattern.exec(path)?.[1];
    return name && document().tags.find((tag) => partName(tag.name) === name)?.name;
  };
  return {
    has: (path) => Object.hasOwn(files, path) || tagOf(path) !== undefined,
    async send(path, request, reply) {
      const tag = tagOf(path);
      const file = tag === undefined ? await files[path]?.() : part(tag);
      if (file === undefined) throw new TypeError(`${path} is no path of the documentation`);
      if (path === '/docs') reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer');
      return sendTextFile(compressor, file, request, reply);
    },
  };
}

/** One part for each tag. */
function partsOf({ tags }: OpenApiDocument): readonly { readonly name: string; readonly url: string }[] {
  return tags.map(({ name }) => ({ name, url: `/docs/openapi/${partName(name)}.json` }));
}

/** `Every type` → `every-type`; names of types stay as they are. */
function partName(tag: string): string {
  return tag.includes(' ') ? tag.toLowerCase().replaceAll(' ', '-') : tag;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
