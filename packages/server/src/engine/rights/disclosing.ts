/**
 * From a stored row to what this caller may see of it: row criteria, field mask, and the filters the caller asked for
 * (`_elements`, `_summary`: https://hl7.org/fhir/R4/search.html#elements, #summary).
 */
import type { BudgetedWork } from '@praxis/fhir';
import {
  copyUnparsed,
  type Disclosed,
  getStoredText,
  parseStored,
  type Stored,
  unwrapDisclosed,
} from '../../access/disclosure.ts';
import { disclose, type ElementFilter } from '../../access/mask.ts';
import type { Criterion, Grant, Permission } from '../../access/policy.ts';
import { type IndexRows, indexElements } from '../../search/index/index-rows.ts';
import { matchesToken } from '../../search/index/match.ts';
import { refuseValue } from '../../search/query/search-values.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { BundleEntry } from '../bundle-text.ts';
import type { FhirRequest, InteractionContext } from '../context.ts';
import { toSent } from '../hooks.ts';
import { withReferencesFor } from '../read/references.ts';

/** The JSON text this caller may see of the row, or undefined when none of its grants covers the row. */
export function discloseRow(
  context: InteractionContext,
  letter: Permission,
  row: StoredResource,
  filter: ElementFilter,
): Disclosed<string> | undefined {
  const grants = context.policy.grants(row.type, letter);
  const test = grants.some(hasCriteria)
    ? compileCriterionTest(context, row.type, copyUnparsed(row.content))
    : neverAsked;
  const disclosed = disclose(context.policy, letter, row.type, row.content, test, filter);
  if (disclosed === undefined) return undefined;
  noteShown(context, grants, row, filter, test);
  return toSent(context, letter, row, withReferencesFor(context, disclosed));
}

function hasCriteria({ criteria }: Grant): boolean {
  return criteria.length > 0;
}

/** For grants without criteria, which most are. */
function neverAsked(): never {
  throw new TypeError('a grant without criteria asks for none');
}

/** A row, and what the caller may see of it. */
export interface ShownRow<Row extends StoredResource = StoredResource> {
  readonly row: Row;
  readonly resource: Disclosed<string>;
}

const showingRows: BudgetedWork = {
  what: 'The page of resources',
  cheaper: 'ask for smaller pages (_count), or for some elements alone (_elements)',
};

/** Lets others go on, where many rows are looked at one after another. @throws PraxisError `too-costly` */
export function pauseBetweenRows({ budget }: Pick<InteractionContext, 'budget'>): Promise<void> {
  return budget.breathe(showingRows);
}

/** Counts a resource as bytes of the answer. @throws PraxisError `too-costly` */
export function takeBytes({ budget }: Pick<InteractionContext, 'budget'>, resource: Disclosed<string>): void {
  budget.take(unwrapDisclosed(resource).length, showingRows);
}

/**
 * Those of `rows` that the caller may see, in their order, each as `discloseRow` shows it. Others go on in between, and the
 * texts count as bytes of the answer.
 * @throws PraxisError `too-costly`
 */
export async function discloseRows<Row extends StoredResource>(
  context: InteractionContext,
  letter: Permission,
  rows: readonly Row[],
  filter: ElementFilter,
): Promise<readonly ShownRow<Row>[]> {
  const shown: ShownRow<Row>[] = [];
  let characters = 0;
  for (const row of rows) {
    characters += getStoredText(row.content).length;
    if (characters > charactersPerLook) {
      characters = 0;
      await pauseBetweenRows(context);
    }
    const resource = discloseRow(context, letter, row, filter);
    if (resource === undefined) continue;
    takeBytes(context, resource);
    shown.push({ row, resource });
  }
  return shown;
}

/** Characters of content between two looks at the clock: less than a millisecond's work. */
const charactersPerLook = 32_768;

/** The entries of the matches of a search, of those that the caller may see. @throws PraxisError `too-costly` */
export async function matchEntries(
  context: InteractionContext,
  { parameters }: FhirRequest,
  rows: readonly StoredResource[],
): Promise<BundleEntry[]> {
  const shown = await discloseRows(context, 's', rows, parseElementFilter(parameters));
  return shown.map(({ row, resource }) => ({
    fullUrl: `${context.baseUrl}/${row.type}/${row.id}`,
    resource,
    search: { mode: 'match' },
  }));
}

/** For the audit ledger: what was shown, about whom, and under which grants. */
function noteShown(
  { note, baseUrl }: InteractionContext,
  grants: readonly Grant[],
  { type, id, content }: StoredResource,
  filter: ElementFilter,
  test: (criterion: Criterion) => boolean,
): void {
  if (note === undefined) return;
  note.shown += 1;
  note.patients.addOf(type, id, getStoredText(content), baseUrl);
  for (const grant of grants) {
    if (grants.length === 1 || grant.criteria.every(test)) note.grants.set(grant, { type, filter });
  }
}

/**
 * What the caller may see of a row that it did not ask to read: under its read grants, else under its search grants;
 * undefined when it has neither. For answers of writes that show more than the caller has sent.
 */
export function discloseReadable(context: InteractionContext, row: StoredResource): Disclosed<string> | undefined {
  return discloseRow(context, 'r', row, {}) ?? discloseRow(context, 's', row, {});
}

/**
 * Whether a criterion holds for stored content. It is parsed at the first question, and indexed by those parameters
 * alone that criteria name: a large resource has thousands of rows by others. The test throws PraxisError `too-costly`.
 */
export function compileCriterionTest(
  context: Pick<InteractionContext, 'scope' | 'baseUrl' | 'budget'>,
  type: string,
  content: Stored,
): (criterion: Criterion) => boolean {
  const rowsBy = new Map<string, IndexRows>();
  const rowsOf = (parameter: string): IndexRows => {
    const place = { timeZone: context.scope.timeZone, baseUrl: context.baseUrl };
    const rows = indexElements(type, parseStored(content), place, context.budget, new Set([parameter]));
    rowsBy.set(parameter, rows);
    return rows;
  };
  return ({ parameter, values }) => matchesToken(rowsBy.get(parameter) ?? rowsOf(parameter), type, parameter, values);
}

const summaries: ReadonlySet<string> = new Set(['true', 'text', 'data', 'false', 'count']);

/** The `_elements` and `_summary` of a request. */
export function parseElementFilter(parameters: FhirRequest['parameters']): ElementFilter {
  const elements = parameters.filter(([name]) => name === '_elements').flatMap(([, value]) => value.split(','));
  const names = elements
    .map((element) => element.trim().replace(/^[A-Z][A-Za-z]*\./, ''))
    .filter((element) => element !== '');
  const summary = parameters.findLast(([name]) => name === '_summary')?.[1];
  if (summary !== undefined && !summaries.has(summary))
    refuseValue('_summary', 'must be true, text, data, count or false');
  return {
    ...(names.length > 0 ? { elements: new Set(names) } : {}),
    ...(summary === 'true' || summary === 'text' || summary === 'data' ? { summary } : {}),
  };
}
