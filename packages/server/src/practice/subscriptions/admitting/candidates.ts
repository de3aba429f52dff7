/**
 * Which subscriptions a change can concern at all: most name a value that the resource must have, such as a patient, and are looked
 * up by it, however many there are. What is found here is looked at as a search of the application would; what is not can be no
 * event, whatever the rights are (docs/decisions/0319).
 */
import type { Budget, BudgetedWork } from '@praxis/fhir';
import { parseStored } from '../../../access/disclosure.ts';
import { PraxisError } from '../../../base/errors.ts';
import { indexElements } from '../../../search/index/index-rows.ts';
import { parseToken } from '../../../search/kinds/token.ts';
import { getStandardParameters } from '../../../search/parameters.ts';
import { splitUnescaped } from '../../../search/query/search-values.ts';
import type { Change, StoredResource } from '../../../storage/store.ts';
import type { SubscriptionDefinition } from '../definition.ts';
import { toLocalReference } from './matching.ts';

/** What is needed of who asks: a subscription, or several that ask the same. */
export interface Watcher {
  readonly definition: Pick<SubscriptionDefinition, 'topic' | 'type' | 'criteria' | 'filters'>;
}

/** Where the changes come from. */
export interface ChangePlaces {
  readonly timeZone: string;
  readonly baseUrl: string;
}

export interface Candidates<T extends Watcher> {
  /** Types of which changes are looked at. */
  readonly types: readonly string[];
  /** Types of which the version before is looked at, too. */
  readonly comparedTypes: readonly string[];
  /** Whether there are criteria of R4, which are about the last version. */
  readonly areOfLast: boolean;
  /**
   * Those that changes may concern, with these changes in their order.
   * @param openBudget of one change
   */
  find(
    changes: readonly Change[],
    places: ChangePlaces,
    openBudget: () => Budget,
  ): Promise<ReadonlyMap<T, readonly Change[]>>;
}

const looking: BudgetedWork = { what: 'Looking for subscriptions', cheaper: 'use fewer subscriptions' };

/** Those of one type: by the value that a resource must have one of, and those that name none. */
interface OfType<T> {
  /** Whether versions before count, too: a topic is told of what leaves its filters. */
  isCompared: boolean;
  readonly byKey: Map<string, T[]>;
  /** Codes of the parameters of the keys, `_id` aside. */
  readonly codes: Set<string>;
  readonly always: T[];
}

/** Prepares the lookup. */
export function indexCandidates<T extends Watcher>(watchers: readonly T[], { baseUrl }: ChangePlaces): Candidates<T> {
  const byType = new Map<string, OfType<T>>();
  for (const watcher of watchers) {
    const { type, topic } = watcher.definition;
    const ofType = byType.get(type) ?? openOfType<T>();
    byType.set(type, ofType);
    if (topic !== undefined) ofType.isCompared = true;
    const anchor = findAnchor(watcher.definition, baseUrl);
    if (anchor === undefined) ofType.always.push(watcher);
    else {
      if (anchor.code !== '_id') ofType.codes.add(anchor.code);
      for (const key of anchor.keys) append(ofType.byKey, key, watcher);
    }
  }
  return {
    types: [...byType.keys()],
    areOfLast: watchers.some(({ definition }) => definition.topic === undefined),
    comparedTypes: [...byType].flatMap(([type, { isCompared }]) => (isCompared ? [type] : [])),
    async find(changes, places, openBudget) {
      const found = new Map<T, Change[]>();
      let shared: Budget | undefined;
      for (const change of changes) {
        const ofType = byType.get(change.now.type);
        if (ofType === undefined) continue;
        if (ofType.byKey.size === 0) {
          // Nothing of it is read: all such changes have one budget.
          shared ??= openBudget();
          await shared.breathe(looking);
          for (const watcher of ofType.always) append(found, watcher, change);
          continue;
        }
        const budget = openBudget();
        await budget.breathe(looking);
        for (const watcher of listConcerned(ofType, change, places, budget)) append(found, watcher, change);
      }
      return found;
    },
  };
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function openOfType<T>(): OfType<T> {
  return { isCompared: false, byKey: new Map(), codes: new Set(), always: [] };
}

function listConcerned<T>(
  { isCompared, byKey, codes, always }: OfType<T>,
  change: Change,
  places: ChangePlaces,
  budget: Budget,
): Iterable<T> {
  const concerned = new Set<T>(always);
  for (const version of isCompared ? [change.now, change.before] : [change.now]) {
    if (version === undefined) continue;
    const keys = listKeys(version, codes, places, budget);
    // What costs too much to look into may concern all.
    const lists = keys === undefined ? byKey.values() : keys.map((key) => byKey.get(key) ?? []);
    for (const list of lists) for (const watcher of list) concerned.add(watcher);
  }
  return concerned;
}

/** Undefined: that costs too much. */
function listKeys(
  { type, id, deleted, content }: StoredResource,
  codes: ReadonlySet<string>,
  places: ChangePlaces,
  budget: Budget,
): readonly string[] | undefined {
  const own = buildIdKey(id);
  if (deleted || codes.size === 0) return [own];
  try {
    const rows = indexElements(type, parseStored(content), places, budget, codes);
    return [
      own,
      ...rows.tokenParam.map((param, at) => buildTokenKey(param, rows.tokenCode[at] ?? '')),
      ...rows.referenceParam.map((param, at) => buildReferenceKey(param, rows.referenceTargetId[at] ?? '')),
    ];
  } catch (error) {
    if (error instanceof PraxisError && error.code === 'too-costly') return undefined;
    throw error;
  }
}

interface Anchor {
  readonly code: string;
  /** One of them is a key of each version that is found. */
  readonly keys: readonly string[];
}

/** The first parameter that names values as a whole; undefined: there is none. */
function findAnchor(
  { topic, type, criteria = [], filters }: Watcher['definition'],
  baseUrl: string,
): Anchor | undefined {
  const asked =
    topic === undefined ? criteria.map(([name, value]) => [name, splitUnescaped(value, ',')] as const) : filters;
  for (const [code, values] of asked) {
    const keys = listAnchorKeys(type, code, values, baseUrl);
    if (keys !== undefined) return { code, keys };
  }
  return undefined;
}

const localReference = /^(?:[A-Z][A-Za-z]+\/)?([A-Za-z0-9\-.]{1,64})$/;

function listAnchorKeys(
  type: string,
  code: string,
  values: readonly string[],
  baseUrl: string,
): readonly string[] | undefined {
  if (code === '_id') return values.map(buildIdKey);
  // Names with a modifier are no codes; parameters of the firm's own can be other ones at the next look.
  const parameter = getStandardParameters(type).get(code);
  if (parameter === undefined) return undefined;
  const { number, facts, definition, kind } = parameter;
  const keys = values.map((value): readonly string[] | undefined => {
    if (definition.type === 'token' && kind.table === 'token')
      return listForms(value, code, facts)?.map((form) => buildTokenKey(number, form));
    if (definition.type !== 'reference' || kind.table !== 'reference') return undefined;
    const [, target] = localReference.exec(toLocalReference(value, baseUrl)) ?? [];
    return target === undefined ? undefined : [buildReferenceKey(number, target)];
  });
  return keys.every((each) => each !== undefined) ? keys.flat() : undefined;
}

/** Undefined: any code fits, or the value is none that is searched by now. */
function listForms(...asked: Parameters<typeof parseToken>): readonly string[] | undefined {
  try {
    return parseToken(...asked).codes;
  } catch (error) {
    if (error instanceof PraxisError) return undefined;
    throw error;
  }
}

function buildIdKey(id: string): string {
  return `id ${id}`;
}

function buildTokenKey(parameter: number, code: string): string {
  return `token ${parameter} ${code}`;
}

function buildReferenceKey(parameter: number, target: string): string {
  return `reference ${parameter} ${target}`;
}
