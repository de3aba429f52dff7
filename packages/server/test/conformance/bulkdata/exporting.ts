/** Asking for exports in the cases of Bulk Data Access. */
import assert from 'node:assert/strict';
import type { World } from '../world.ts';

export const respondAsync = { prefer: 'respond-async' };

/** The manifest of an export, when it is complete. */
export async function exportOf({ get }: World, path: string) {
  const begun = await get(path, respondAsync);
  assert.equal(begun.status, 202, begun.text);
  const status = begun.headers.get('content-location') ?? '';
  let answer = await get(status);
  while (answer.status === 202) answer = await get(status);
  assert.equal(answer.status, 200, answer.text);
  return { status, answer, manifest: answer.json };
}

export async function linesOf({ get }: World, url: string) {
  const { text } = await get(url);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** All resources of the files. */
export async function resourcesOf(world: World, path: string) {
  const { manifest } = await exportOf(world, path);
  const resources: ReturnType<JSON['parse']>[] = [];
  for (const { url } of manifest.output) resources.push(...(await linesOf(world, url)));
  return resources;
}

export const noOrganized = {
  notApplicable: 'organizeOutputBy is not supported: 400, or ignored with handling=lenient',
};
export const noPartial = {
  notApplicable: 'allowPartialManifests is not supported: 400, or ignored with handling=lenient',
};
export const noSeparate = { notApplicable: 'separate-export-status is not supported' };
