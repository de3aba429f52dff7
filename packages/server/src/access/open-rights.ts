/**
 * From effective entries to grants by type and letter, and to the fingerprint of them all.
 */
import { hash } from 'node:crypto';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { type Criterion, type Permission, permissions } from './entries/definition.ts';
import { type Grant, mergeGrants } from './grants.ts';
import { allEntry } from './registry.ts';
import { buildCriterionKey, type Meaning, reachesType } from './rights.ts';
import { everyType } from './smart-scopes.ts';

export const endpointTypes: ReadonlySet<string> = new Set(resourceTypesWithEndpoint);

/** What is effective, before it is put in order by type and letter. */
export interface OpenRights {
  readonly all: boolean;
  readonly met: readonly Meaning[];
  readonly closed: ReadonlySet<string>;
  readonly filterCriteria: ReadonlyMap<string, readonly Criterion[]>;
}

/** The merged grants of a letter on a type, filters included; empty for types without an endpoint. */
export function listGrants(open: OpenRights, type: string, letter: Permission): readonly Grant[] {
  if (!endpointTypes.has(type) || open.closed.has(type)) return [];
  const filters = open.filterCriteria.get(type) ?? [];
  const granting: readonly Pick<Meaning, 'text' | 'rights'>[] = open.all
    ? [{ text: allEntry, rights: [{ type, letter, elements: 'all', criteria: [] }] }]
    : open.met;
  return mergeGrants(
    granting.flatMap(({ text, rights }) =>
      rights
        .filter((right) => reachesType(right, type) && right.letter === letter)
        .map(({ elements, criteria }) => ({ elements, criteria: [...criteria, ...filters], entries: [text] })),
    ),
  );
}

/** The row criteria of filters, by the type they narrow. */
export function groupCriteria(
  filters: readonly { type: string; rows: readonly Criterion[] }[],
): ReadonlyMap<string, readonly Criterion[]> {
  const byType = new Map<string, readonly Criterion[]>();
  for (const { type, rows } of filters) byType.set(type, [...(byType.get(type) ?? []), ...rows]);
  return byType;
}

/** The same for equal rights, whatever entries they come from, on every node: 22 characters of a SHA-256. */
export function computeRightsFingerprint(
  open: OpenRights,
  bundles: ReadonlySet<string>,
  uploadUrl: boolean,
  grants: (type: string, letter: Permission) => readonly Grant[],
): string {
  const named = open.met.flatMap((meaning) => meaning.rights.map((right) => right.type));
  const types = new Set([
    ...(named.includes(everyType) ? endpointTypes : named),
    ...(open.all ? open.filterCriteria.keys() : []),
  ]);
  const rights = [...types]
    .toSorted()
    .flatMap((type) =>
      permissions.map((letter) => [
        type,
        letter,
        grants(type, letter).map(({ elements, criteria }) => [
          elements === 'all' ? elements : [...elements].toSorted(),
          criteria.map(buildCriterionKey).toSorted(),
        ]),
      ]),
    );
  const canonical = JSON.stringify({
    all: open.all,
    closed: [...open.closed].toSorted(),
    rights,
    bundles: [...bundles].toSorted(),
    uploadUrl,
  });
  return hash('sha256', canonical, 'base64url').slice(0, 22);
}
