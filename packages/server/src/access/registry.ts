/**
 * All access entries. To add one, write an object in a file of `entries/`; to add a subject, write a file and its line
 * here. `docs/integrate/access-entries.md` is generated from this list.
 */
import { bundles } from './entries/bundles.ts';
import { calendar } from './entries/calendar.ts';
import { clinical } from './entries/clinical.ts';
import type {
  EntryArea,
  EntryDefinition,
  FilterEntry,
  OpaqueEntry,
  ResourceEntry,
  TransactionEntry,
} from './entries/definition.ts';
import { documents } from './entries/documents.ts';
import { finance } from './entries/finance.ts';
import { opaque } from './entries/opaque.ts';
import { orders } from './entries/orders.ts';
import { patient } from './entries/patient.ts';
import { practice } from './entries/practice.ts';

export const entryAreas: readonly EntryArea[] = [
  patient,
  calendar,
  clinical,
  orders,
  documents,
  finance,
  practice,
  bundles,
  opaque,
];

/** The operator-only entry: everything, delete, update-as-create and type and system history included. */
export const allEntry = 'acl/*';

const definitions: readonly EntryDefinition[] = entryAreas.flatMap((area) => area.entries);

/** Longest code first, so that `fmly_his_ef_c` is not read as `fmly_his` with a strange letter. */
export const resourceEntries: readonly ResourceEntry[] = definitions
  .filter((row) => row.kind === 'resource')
  .toSorted((a, b) => b.code.length - a.code.length);

export const filterEntries: readonly FilterEntry[] = definitions.filter((row) => row.kind === 'filter');
export const bundleEntries: readonly TransactionEntry[] = definitions.filter((row) => row.kind === 'bundle');
export const opaqueEntries: readonly OpaqueEntry[] = definitions.filter((row) => row.kind === 'opaque');

/** The entries of a row, as they stand in a scope: `acl/pat_r`. `acl/*` is not among them. */
export function listEntries(row: EntryDefinition): readonly string[] {
  if (row.kind !== 'resource') return [`acl/${row.code}`];
  return [...row.letters, ...(row.published ?? [])].map((rest) => `acl/${row.code}_${rest}`);
}

/** Those of the published entries of a row that the published sample token holds. */
export function listSampleEntries(row: EntryDefinition): readonly string[] {
  if (row.kind !== 'resource') return row.sample ? [`acl/${row.code}`] : [];
  return [...row.sample, ...(row.published ?? [])].map((rest) => `acl/${row.code}_${rest}`);
}

/** Every access entry, in the order of the registry: the published ones, and those of this service beside them. */
export const knownEntries: readonly string[] = definitions.flatMap(listEntries);

/** Those of this service. */
export const ownEntries: readonly string[] = definitions
  .filter((row) => row.kind === 'resource' && row.isOwn === true)
  .flatMap(listEntries);

/** The entries of the published sample token, in the order of the registry. */
export const sampleTokenEntries: readonly string[] = definitions.flatMap(listSampleEntries);
