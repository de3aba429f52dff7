/**
 * The documentation of the API, open to all: `/openapi.json`, its parts, and the page to browse them at `/docs`.
 */
import type { FastifyReply } from 'fastify';
import type { DocumentFacts } from '../../openapi/document.ts';
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
  has(path: string): Promise<boolean>;
  /** Answers such a path. */
  send(path: string, reply: FastifyReply): Promise<FastifyReply>;
}

type TextMaker = () => TextFile | Promise<TextFile>;

const json = 'application/json; charset=utf-8';
const partsPath = '/docs/openapi/';

/** The documentation; each text is made, with what makes it, when it is first asked for. */
export function openDocumentation(facts: DocumentFacts, compressor: Compressor): Documentation {
  const document = once(async () => (await import('../../openapi/document.ts')).openApiDocument(facts));
  const origins = new Set([...facts.environmentOrigins.values(), ...facts.realmOrigins.values()]);
  const policy = buildReferencePolicy([...origins]);
  const ofPackage = Object.entries(packageFiles).map(([path, { name, contentType }]) => {
    const file = once(async () => makeTextFile(contentType, await readPackageFile(name)));
    return [path, file] as const;
  });
  const files: Readonly<Record<string, TextMaker>> = {
    '/openapi.json': once(async () => makeTextFile(json, JSON.stringify(await document()))),
    '/docs': once(() => makeTextFile('text/html; charset=utf-8', referencePage)),
    [startScriptPath]: once(async () => {
      const choices = (await document()).tags.map(({ name }) => ({ name, url: partPath(name) }));
      return makeTextFile('text/javascript; charset=utf-8', startScript(choices));
    }),
    ...Object.fromEntries(ofPackage),
  };
  const parts = once(async () => {
    const { extractTag } = await import('../../openapi/part.ts');
    const whole = await document();
    const ofTag = (tag: string) => once(() => makeTextFile(json, JSON.stringify(extractTag(whole, tag))));
    return new Map(whole.tags.map(({ name }) => [partPath(name), ofTag(name)]));
  });
  const find = async (path: string): Promise<TextMaker | undefined> => {
    if (path.startsWith(partsPath)) return (await parts()).get(path);
    return Object.hasOwn(files, path) ? files[path] : undefined;
  };
  return {
    has: async (path) => (await find(path)) !== undefined,
    async send(path, reply) {
      const make = await find(path);
      const file = await make?.();
      if (file === undefined) throw new TypeError(`${path} is no path of the documentation`);
      if (path === '/docs') reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer');
      return sendTextFile(compressor, file, reply);
    },
  };
}

/** The path of what has a tag. `Every type` → `every-type`; names of types stay as they are. */
function partPath(tag: string): string {
  return `${partsPath}${tag.includes(' ') ? tag.toLowerCase().replaceAll(' ', '-') : tag}.json`;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
