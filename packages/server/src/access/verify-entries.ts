/**
 * Proves at start that the registry speaks of types, elements and search parameters that R4 and this server know: a
 * slip in a row would otherwise grant nothing, or worse, hide nothing.
 */
import { findTypeDefinition, getSearchParameters, resourceTypesWithEndpoint } from '@praxis/fhir';
import type { Criterion, EntryDefinition, FilterEntry, ResourceEntry } from './entries/definition.ts';
import { entryAreas } from './registry.ts';

/** The registry contradicts itself or the FHIR definitions; the message lists every problem. */
export class EntryDefinitionError extends Error {
  override readonly name = 'EntryDefinitionError';
}

/**
 * Checks entry definitions; those of the registry unless others are given.
 * @throws EntryDefinitionError
 */
export function verifyEntries(
  definitions: readonly EntryDefinition[] = entryAreas.flatMap((area) => area.entries),
): void {
  const codes = definitions.map((row) => row.code);
  const repeated = codes.filter((code, at) => codes.indexOf(code) !== at).map((code) => `${code}: defined twice`);
  const problems = [
    ...repeated,
    ...definitions.flatMap((row) => definitionProblems(row).map((problem) => `${row.code}: ${problem}`)),
  ];
  if (problems.length > 0) throw new EntryDefinitionError(problems.join('\n'));
}

function definitionProblems(row: EntryDefinition): readonly string[] {
  const shape = /^[a-z]+(_[a-z]+)*$/.test(row.code) ? [] : ['a code is words of small letters joined by _'];
  switch (row.kind) {
    case 'resource':
      return [...shape, ...resourceProblems(row)];
    case 'filter':
      return [...shape, ...prefixProblems(row.code, 'lab_type_'), ...filterProblems(row)];
    case 'bundle':
      return [
        ...shape,
        ...prefixProblems(row.code, 'trans_bndl_'),
        ...(row.payload === undefined ? [] : typeProblems(row.payload)),
      ];
    case 'opaque':
      return shape;
  }
}

function prefixProblems(code: string, prefix: string): string[] {
  return code.startsWith(prefix) ? [] : [`the code must begin with ${prefix}`];
}

function resourceProblems(row: ResourceEntry): string[] {
  const problems: string[] = [];
  if (!/^r?s?c?u?m?$/.test(row.letters)) problems.push('letters are some of rscum, in this order');
  if (![...row.sample].every((letter) => row.letters.includes(letter)))
    problems.push('sample has a letter that letters lacks');
  if (row.subtype !== undefined && !row.code.endsWith(`_${row.subtype}`))
    problems.push(`the code must end with _${row.subtype}`);
  if ((row.type === undefined || row.letters.includes('m')) && !row.needsOperatorRow)
    problems.push('without type or with m only an operator can give it a meaning');
  if (row.letters === '' && !row.ability) problems.push('letters are missing');
  problems.push(...fieldProblems(row));
  if (row.type !== undefined) problems.push(...typeProblems(row.type), ...rowProblems(row.type, row.rows));
  return problems;
}

function fieldProblems(row: ResourceEntry): string[] {
  const fields = Object.entries(row.fields ?? {});
  if (!/^r?s?$/.test(row.fieldLetters ?? '') && !row.ability) return ['fields may follow r and s'];
  if (fields.length > 0 !== (row.fieldLetters !== undefined)) return ['fields and fieldLetters go together'];
  const problems: string[] = [];
  for (const [field, elements] of fields) {
    if (!/^[a-z]+$/.test(field)) problems.push(`field ${field} must be a word of small letters`);
    if (elements.length === 0 && !row.ability) problems.push(`field ${field} opens no element`);
    if (row.type !== undefined) problems.push(...listElementProblems(row.type, elements));
  }
  for (const published of row.published ?? []) {
    const [letter = '', ...words] = published.split('_');
    if (!row.fieldLetters?.includes(letter) || words.some((word) => !Object.hasOwn(row.fields ?? {}, word))) {
      problems.push(`published ${published} does not follow from fields and fieldLetters`);
    }
  }
  return problems;
}

function filterProblems(row: FilterEntry): string[] {
  return [
    ...typeProblems(row.type),
    ...(row.rows.length === 0 ? ['a filter needs a row criterion'] : rowProblems(row.type, row.rows)),
  ];
}

function typeProblems(type: string): string[] {
  return resourceTypesWithEndpoint.includes(type) ? [] : [`${type} is not a resource type with an endpoint`];
}

function rowProblems(type: string, rows: readonly Criterion[] = []): string[] {
  return rows.flatMap((criterion) => listCriterionProblems(type, criterion));
}

/** What is wrong with a row criterion on a type. */
export function listCriterionProblems(type: string, criterion: Criterion): readonly string[] {
  const parameter = getSearchParameters(type).get(criterion.parameter);
  if (!parameter) return [`${type} has no search parameter ${criterion.parameter}`];
  if (parameter.type !== 'token')
    return [`${criterion.parameter} is a ${parameter.type} parameter; row criteria are tokens`];
  if (notOfRows.has(criterion.parameter)) return [`${criterion.parameter} does not limit rows: use another parameter`];
  if (criterion.values.length === 0 || criterion.values.some((value) => !isTokenValue(value))) {
    return [`${criterion.parameter} needs values such as code or system|code`];
  }
  return [];
}

/** Tokens that no index row holds: one names rows instead of saying what is in them, the other names a query. */
const notOfRows: ReadonlySet<string> = new Set(['_id', '_query']);

/** `code`, `system|code` or `|code`, with nothing that the search syntax would split or unescape. */
function isTokenValue(value: string): boolean {
  return /^([^|,\\$\s]*\|)?[^|,\\$\s]+$/.test(value);
}

/** Elements that no entry opens by name: they may say again what other elements hold. */
const neverByName: ReadonlySet<string> = new Set(['text', 'contained', 'extension', 'modifierExtension']);

/** What is wrong with a list of top-level element names (`birthDate`, `value` for `value[x]`) of a type. */
export function listElementProblems(type: string, elements: readonly string[]): readonly string[] {
  const definition = findTypeDefinition(type);
  if (!definition) return [];
  return elements.flatMap((element) => {
    if (!definition.elements.has(element)) return [`${type} has no element ${element}`];
    return neverByName.has(element)
      ? [`${element} cannot be opened by name: it may repeat what other elements hold`]
      : [];
  });
}
