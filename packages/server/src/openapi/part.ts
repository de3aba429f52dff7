/**
 * A part of the OpenAPI document: what has one tag, with the components that it needs. The whole is too much to browse.
 */
import type { OpenApiDocument } from './document.ts';
import { describedMethods, type PathItem } from './openapi.ts';

/** The operations of a tag as a document of their own. */
export function extractTag(document: OpenApiDocument, tag: string): OpenApiDocument {
  const paths = Object.fromEntries(Object.entries(document.paths).filter(([, item]) => hasTag(item, tag)));
  const webhooks = Object.fromEntries(Object.entries(document.webhooks).filter(([, item]) => hasTag(item, tag)));
  return {
    ...document,
    tags: document.tags.filter(({ name }) => name === tag),
    paths,
    webhooks,
    components: componentsOf(document, { paths, webhooks }),
  };
}

function hasTag(item: PathItem, tag: string): boolean {
  return describedMethods.some((method) => item[method]?.tags.includes(tag) === true);
}

/** The security schemes, and what the parts refer to, directly or not. */
function componentsOf({ components }: OpenApiDocument, parts: object): OpenApiDocument['components'] {
  const needed = new Map<string, Record<string, unknown>>();
  const waiting = referencesIn(parts);
  for (let reference = waiting.pop(); reference !== undefined; reference = waiting.pop()) {
    const [kind = '', name = ''] = reference.split('/');
    const those = needed.get(kind) ?? {};
    needed.set(kind, those);
    if (Object.hasOwn(those, name)) continue;
    const component = components[kind]?.[name];
    those[name] = component;
    waiting.push(...referencesIn(component));
  }
  return { securitySchemes: components.securitySchemes ?? {}, ...Object.fromEntries(needed) };
}

/** `schemas/Patient`, … */
function referencesIn(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, path = '']) => path);
}
