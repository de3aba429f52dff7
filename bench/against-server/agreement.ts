/**
 * Whether two servers answer alike: the same matches, in the same order where one is asked for, the same resources with them, all with
 * the same content. `meta` and `text` are each server's own, and so is how it refers to its own resources.
 */
import { isDeepStrictEqual } from 'node:util';
import { Line } from '../service/line.ts';
import { idPrefix } from './data-set.ts';
import { ask, type Endpoint } from './endpoint.ts';
import type { Question, Resource } from './questions.ts';

/** What a server said, as far as it is compared. */
export interface Said {
  /** `Type/id` in the order in which they must be. */
  readonly matches: readonly string[];
  readonly included: readonly string[];
  readonly total: number | undefined;
  /** By `Type/id`, without what is the server's own. */
  readonly contents: ReadonlyMap<string, unknown>;
}

interface Bundle {
  readonly resourceType: 'Bundle';
  readonly total?: number;
  readonly entry?: readonly { readonly resource?: Resource; readonly search?: { readonly mode?: string } }[];
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}

const pagesMax = 20;

/** What came of a question. */
export interface Agreement {
  /** Resources that were compared. */
  readonly resources: number;
  readonly differences: readonly string[];
}

/** Asks both servers all of it. */
export async function compareAnswers(
  [one, other]: readonly [Endpoint, Endpoint],
  questions: readonly Question[],
): Promise<ReadonlyMap<Question, Agreement>> {
  const lines = [new Line(one.origin), new Line(other.origin)] as const;
  const agreements = new Map<Question, Agreement>();
  try {
    for (const question of questions) {
      const differences: string[] = [];
      let resources = 0;
      for (const what of question.asked) {
        const said = await Promise.all([hear(lines[0], one, what, question), hear(lines[1], other, what, question)]);
        const difference = findDifference(said[0], said[1]);
        if (difference !== undefined) differences.push(`${what}: ${difference}`);
        resources += said[0].contents.size;
      }
      agreements.set(question, { resources, differences });
    }
    return agreements;
  } finally {
    for (const line of lines) line.close();
  }
}

/** What is different; undefined: nothing. */
export function findDifference(one: Said, other: Said): string | undefined {
  if (one.total !== other.total) return `total ${one.total}, not ${other.total}`;
  if (!isDeepStrictEqual(one.matches, other.matches))
    return `found ${one.matches.join(' ')}, not ${other.matches.join(' ')}`;
  if (!isDeepStrictEqual(one.included, other.included))
    return `with ${one.included.join(' ')}, not ${other.included.join(' ')}`;
  for (const [id, content] of one.contents)
    if (!isDeepStrictEqual(content, other.contents.get(id)))
      return `${id} is ${JSON.stringify(content)}, not ${JSON.stringify(other.contents.get(id))}`;
  return undefined;
}

/** The answer with all its pages. */
async function hear(line: Line, endpoint: Endpoint, what: string, question: Question): Promise<Said> {
  const { body } = await ask(line, endpoint, endpoint.call('GET', what));
  const first: Bundle | Resource = JSON.parse(body);
  if (!isBundle(first)) return sayOf([{ resource: first }], undefined, endpoint, question);
  const entries = [...(first.entry ?? [])];
  let next = findNext(first);
  for (let page = 1; next !== undefined && page < pagesMax; page += 1) {
    const { pathname, search } = new URL(next, endpoint.origin);
    const { headers } = endpoint.call('GET', what);
    const bundle: Bundle = JSON.parse(
      (await ask(line, endpoint, { method: 'GET', path: pathname + search, headers })).body,
    );
    entries.push(...(bundle.entry ?? []));
    next = findNext(bundle);
  }
  return sayOf(entries, what.includes('_summary=count') ? first.total : undefined, endpoint, question);
}

/** Keeps of the entries what was loaded for the comparison. */
export function sayOf(
  entries: NonNullable<Bundle['entry']>,
  total: number | undefined,
  { base }: Pick<Endpoint, 'base'>,
  { sortedBy }: Pick<Question, 'sortedBy'>,
): Said {
  const own = entries.flatMap(({ resource, search }) =>
    resource?.id?.startsWith(idPrefix) ? [{ resource, isIncluded: search?.mode === 'include' }] : [],
  );
  const matches = own.filter(({ isIncluded }) => !isIncluded).map(({ resource }) => resource);
  return {
    // Where two are equal in what is sorted by, their order is open.
    matches: (sortedBy === undefined ? [matches] : groupEqual(matches, sortedBy)).flatMap((group) =>
      group.map(nameOf).toSorted(),
    ),
    included: [
      ...new Set(own.filter(({ isIncluded }) => isIncluded).map(({ resource }) => nameOf(resource))),
    ].toSorted(),
    total,
    contents: new Map(own.map(({ resource }) => [nameOf(resource), strip(resource, `${base}/`)])),
  };
}

/** Neighbours that are equal, together. */
function groupEqual(resources: readonly Resource[], keyOf: (resource: Resource) => string): Resource[][] {
  const groups: Resource[][] = [];
  for (const resource of resources) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && keyOf(last[0]) === keyOf(resource)) last.push(resource);
    else groups.push([resource]);
  }
  return groups;
}

function strip(resource: Resource, base: string): unknown {
  const { meta: _meta, text: _text, ...rest } = resource as Resource & { meta?: unknown; text?: unknown };
  return JSON.parse(JSON.stringify(rest), (name, value) =>
    name === 'reference' && typeof value === 'string' && value.startsWith(base) ? value.slice(base.length) : value,
  );
}

function nameOf({ resourceType, id }: Resource): string {
  return `${resourceType}/${id}`;
}

function findNext({ link = [] }: Bundle): string | undefined {
  return link.find(({ relation }) => relation === 'next')?.url;
}

function isBundle(answer: Bundle | Resource): answer is Bundle {
  return answer.resourceType === 'Bundle';
}
