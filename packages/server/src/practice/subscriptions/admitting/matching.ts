/**
 * Which changes are events of which subscriptions. An application is asked for nothing that its own searches would not show:
 * criteria are searched with its rights, and a topic sees a change as these rights show it (docs/decisions/0308).
 */
import type { JsonObject } from '@praxis/fhir';
import { parseStored } from '../../../access/disclosure.ts';
import { type AccessPolicy, type Grant, searchGrants } from '../../../access/policy.ts';
import type { InteractionContext } from '../../../engine/context.ts';
import { compileCriterionTest } from '../../../engine/rights/disclosing.ts';
import { planSearch, strictly } from '../../../engine/search/searching.ts';
import { selectAllPages } from '../../../engine/search/select-page.ts';
import { type IndexRows, indexElements } from '../../../search/index/index-rows.ts';
import { hasToken } from '../../../search/index/match.ts';
import { getTypeNumber } from '../../../search/numbers.ts';
import { getStandardParameters } from '../../../search/parameters.ts';
import type { Change, StoredResource } from '../../../storage/store.ts';
import type { SubscriptionDefinition } from '../definition.ts';
import { type EventKind, findTopic, type Topic } from '../topics.ts';

/** Ids that one search asks for. */
const idsMax = 100;

/** A change that is an event. */
export interface Match {
  readonly change: Change;
  readonly kind: EventKind;
}

type Asked = Pick<SubscriptionDefinition, 'topic' | 'type' | 'criteria' | 'filters'>;

/** Same text: the same changes are events, for the same application. */
export function buildMatchKey({ topic, type, criteria, filters }: Asked): string {
  return JSON.stringify([topic, type, criteria, filters]);
}

/** The events among `changes`, in their order. @throws PraxisError as a search of the application */
export async function findEvents(
  context: InteractionContext,
  asked: Asked,
  changes: readonly Change[],
): Promise<readonly Match[]> {
  if (!context.policy.allows(asked.type, 's')) return [];
  const ofType = changes.filter(({ now }) => now.type === asked.type);
  if (ofType.length === 0) return [];
  return asked.topic === undefined ? await findFound(context, asked, ofType) : findOfTopic(context, asked, ofType);
}

/** R4's own criteria: what was created or changed, and is found now. */
async function findFound(
  context: InteractionContext,
  { type, criteria = [] }: Asked,
  changes: readonly Change[],
): Promise<readonly Match[]> {
  const last = changes.filter(({ now, isSuperseded }) => !now.deleted && !isSuperseded);
  const found = new Set<string>();
  for (let first = 0; first < last.length; first += idsMax) {
    const ids = last.slice(first, first + idsMax).map(({ now }) => now.id);
    const parameters = [...criteria, ['_id', ids.join(',')] as const];
    const pages = selectAllPages(context, (start) => planSearch(context, type, [...parameters, ...start], strictly));
    for await (const rows of pages) for (const { id } of rows) found.add(id);
  }
  return last
    .filter(({ now }) => found.has(now.id))
    .map((change) => ({ change, kind: change.now.versionId === 1 ? 'create' : 'update' }));
}

function findOfTopic(context: InteractionContext, asked: Asked, changes: readonly Change[]): readonly Match[] {
  const topic = findTopic(asked.topic ?? '');
  if (topic === undefined) return [];
  const grants = listTopicGrants(context.policy, topic, asked.filters);
  const goesByElements = topic.reads.length > 0;
  return changes.flatMap((change) => {
    const now = readSeen(context, grants, asked, change.now, goesByElements);
    const before = readSeen(context, grants, asked, change.before, goesByElements);
    if (now === undefined && before === undefined) return [];
    const kind: EventKind = now === undefined ? 'delete' : before === undefined ? 'create' : 'update';
    return topic.isEvent({ kind, before, now }) ? [{ change, kind }] : [];
  });
}

/** The grants under which all may be read that decides whether a change is an event; empty: the topic is closed. */
export function listTopicGrants(
  policy: AccessPolicy,
  { type, reads }: Topic,
  filters: SubscriptionDefinition['filters'],
): readonly Grant[] {
  const parameters = filters.flatMap(([code]) => getStandardParameters(type).get(code)?.definition ?? []);
  return searchGrants(policy, type, parameters).filter(
    ({ elements }) => elements === 'all' || reads.every((element) => elements.has(`${type}.${element}`)),
  );
}

/** What is seen, where nobody looks into it. */
const unread: JsonObject = {};

/** The content, where a search of the application with the filters would show it; empty where it is not wanted. */
function readSeen(
  context: InteractionContext,
  grants: readonly Grant[],
  { type, filters }: Asked,
  version: StoredResource | undefined,
  isWanted: boolean,
): JsonObject | undefined {
  if (version === undefined || version.deleted) return undefined;
  const { id, content } = version;
  const test = compileCriterionTest(context, type, content);
  if (!grants.some(({ criteria }) => criteria.every(test))) return undefined;
  if (filters.length === 0 && !isWanted) return unread;
  const resource = parseStored(content);
  if (filters.length === 0) return resource;
  const place = { timeZone: context.scope.timeZone, baseUrl: context.baseUrl };
  const codes = new Set(filters.map(([code]) => code));
  const rows = indexElements(type, resource, place, context.budget, codes);
  return filters.every(([code, values]) => meets(rows, { type, id }, place, code, values)) ? resource : undefined;
}

/** A reference to this service without its base. */
export function toLocalReference(value: string, baseUrl: string): string {
  return value.startsWith(`${baseUrl}/`) ? value.slice(baseUrl.length + 1) : value;
}

function meets(
  rows: IndexRows,
  { type, id }: { readonly type: string; readonly id: string },
  place: { readonly baseUrl: string },
  code: string,
  values: readonly string[],
): boolean {
  if (code === '_id') return values.includes(id);
  const parameter = getStandardParameters(type).get(code);
  if (parameter === undefined) return false;
  const { number, facts, definition } = parameter;
  if (parameter.kind.table === 'token') return hasToken(rows, number, facts, code, values);
  return rows.referenceParam.some(
    (param, at) =>
      param === number &&
      values.some((value) => {
        const local = toLocalReference(value, place.baseUrl);
        const [name, target = name] = local.includes('/') ? local.split('/') : [undefined, local];
        const targetType = Number(rows.referenceTargetType[at]);
        const types = name === undefined ? definition.targets : [name];
        return rows.referenceTargetId[at] === target && types.some((each) => getTypeNumber(each) === targetType);
      }),
  );
}
