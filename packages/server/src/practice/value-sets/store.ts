/** The value sets that a firm keeps (docs/decisions/0204), as they are stored: each is the ValueSet of its id. */
import type { ValueSet } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import type { Rememberable } from '../../storage/statement-runner.ts';
import type { ResourceStore } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { type FirmSetCodes, readSetCodes } from './codes.ts';

/** Id of a set → its codes, of those of `ids` by which the firm has codes judged. */
export async function readKeptCodes(
  store: Pick<ResourceStore, 'read'>,
  scope: TenantScope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FirmSetCodes>> {
  const found = await Promise.all(
    ids.map(async (id) => {
      const valueSet = (await readStoredValueSet(store, scope, id, { remembered: true }))?.resource;
      const codes = valueSet && readSetCodes(valueSet);
      return codes?.active ? [[id, codes] as const] : [];
    }),
  );
  return new Map(found.flat());
}

/** The current version, without `resource` where it was deleted; undefined: there never was one. */
export async function readStoredValueSet(
  store: Pick<ResourceStore, 'read'>,
  scope: TenantScope,
  id: string,
  options?: Rememberable,
): Promise<{ readonly version: number; readonly resource: ValueSet | undefined } | undefined> {
  const row = await store.read(scope, 'ValueSet', id, options);
  return row && { version: row.versionId, resource: row.deleted ? undefined : parseStored(row.content) };
}
