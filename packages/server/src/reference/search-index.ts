/**
 * What the search of the pages looks through: guides by section, groups, operations.
 */
import { type Area, buildGuidePath, buildOperationPath, buildTagPath } from './addresses.ts';
import type { RenderedGuide } from './guides.ts';
import type { DescribedOperation } from './operation/described-operation.ts';

/** Characters of a section that are looked through. */
const textMax = 1_000;

/** Title, what it belongs to, URL, and for sections of guides their text. */
export type SearchEntry = readonly [title: string, hint: string, url: string, text?: string];

export function listGuideEntries({ name, title, sections }: RenderedGuide): readonly SearchEntry[] {
  return sections.map(({ id, title: heading, text }) => {
    const url = buildGuidePath(name) + (id === '' ? '' : `#${id}`);
    return [id === '' ? title : heading, id === '' ? 'Guide' : `Guide: ${title}`, url, text.slice(0, textMax)];
  });
}

export function listTagEntries(
  tag: string,
  area: Area,
  operations: readonly DescribedOperation[],
): readonly SearchEntry[] {
  const own = operations.map(({ method, path, operation }): SearchEntry => {
    return [operation.summary, `${method} ${path}`, buildOperationPath(tag, operation.operationId, area)];
  });
  return [[tag, area === 'administration' ? 'Administration' : 'Reference', buildTagPath(tag, area)], ...own];
}
