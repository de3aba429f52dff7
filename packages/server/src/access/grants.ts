/**
 * A grant: the elements that can be read, or written, on the rows that meet some criteria.
 */
import type { Criterion } from './entries/definition.ts';
import { buildCriterionKey, criteriaInclude, type Elements, elementsInclude } from './rights.ts';

export interface Grant {
  /** All, or top-level elements as paths (`Patient.name`); resourceType, id and meta are always readable. */
  readonly elements: Elements;
  /** All must hold on a row; empty: every row. */
  readonly criteria: readonly Criterion[];
  /** The entries it comes from, sorted. */
  readonly entries: readonly string[];
}

/**
 * The same rights with one grant per set of criteria. Rows that meet the criteria of two grants have the elements of
 * both, so a grant takes over the elements of those with fewer criteria; grants that another one then covers are left
 * out. The order depends on the rights alone.
 */
export function mergeGrants(grants: readonly Grant[]): readonly Grant[] {
  const byCriteria = new Map<string, Grant>();
  for (const grant of grants) {
    const criteria = distinct(grant.criteria);
    const key = JSON.stringify(criteria.map(buildCriterionKey));
    const same = byCriteria.get(key);
    byCriteria.set(key, same ? union(same, grant) : { ...grant, criteria, entries: [...grant.entries] });
  }
  const sorted = [...byCriteria].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, grant]) => grant);
  const merged = sorted.map((grant) =>
    sorted.filter((other) => other !== grant && criteriaInclude(grant.criteria, other.criteria)).reduce(union, grant),
  );
  return merged.filter((grant) => !merged.some((other) => other !== grant && coversGrant(other, grant)));
}

function union(a: Grant, b: Grant): Grant {
  const elements = a.elements === 'all' || b.elements === 'all' ? 'all' : a.elements.union(b.elements);
  return { elements, criteria: a.criteria, entries: [...new Set([...a.entries, ...b.entries])].toSorted() };
}

function coversGrant(wide: Grant, narrow: Grant): boolean {
  return elementsInclude(wide.elements, narrow.elements) && criteriaInclude(narrow.criteria, wide.criteria);
}

function distinct(criteria: readonly Criterion[]): readonly Criterion[] {
  const byKey = new Map(criteria.map((criterion) => [buildCriterionKey(criterion), criterion]));
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, criterion]) => criterion);
}
