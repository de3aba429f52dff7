/**
 * What an operator says about the entries of one code: which rows and elements they reach. It gives a meaning to codes
 * that have none (`needsOperatorRow`, opaque words) and narrows the others; it never widens a code that has a meaning.
 */
import { resourceTypesWithEndpoint, suggestName } from '@praxis/fhir';
import type { Criterion, OpaqueEntry, ResourceEntry } from './entries/definition.ts';
import { opaqueEntries, resourceEntries } from './registry.ts';
import { listCriterionProblems, listElementProblems } from './verify-entries.ts';

/** At least `criteria` or `elements` is needed: a code gets no meaning without a limit. */
export interface OperatorRow {
  /** Resource type; needed where the registry has none, otherwise the same. */
  readonly type?: string;
  /** Interactions of an entry whose own letter means nothing (`pat_ef_m`, `m_t`): some of `rs`. */
  readonly letters?: string;
  /** Rows reached; all criteria must hold. */
  readonly criteria?: readonly Criterion[];
  /** Top-level elements reached, by name (`birthDate`, `value`): read under `r` and `s`, written under `c` and `u`. */
  readonly elements?: readonly string[];
}

/** Code (`obsv_ef`, `m_t`) → what the operator says about it. */
export type OperatorRows = ReadonlyMap<string, OperatorRow>;

export const noOperatorRows: OperatorRows = new Map();

/**
 * What is wrong with an operator row, for whoever writes it; empty when it can be used. Entries of a code whose row is
 * wrong grant nothing.
 */
export function listOperatorRowProblems(code: string, row: OperatorRow): readonly string[] {
  const definition = [...resourceEntries, ...opaqueEntries].find((entry) => entry.code === code);
  if (!definition) return [`${code}: no access code that an operator can describe`];
  const type = row.type ?? typeOf(definition);
  if (type === undefined) return [`${code}: type is needed, the published entries do not name it`];
  if (!resourceTypesWithEndpoint.includes(type)) {
    const hint = suggestName(type, resourceTypesWithEndpoint);
    return [`${code}: ${type} is not a resource type with an endpoint${hint}`];
  }
  return [
    ...shapeProblems(definition, row),
    ...(row.criteria ?? []).flatMap((criterion) => listCriterionProblems(type, criterion)),
    ...listElementProblems(type, row.elements ?? []),
  ].map((problem) => `${code}: ${problem}`);
}

/**
 * The rows that an authorisation stores. One that is not of the form of a row is read as one without limits, which is wrong,
 * so that the entries of its code grant nothing.
 */
export function readOperatorRows(value: unknown): OperatorRows {
  if (!isObject(value) || Object.keys(value).length === 0) return noOperatorRows;
  return new Map(Object.entries(value).map(([code, row]) => [code, isRow(row) ? row : {}]));
}

function isRow(value: unknown): value is OperatorRow {
  if (!isObject(value)) return false;
  const { type, letters, criteria, elements } = value;
  return (
    [type, letters].every((text) => text === undefined || typeof text === 'string') &&
    (elements === undefined || isTexts(elements)) &&
    (criteria === undefined || (Array.isArray(criteria) && criteria.every(isCriterion)))
  );
}

function isCriterion(value: unknown): boolean {
  return isObject(value) && typeof value.parameter === 'string' && isTexts(value.values);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shapeProblems(definition: ResourceEntry | OpaqueEntry, row: OperatorRow): string[] {
  const problems: string[] = [];
  const ownType = typeOf(definition);
  if (ownType !== undefined && row.type !== undefined && row.type !== ownType)
    problems.push(`type is ${ownType} and cannot be changed`);
  if (!row.criteria?.length && !row.elements?.length) problems.push('criteria or elements are needed');
  if (definition.kind === 'opaque' || definition.letters === 'm') {
    if (!row.letters) problems.push('letters are needed, some of rs');
    else if (!/^(r|s|rs)$/.test(row.letters)) problems.push('letters are r, s or rs');
  } else if (row.letters !== undefined) {
    problems.push('letters stand in the entry and cannot be changed');
  }
  if (definition.kind === 'resource' && definition.ability)
    problems.push('the entry opens an operation, which has no rows');
  return problems;
}

function typeOf(definition: ResourceEntry | OpaqueEntry): string | undefined {
  return definition.kind === 'resource' ? definition.type : undefined;
}
