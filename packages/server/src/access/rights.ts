/**
 * What one access entry stands for, and when it covers another one.
 */
import { type Criterion, type Permission, permissions } from './entries/definition.ts';
import { type Entry, parseEntry } from './grammar.ts';
import { listOperatorRowProblems, type OperatorRow, type OperatorRows } from './operator-rows.ts';
import { bundleEntries } from './registry.ts';
import { everyType, type SmartScope } from './smart-scopes.ts';

/**
 * Elements that can be read (`r`, `s`) or written (`c`, `u`): all, or top-level ones as paths without `[x]`
 * (`Patient.name`).
 */
export type Elements = 'all' | ReadonlySet<string>;

/** One letter on one type. */
export interface Right {
  /** A resource type, or `*` for every one. */
  readonly type: string;
  readonly letter: Permission;
  readonly elements: Elements;
  readonly criteria: readonly Criterion[];
}

export interface Meaning {
  readonly text: string;
  /** `acl/*`. */
  readonly all: boolean;
  readonly rights: readonly Right[];
  /** Codes of the kinds of Bundle that may be posted. */
  readonly bundles: ReadonlySet<string>;
  readonly uploadUrl: boolean;
}

const nothing: Omit<Meaning, 'text'> = { all: false, rights: [], bundles: new Set(), uploadUrl: false };

const allBundles: ReadonlySet<string> = new Set(bundleEntries.map((row) => row.code));

/** What an entry stands for. Entries without a meaning, and filters, have no rights. */
export function interpretEntry(entry: Entry, operatorRows: OperatorRows): Meaning {
  const { text } = entry;
  switch (entry.kind) {
    case 'all':
      return { text, all: true, rights: [], bundles: allBundles, uploadUrl: true };
    case 'filter':
      return { text, ...nothing };
    case 'bundle':
      return { text, ...nothing, bundles: entry.row.payload === undefined ? allBundles : new Set([entry.row.code]) };
    case 'opaque':
      return { text, ...nothing, rights: describedRights(undefined, operatorRows, entry.row.code) };
    case 'crud':
      return { text, ...nothing, rights: crudRights(entry, operatorRows) };
    case 'restricted':
      return { text, ...nothing, ...restrictedMeaning(entry, operatorRows) };
    case 'smart':
      return { text, ...nothing, rights: smartRights(entry) };
  }
}

/** What the entry of a text stands for; undefined for a text that is no entry. */
export function interpretText(text: string, operatorRows: OperatorRows): Meaning | undefined {
  const entry = parseEntry(text);
  return entry.kind === 'refused' ? undefined : interpretEntry(entry, operatorRows);
}

function crudRights(entry: Entry & { kind: 'crud' }, operatorRows: OperatorRows): readonly Right[] {
  const { row } = entry;
  const letter = asPermission(entry.letter);
  if (row.type === undefined || letter === undefined) return describedRights(row.type, operatorRows, row.code, letter);
  if (row.needsOperatorRow && !operatorRows.has(row.code)) return [];
  return narrowed({ type: row.type, letter, elements: 'all', criteria: row.rows ?? [] }, operatorRows, row.code);
}

function restrictedMeaning(entry: Entry & { kind: 'restricted' }, operatorRows: OperatorRows): Partial<Meaning> {
  const { row } = entry;
  if (row.ability === 'upload-url') return { uploadUrl: true };
  const letter = asPermission(entry.letter);
  if (row.type === undefined || letter === undefined) return {};
  const elements = new Set(
    entry.fields.flatMap((field) => row.fields?.[field] ?? []).map((element) => `${row.type}.${element}`),
  );
  return { rights: narrowed({ type: row.type, letter, elements, criteria: row.rows ?? [] }, operatorRows, row.code) };
}

function smartRights({ type, letters, criteria }: SmartScope): readonly Right[] {
  return letters.map((letter) => ({ type, letter, elements: 'all', criteria }));
}

/** The rights of an entry whose type or letters only the operator knows. */
function describedRights(
  type: string | undefined,
  operatorRows: OperatorRows,
  code: string,
  letter?: Permission,
): readonly Right[] {
  const row = operatorRows.get(code);
  const reached = type ?? row?.type;
  if (!row || reached === undefined) return [];
  const letters = letter === undefined ? permissions.filter((each) => row.letters?.includes(each)) : [letter];
  return letters.flatMap((own) =>
    narrowed({ type: reached, letter: own, elements: 'all', criteria: [] }, operatorRows, code),
  );
}

/** The right within the limits of the operator's row for its code: none when the row is wrong. */
function narrowed(right: Right, operatorRows: OperatorRows, code: string): readonly Right[] {
  const row = operatorRows.get(code);
  if (!row) return [right];
  if (listOperatorRowProblems(code, row).length > 0) return [];
  const elements = narrowedElements(right, row);
  return [{ ...right, elements, criteria: [...right.criteria, ...(row.criteria ?? [])] }];
}

function narrowedElements(right: Right, row: OperatorRow): Elements {
  if (!row.elements) return right.elements;
  const named = new Set(row.elements.map((element) => `${right.type}.${element}`));
  return right.elements === 'all' ? named : right.elements.intersection(named);
}

function asPermission(letter: string): Permission | undefined {
  return permissions.find((each) => each === letter);
}

/**
 * Whether `wide` grants all that `narrow` grants. An entry that grants nothing is covered by itself and `acl/*` only, so
 * that it stays in a set only where both sides wrote it down.
 */
export function covers(wide: Meaning, narrow: Meaning): boolean {
  if (wide.text === narrow.text || wide.all) return true;
  if (narrow.all || (narrow.rights.length === 0 && narrow.bundles.size === 0 && !narrow.uploadUrl)) return false;
  return (
    narrow.rights.every((right) => wide.rights.some((other) => rightCovers(other, right))) &&
    narrow.bundles.isSubsetOf(wide.bundles) &&
    (wide.uploadUrl || !narrow.uploadUrl)
  );
}

function rightCovers(wide: Right, narrow: Right): boolean {
  return (
    reachesType(wide, narrow.type) &&
    wide.letter === narrow.letter &&
    elementsInclude(wide.elements, narrow.elements) &&
    criteriaInclude(narrow.criteria, wide.criteria)
  );
}

/** Whether a right is about the type, or about all of them. */
export function reachesType(right: Right, type: string): boolean {
  return right.type === type || right.type === everyType;
}

/** Whether `wide` holds every element of `narrow`. */
export function elementsInclude(wide: Elements, narrow: Elements): boolean {
  return wide === 'all' || (narrow !== 'all' && narrow.isSubsetOf(wide));
}

/** Whether all criteria of `few` are among `many`, so that rows that meet `many` meet `few`. */
export function criteriaInclude(many: readonly Criterion[], few: readonly Criterion[]): boolean {
  const keys = new Set(many.map(buildCriterionKey));
  return few.every((criterion) => keys.has(buildCriterionKey(criterion)));
}

/** Equal for criteria that mean the same. */
export function buildCriterionKey(criterion: Criterion): string {
  return JSON.stringify([criterion.parameter, [...new Set(criterion.values)].toSorted()]);
}
