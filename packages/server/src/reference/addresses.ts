/**
 * Where the pages of the documentation are (docs/decisions/0337).
 */
import { slugTag } from '../openapi/openapi.ts';

/** Front page of the documentation. */
export const docsPath = '/docs';

/** All names and headings, for the search of the pages. */
export const searchIndexPath = '/docs/search.json';

export function buildGuidePath(name: string): string {
  return `/docs/guides/${name}`;
}

/** What the operations of a reference belong to: the data API with its tokens, or the administration. */
export type Area = 'reference' | 'administration';

/** The operations of a tag. */
export function buildTagPath(tag: string, area: Area = 'reference'): string {
  return `/docs/${area}/${slugTag(tag)}`;
}

export function buildOperationPath(tag: string, operationId: string, area: Area = 'reference'): string {
  return `${buildTagPath(tag, area)}/${operationId}`;
}

/** A resource type, a datatype or another named structure. */
export function buildSchemaPath(name: string): string {
  return `/docs/schemas/${name}`;
}

/** The OpenAPI document of a tag; that of the administration is one. */
export function buildTagDocumentPath(tag: string, area: Area): string {
  return area === 'administration' ? '/admin/openapi.json' : `/openapi/${slugTag(tag)}.json`;
}

/** The OpenAPI document of a guide. */
export function buildGuideDocumentPath(name: string): string {
  return `/openapi/guides/${name}.json`;
}

/** Everything, without schemas that lead to themselves. */
export const acyclicDocumentPath = '/openapi/without-cycles.json';
