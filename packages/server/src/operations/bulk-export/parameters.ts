/** What a bulk export asks for: https://hl7.org/fhir/uv/bulkdata/export.html#query-parameters. */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import type { AskedExport } from '../../bulk-export/bulk-export.ts';
import { parseFilters, planFilter } from '../../bulk-export/type-filter.ts';
import type { CompartmentOwner, InteractionContext } from '../../engine/context.ts';
import { type RightsContext, requireGrants } from '../../engine/rights/denials.ts';
import { listCompartmentTypes } from '../../engine/search/compartment.ts';
import { findUsableScope, refuseScope } from '../../engine/search/compartment-types.ts';
import { quoteName } from '../../search/query/search-values.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import { readTextInput, readTextInputs } from '../input.ts';
import { readInstant } from '../moments.ts';
import { declareInput, type OperationParameter, type OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';

/** Those of the guide that are not supported, with their types: refused, or ignored where the caller says so. */
const unsupported = {
  allowPartialManifests: 'boolean',
  includeAssociatedData: 'code',
  organizeOutputBy: 'code',
  _until: 'string',
} as const;

const unsupportedNames = Object.keys(unsupported);

export const exportParameters: readonly OperationParameter[] = [
  declareInput('_outputFormat', 'string', 'application/fhir+ndjson, application/ndjson or ndjson: files are NDJSON.'),
  declareInput(
    '_since',
    'string',
    'An instant. Only resources that were last updated then or later, and those that are gone since. Use transactionTime of the previous export.',
  ),
  declareInput(
    '_type',
    'string',
    'Types, separated by commas. The default is every type that the application may search.',
    {
      max: '*',
    },
  ),
  declareInput('_elements', 'string', 'Top-level elements, separated by commas, with the mandatory ones.', {
    max: '*',
  }),
  declareInput(
    '_typeFilter',
    'string',
    'A search of one type, for instance MedicationRequest?status=active: of that type only what one of its searches finds.',
    { max: '*' },
  ),
  ...Object.entries(unsupported).map(([name, type]) =>
    declareInput(name, type, 'Not supported: 400, or ignored with Prefer: handling=lenient.', { max: '*' }),
  ),
];

/** Of exports of patients. */
export const patientsParameter: OperationParameter = declareInput(
  'patient',
  'Reference',
  'A patient, by POST: only what is in the compartments of the patients that are named.',
  { max: '*' },
);

const formats: ReadonlySet<string> = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson']);

/**
 * The types that the caller may export; those of the service's own ledger have no versions. Of patients, those that it may search
 * by what puts them into a compartment: who they belong to must not be told otherwise.
 */
export function listExportTypes(context: RightsContext, level: AskedExport['level']): readonly string[] {
  return listTypes(level).filter((type) => context.policy.allows(type, 's') && isOpen(context, level, type));
}

/** The types of a level, whatever the caller may do. */
function listTypes(level: AskedExport['level']): readonly string[] {
  const types = level === 'system' ? resourceTypesWithEndpoint : listCompartmentTypes('Patient');
  return types.filter((type) => !ledgerTypes.has(type));
}

function isOpen(context: RightsContext, level: AskedExport['level'], type: string): boolean {
  return level === 'system' || findUsableScope(context, anyPatient, type) !== undefined;
}

const anyPatient: CompartmentOwner = { type: 'Patient', id: 'any' };

/**
 * All but the patients.
 * @throws PraxisError `operation-parameter-invalid`, `access-denied` (a type or a parameter that the caller may not search by),
 *   `search-invalid`
 */
export async function readExportParameters(
  context: InteractionContext,
  { input, prefer }: OperationRequest,
  level: AskedExport['level'],
): Promise<Omit<AskedExport, 'url' | 'patients'>> {
  // A + that was not percent-encoded arrives as a space.
  const format = readTextInput(input, '_outputFormat')?.replace(' ', '+') ?? 'ndjson';
  if (!formats.has(format)) refuseParameter('_outputFormat', `takes ${[...formats].join(', ')}`);
  const ignore = openNotes(prefer);
  for (const name of unsupportedNames.filter((each) => input.has(each))) ignore(name, 'is not supported');
  const since = readTextInput(input, '_since');
  const elements = readElements(readNames(readTextInputs(input, '_elements')));
  const types = readTypes(context, level, readNames(readTextInputs(input, '_type')));
  const filters = await readFilters(context, types, readTextInputs(input, '_typeFilter'), ignore);
  return {
    level,
    types,
    ...(hasBinaryDocuments(context, types, filters) ? { hasBinaryDocuments: true } : {}),
    ...(filters.size === 0 ? {} : { filters: Object.fromEntries(filters) }),
    ...(ignore.notes.length === 0 ? {} : { notes: ignore.notes }),
    ...(since === undefined ? {} : { sinceMs: readInstant(context, '_since', since) }),
    ...(elements.length === 0 ? {} : { elements }),
  };
}

/** They are DocumentReferences in the export, and no search for DocumentReferences finds them. */
function hasBinaryDocuments(
  { policy }: InteractionContext,
  types: readonly string[],
  filters: ReadonlyMap<string, readonly string[]>,
): boolean {
  // Whom a Binary belongs to must not be told to those who may not see it.
  const isWhole = policy.grants('Binary', 's').some(({ elements }) => elements === 'all');
  return isWhole && types.includes('DocumentReference') && !filters.has('DocumentReference');
}

/** Notes what is ignored, where the caller is lenient. @throws PraxisError `operation-parameter-invalid` where it is not */
function openNotes({ handling }: OperationRequest['prefer']) {
  const notes: string[] = [];
  const ignore = (name: string, problem: string): void => {
    if (handling !== 'lenient')
      refuseParameter(name, `${problem}: leave it out, or have it ignored by Prefer: handling=lenient`);
    notes.push(`${name} ${problem}, and was ignored`);
  };
  return Object.assign(ignore, { notes });
}

/** Queries by type. Each is planned once, so that what is wrong with it is told now. */
async function readFilters(
  context: InteractionContext,
  types: readonly string[],
  texts: readonly string[],
  ignore: (name: string, problem: string) => void,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const byType = new Map<string, string[]>();
  for (const { type, query } of parseFilters(texts)) {
    if (!types.includes(type)) {
      ignore('_typeFilter', `searches ${quoteName(type)}, which is none of the types that are exported`);
      continue;
    }
    await planFilter(context, type, query, context.clock.now());
    byType.set(type, [...(byType.get(type) ?? []), query]);
  }
  return byType;
}

function readTypes(
  context: InteractionContext,
  level: AskedExport['level'],
  names: readonly string[],
): readonly string[] {
  const known = new Set(listTypes(level));
  for (const name of names) {
    if (ledgerTypes.has(name))
      refuseParameter('_type', `takes no ${name}: what the service notes itself is not exported`);
    if (!known.has(name)) {
      const kinds = level === 'system' ? 'resource types of R4' : 'types of which resources belong to patients';
      refuseParameter('_type', `names ${quoteName(name)}: it takes names of ${kinds}, separated by commas`);
    }
    requireGrants(context, name, 's');
    if (!isOpen(context, level, name)) refuseScope(context, anyPatient, name);
  }
  return names.length === 0 ? listExportTypes(context, level) : names;
}

/** Names of elements that one export takes, at most. */
const elementsMax = 200;

/** Without their types, each once. */
function readElements(names: readonly string[]): readonly string[] {
  if (names.length > elementsMax)
    refuseParameter('_elements', `names ${names.length} elements; ${elementsMax} at most`);
  const bare = names.map((name) => name.replace(/^[A-Z][A-Za-z]*\./, ''));
  const strange = bare.find((name) => !/^[A-Za-z]{1,64}$/.test(name));
  if (strange !== undefined)
    refuseParameter(
      '_elements',
      `names ${quoteName(strange)}: it takes names of top-level elements, separated by commas`,
    );
  return [...new Set(bare)];
}

/** Sorted, each once. */
function readNames(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))].toSorted();
}
