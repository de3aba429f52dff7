/**
 * What of an answer is compared between the worlds of the leak hunt: status, headers and body, whole, in their order, once
 * what differs by nature is taken out.
 */
import type { Answer } from '../../support/service.ts';

/** What may differ between the worlds, and why it tells nothing. */
export const observables: readonly (readonly [what: string, why: string])[] = [
  ['origin', 'each world has a port of its own: replaced by one name'],
  [
    'UUIDs that the server makes up (ids of resources, Bundles, entries)',
    'random: numbered in the order in which an answer first shows them, so that an id that comes again is compared',
  ],
  [
    '`_cursor` and `since` of page links',
    'sealed with a random nonce: compared by following them, and by replaying them',
  ],
  ['the ids of slots, holds, files and proposals', 'numbered like UUIDs; in requests each world is sent its own'],
  [
    '`link` of the URLs of files',
    'sealed with a random nonce: compared by following them, for the caller that was given them alone, as they need no other right',
  ],
  [
    'whether a time can be booked, to those who may book it',
    'told by booking it: the hunt does not book what is taken in one world by those who may see no slots',
  ],
  ['`Date`, `X-Request-Id`, `Connection`, `Keep-Alive`', 'of the connection, not of the answer'],
  ['`Content-Length`, and an `ETag` that is a digest of the body', 'the body is compared instead'],
];

/** `versionId` and `lastUpdated` need no exception: the worlds get the same requests at the same moments. */
const unsteady = new Set(['date', 'x-request-id', 'content-length', 'connection', 'keep-alive']);

/** The made-up ids of one world, in the order in which they were seen. */
export type Seen = Map<string, number>;

export interface Steady {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Where a page begins, in links; what is shorter was made up by the hunt, and is compared. */
const sealed = /\b(_cursor|since|link)=[\w.%-]{40,}/g;
/** Of documents that hold the origin; versions are numbers. */
const digest = /W\/"[\w-]{20,}"/g;
const madeUp = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The answer as it is compared. */
export function steady(origin: string, seen: Seen, { status, headers, text }: Answer): Steady {
  const plain = (value: string): string =>
    value
      .replaceAll(origin, 'http://service')
      .replaceAll(origin.replace('http', 'ws'), 'ws://service')
      .replace(sealed, '$1=sealed')
      .replace(digest, 'W/"digest"')
      .replace(madeUp, (id) => {
        if (!seen.has(id)) seen.set(id, seen.size + 1);
        return `made-up-${seen.get(id)}`;
      });
  const kept = [...headers].filter(([name]) => !unsteady.has(name)).map(([name, value]) => [name, plain(value)]);
  return { status, headers: Object.fromEntries(kept), text: plain(text) };
}

/** Where two answers differ first; undefined when they are the same. */
export function difference(one: Steady, other: Steady): string | undefined {
  if (one.status !== other.status) return `status ${one.status} and ${other.status}`;
  const names = new Set([...Object.keys(one.headers), ...Object.keys(other.headers)]);
  const name = [...names].find((each) => one.headers[each] !== other.headers[each]);
  if (name !== undefined)
    return `header ${name}: ${one.headers[name] ?? 'absent'} and ${other.headers[name] ?? 'absent'}`;
  if (one.text === other.text) return undefined;
  const at = [...one.text].findIndex((character, place) => character !== other.text[place]);
  const from = Math.max(0, (at < 0 ? one.text.length : at) - contextCharacters);
  const part = (text: string): string => JSON.stringify(text.slice(from, from + shownCharacters));
  return `body from character ${from}: ${part(one.text)} and ${part(other.text)}`;
}

const contextCharacters = 60;
const shownCharacters = 240;
