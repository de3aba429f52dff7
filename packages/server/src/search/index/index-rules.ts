/**
 * Which index rows a resource has depends on more than its content. The number of the rules is stored with each resource: rows
 * of a version that is stored may be made anew, instead of being read, only where the number is the same (docs/decisions/0286).
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../../base/bounded-entries.ts';
import type { FirmSearchParameters } from '../../tenancy/search-parameters.ts';

/**
 * To be raised with every change of the rows that some resource has: of search parameters, kinds, folding, or the library of
 * units. test/search/index-rules.test.ts notices.
 */
export const indexRulesVersion = 2;

export interface IndexRulesContext {
  readonly timeZone: string;
  readonly baseUrl?: string;
  /** Search parameters of the firm's own. */
  readonly searchParameters: FirmSearchParameters;
}

/** The context that was asked for last, as most are asked for many times in turn. */
let last: { readonly timeZone: string; readonly baseUrl: string | undefined; readonly rules: number } | undefined;

/** Contexts that are remembered: a few for each firm. */
const remembered = new LRUCache<string, number>(boundEntries(10_000));

/**
 * The number of the rules, 31 bits; undefined where the firm has search parameters of its own, whose rows jobs add and delete
 * without a new version of the resource.
 */
export function computeIndexRules({ timeZone, baseUrl, searchParameters }: IndexRulesContext): number | undefined {
  if (searchParameters.length > 0) return undefined;
  if (last !== undefined && last.timeZone === timeZone && last.baseUrl === baseUrl) return last.rules;
  const rules = findRules(timeZone, baseUrl);
  last = { timeZone, baseUrl, rules };
  return rules;
}

function findRules(timeZone: string, baseUrl: string | undefined): number {
  const place = `${timeZone} ${baseUrl ?? ''}`;
  const known = remembered.get(place);
  if (known !== undefined) return known;
  // Node brings the tables of characters, for folding, and of time zones, for dates without an offset.
  const { unicode, tz } = process.versions;
  const digest = hash('sha256', `${indexRulesVersion} ${unicode} ${tz} ${place}`, 'buffer');
  const rules = digest.readUInt32BE(0) >>> 1;
  remembered.set(place, rules);
  return rules;
}
