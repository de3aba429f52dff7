/**
 * Which of the entries that somebody asks for can be given by somebody who holds others
 * (https://www.rfc-editor.org/rfc/rfc6749#section-3.3).
 */
import { parseEntry, splitEntry } from './grammar.ts';
import { noOperatorRows } from './operator-rows.ts';
import { compilePolicy } from './policy.ts';
import { covers, interpretEntry, interpretText, type Meaning } from './rights.ts';
import { everyType, isSmartLike, type SmartScope, splitScope } from './smart-scopes.ts';

export interface Selection {
  /** Nowhere wider than what is held; filters among what is held stay, asked for or not. */
  readonly entries: readonly string[];
}

export interface NotHeld {
  /** For whoever asked: the first entry that cannot be given, and why. Without `"`. */
  readonly diagnostics: string;
}

/**
 * What can be given of the `asked` entries. An entry counts as held when everything that it grants is held; `system/*…`, of
 * which nobody knows how much there is, when something of it is.
 */
export function selectEntries(asked: readonly string[], held: readonly string[]): Selection | NotHeld {
  const given = compilePolicy(asked, held).entries;
  const meanings = given.flatMap((text) => interpretText(text, noOperatorRows) ?? []);
  for (const text of asked) {
    if (given.includes(text)) continue;
    const entry = parseEntry(text);
    if (entry.kind === 'refused' && isSmartLike(text)) return { diagnostics: entry.diagnostics.replaceAll('"', '') };
    if (entry.kind !== 'smart' || !isHeld(entry, meanings))
      return { diagnostics: `${text} is not held by the application` };
  }
  return { entries: asked.reduce(asAsked, given) };
}

/**
 * The first of the `asked` entries that grants something which those of `held` do not grant, letter by letter;
 * undefined when there is none. What grants nothing until an operator says what is held by its own text and `acl/*`
 * only. A filter takes away: everybody holds it.
 */
export function findFirstNotHeld(asked: readonly string[], held: readonly string[]): string | undefined {
  const texts = new Set(held);
  const own = held.flatMap((text) => interpretText(text, noOperatorRows) ?? []);
  return asked.find((text) => {
    const entry = parseEntry(text);
    if (entry.kind === 'refused') return true;
    if (entry.kind === 'filter' || texts.has(text)) return false;
    return !splitEntry(entry).every((part) => own.some((other) => covers(other, interpretEntry(part, noOperatorRows))));
  });
}

function isHeld(scope: SmartScope, given: readonly Meaning[]): boolean {
  const parts = splitScope(scope).map((part) => interpretEntry(part, noOperatorRows));
  if (scope.type === everyType) return parts.some((part) => given.some((other) => covers(part, other)));
  return parts.every((part) => given.some((other) => covers(other, part)));
}

/** With a scope of several letters as it was asked for, where each letter of it is there. */
function asAsked(entries: readonly string[], text: string): readonly string[] {
  const entry = parseEntry(text);
  if (entry.kind !== 'smart') return entries;
  const parts = splitScope(entry).map((part) => part.text);
  if (!parts.every((part) => entries.includes(part))) return entries;
  return [...new Set([...entries.filter((each) => !parts.includes(each)), text])].toSorted();
}
