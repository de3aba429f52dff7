/**
 * The paths of actions. A path is matched as it was sent: names are decoded after it was split, so that an encoded slash is
 * part of a name.
 */

import type { Action } from '../actions/action.ts';
import { suggestNearestPath } from '../base/nearest-path.ts';
import type { Segments } from './access.ts';

export interface Match<A> {
  /** The path with its names in braces, as the actions have it. */
  readonly template: string;
  /** The action of each method of the path. */
  readonly actions: ReadonlyMap<string, A>;
  readonly segments: Segments;
}

/** Characters of a path that are looked at. */
const pathLengthMax = 4_000;

export interface Routes<A> {
  /** What a path below /admin/api leads to; undefined when nothing does. */
  find(path: string): Match<A> | undefined;
  /** `: did you mean /me?`, for a path that leads to nothing; empty when none is near. Names in paths are never suggested. */
  suggest(path: string): string;
}

/** The paths of the actions. */
export function openRoutes<A extends Action>(actions: readonly A[]): Routes<A> {
  const templates = new Map<string, Map<string, A>>();
  for (const action of actions) {
    const methods = templates.get(action.path) ?? new Map<string, A>();
    templates.set(action.path, methods.set(action.method, action));
  }
  // A fixed segment goes before a name: /signing-keys/activate is no key.
  const ordered = [...templates]
    .map(([template, methods]) => ({ template, segments: template.split('/'), methods }))
    .toSorted((left, right) => namesIn(left.segments) - namesIn(right.segments));
  return {
    find(path) {
      if (path.length > pathLengthMax) return undefined;
      const given = path.split('/');
      for (const { template, segments, methods } of ordered) {
        const named = matched(segments, given);
        if (named !== undefined) return { template, actions: methods, segments: named };
      }
      return undefined;
    },
    suggest: (path) =>
      suggestNearestPath(
        path,
        ordered.map(({ segments }) => segments.filter((segment) => segment !== '')),
      ),
  };
}

function namesIn(segments: readonly string[]): number {
  return segments.filter((segment) => segment.startsWith('{')).length;
}

function matched(template: readonly string[], given: readonly string[]): Segments | undefined {
  if (template.length !== given.length) return undefined;
  const named = new Map<string, string>();
  for (const [index, part] of template.entries()) {
    const text = given[index] ?? '';
    if (!part.startsWith('{')) {
      if (part !== text) return undefined;
      continue;
    }
    const value = decoded(text);
    if (value === undefined) return undefined;
    named.set(part.slice(1, -1), value);
  }
  return Object.fromEntries(named);
}

/** Undefined for what names nothing: broken escapes, nothing at all, characters that no name has. */
function decoded(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text);
    return value === '' || /[\p{Cc}\p{Cs}]/u.test(value) ? undefined : value;
  } catch {
    return undefined; // URIError: not UTF-8
  }
}
