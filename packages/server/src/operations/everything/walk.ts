/**
 * One page of a $everything: the compartment's types one after another, and at type level the compartments one after
 * another. Each step is a search with the caller's rights, so nothing comes that a search would not show.
 */
import type { InteractionContext } from '../../engine/context.ts';
import { planSearch } from '../../engine/search/searching.ts';
import { selectPage } from '../../engine/search/select-page.ts';
import type { CompartmentScope } from '../../search/query/compartment-scope.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import { pageBytesMax } from '../../search/sql/page-bytes.ts';
import { countBytes, type StoredResource } from '../../storage/store.ts';
import type { EverythingParameters } from './parameters.ts';
import type { Position } from './position.ts';
import { keepPresentSections } from './present-sections.ts';
import { listSections } from './sections.ts';

/** Compartments that one page looks into, at most: one that finds little ends short, with a next link. */
const compartmentsPerPageMax = 20;

/** What was found, and where the next page begins. */
export interface WalkedPage {
  /** With the id of the resource in whose compartment each is. */
  readonly rows: readonly { readonly row: StoredResource; readonly of: string }[];
  readonly next: Position | undefined;
}

/** The first page of all that the caller may see; undefined when there is no resource whose compartment it would be. */
export async function findFirstPosition(
  context: InteractionContext,
  asked: EverythingParameters,
  cursor?: string,
): Promise<Position | undefined> {
  const { type, id } = asked;
  const parameters: SearchParameters = id === '' ? [] : [['_id', id]];
  const { rows, next } = await search(context, type, parameters, oneWithoutContent, cursor);
  const [first] = rows;
  return first && { of: first.id, following: id === '' ? next?.cursor : undefined, type, within: undefined };
}

/** The page that begins at `position`. */
export async function walk(
  context: InteractionContext,
  asked: EverythingParameters,
  position: Position,
): Promise<WalkedPage> {
  const rows: { row: StoredResource; of: string }[] = [];
  let at: Position | undefined = position;
  let bytesLeft = pageBytesMax;
  for (let compartments = 0; at !== undefined && compartments < compartmentsPerPageMax; compartments += 1) {
    const inside = await walkCompartment(context, asked, at, { rows: asked.count - rows.length, bytes: bytesLeft });
    const { of, following }: Position = at;
    rows.push(...inside.rows.map((row) => ({ row, of })));
    if (inside.next !== undefined) return { rows, next: inside.next };
    at = following === undefined ? undefined : await findFirstPosition(context, asked, following);
    bytesLeft = Math.max(0, bytesLeft - countBytes(inside.rows));
    if (rows.length >= asked.count || bytesLeft === 0) break;
  }
  return { rows, next: at };
}

/** What a page may still hold. */
interface Room {
  readonly rows: number;
  /** Of contents; the resource that reaches the limit comes whole. */
  readonly bytes: number;
}

/** At most `room` of one compartment; `next` is in the same one. */
async function walkCompartment(
  context: InteractionContext,
  asked: EverythingParameters,
  position: Position,
  room: Room,
): Promise<{ readonly rows: readonly StoredResource[]; readonly next: Position | undefined }> {
  const sections = listSections(context, asked, position.of);
  const rows: StoredResource[] = [];
  let within = position.within;
  let bytesLeft = room.bytes;
  const toCome = sections.slice(placeOf(sections, position.type, asked.type));
  for (const section of await keepPresentSections(context, toCome)) {
    do {
      const { type, parameters, scope } = section;
      const isFull = rows.length >= room.rows || bytesLeft === 0;
      const left = isFull ? oneWithoutContent : { rows: room.rows - rows.length, bytes: bytesLeft };
      const found = await search(context, type, parameters, left, within, scope);
      // One more row tells that there is a next page; without any, the walk goes on to see whether this is the end.
      if (isFull && found.rows.length > 0) return { rows, next: { ...position, type, within } };
      if (!isFull) rows.push(...found.rows);
      bytesLeft = Math.max(0, bytesLeft - countBytes(found.rows));
      within = found.next?.cursor;
    } while (within !== undefined);
  }
  return { rows, next: undefined };
}

const oneWithoutContent: Room = { rows: 1, bytes: 0 };

/** Where the walk goes on: at the section of the type, or at the first when the type is that of the compartment. */
function placeOf(sections: readonly { readonly type: string }[], type: string, own: string): number {
  const place = sections.findIndex((section) => section.type === type);
  return place < 0 && type !== own ? sections.length : Math.max(place, 0);
}

async function search(
  context: InteractionContext,
  type: string,
  parameters: SearchParameters,
  room: Room,
  cursor: string | undefined,
  scope?: CompartmentScope,
) {
  const place = cursor === undefined ? [] : [['_cursor', cursor] as const];
  const all = [...parameters, ['_count', String(room.rows)] as const, ...place];
  const target = await planSearch(context, type, all, { return: undefined, handling: 'strict' }, scope);
  return await selectPage(context, target, room.bytes);
}
