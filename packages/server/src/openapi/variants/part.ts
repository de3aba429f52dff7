/**
 * Parts of the OpenAPI document: some of its paths and webhooks, with the components that they need. The whole is too much
 * to browse, and for many generators.
 */
import type { OpenApiDocument } from '../document.ts';
import { type DescribedMethod, describedMethods, type PathItem } from '../openapi.ts';

/** The document with those components and tags alone that its paths and webhooks need. */
export function trimDocument(document: OpenApiDocument): OpenApiDocument {
  const { paths, webhooks } = document;
  const items = [...Object.values(paths), ...Object.values(webhooks)];
  const used = new Set(items.flatMap((item) => describedMethods.flatMap((method) => item[method]?.tags ?? [])));
  return {
    ...document,
    tags: document.tags.filter(({ name }) => used.has(name)),
    components: pickComponents(document, { paths, webhooks }),
  };
}

/** The paths, or the webhooks, with those operations alone; undefined operations leave none of their path. */
export function pickOperations<Items extends Readonly<Record<string, PathItem>>>(
  items: Items,
  operationIds: ReadonlySet<string>,
): Items {
  const picked = Object.entries(items).flatMap(([path, item]) => {
    const isLeftOut = (method: DescribedMethod): boolean => !operationIds.has(item[method]?.operationId ?? '');
    if (describedMethods.every(isLeftOut)) return [];
    const members = Object.entries(item).filter(
      ([name]) => !describedMethods.some((each) => each === name && isLeftOut(each)),
    );
    return [[path, Object.fromEntries(members)] as const];
  });
  return Object.fromEntries(picked) as unknown as Items;
}

/** The security schemes, and what the parts refer to, directly or not. */
function pickComponents({ components }: OpenApiDocument, parts: object): OpenApiDocument['components'] {
  const needed = new Map<string, Record<string, unknown>>();
  const waiting = listReferences(parts);
  for (let reference = waiting.pop(); reference !== undefined; reference = waiting.pop()) {
    const [kind = '', name = ''] = reference.split('/');
    const those = needed.get(kind) ?? {};
    needed.set(kind, those);
    if (Object.hasOwn(those, name)) continue;
    const component = components[kind]?.[name];
    those[name] = component;
    waiting.push(...listReferences(component));
  }
  return { securitySchemes: components['securitySchemes'] ?? {}, ...Object.fromEntries(needed) };
}

/** What a part refers to: `schemas/Patient`, … */
export function listReferences(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, path = '']) => path);
}
