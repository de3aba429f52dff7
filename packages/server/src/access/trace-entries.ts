/**
 * Where each entry of a policy comes from, and what became of it: for whoever wonders why an entry grants nothing.
 */
import { isCovered } from './explain.ts';
import { parseEntry } from './grammar.ts';
import type { AccessPolicy } from './policy.ts';
import { interpretEntry } from './rights.ts';
import { splitScope } from './smart-scopes.ts';

/** Who has written an entry down. */
export type EntryHolder = 'token' | 'application' | 'firm';

export interface EntryTrace {
  readonly entry: string;
  /** In this order: token, application, firm. */
  readonly heldBy: readonly EntryHolder[];
  /** What the call may do rests on it. */
  readonly effective: boolean;
  /** Why it grants nothing; absent where it grants what it says. */
  readonly reason?: string;
}

type Sides = readonly (readonly [EntryHolder, readonly string[]])[];

/** Every entry of token, application and firm, sorted. A token that carries none has those of the application. */
export function traceEntries(policy: AccessPolicy): readonly EntryTrace[] {
  const { tokenEntries, firmEntries, origin } = policy.source;
  const application = origin?.applicationEntries ?? tokenEntries;
  const sides: Sides = [
    ['token', origin === undefined ? tokenEntries : (origin.carried ?? application)],
    ['application', application],
    ['firm', firmEntries],
  ];
  const effective = new Set(policy.entries);
  return [...new Set(sides.flatMap(([, entries]) => entries))].toSorted().map((entry) => {
    const heldBy = sides.filter(([, entries]) => entries.includes(entry)).map(([side]) => side);
    const isEffective = partsOf(entry).some((part) => effective.has(part));
    const reason = isEffective ? withoutMeaning(policy, entry) : droppedBecause(policy, entry, sides);
    return { entry, heldBy, effective: isEffective, ...(reason === undefined ? {} : { reason }) };
  });
}

/** As the policy lists it: scopes of SMART letter by letter. */
function partsOf(text: string): readonly string[] {
  const entry = parseEntry(text);
  return entry.kind === 'smart' ? splitScope(entry).map((part) => part.text) : [text];
}

function withoutMeaning(policy: AccessPolicy, text: string): string | undefined {
  const entry = parseEntry(text);
  if (entry.kind === 'refused' || entry.kind === 'filter') return undefined;
  const { all, rights, bundles, uploadUrl } = interpretEntry(entry, policy.source.operatorRows);
  if (all || rights.length > 0 || bundles.size > 0 || uploadUrl) return undefined;
  return 'grants nothing until an operator says which rows or elements it stands for';
}

function droppedBecause(policy: AccessPolicy, text: string, sides: Sides): string {
  const entry = parseEntry(text);
  if (entry.kind === 'refused') return entry.diagnostics;
  const lacking = sides.filter(([, entries]) => !isCovered(policy, entries, text)).map(([side]) => side);
  if (lacking.length > 0) return `not granted by the ${lacking.join(' and the ')}`;
  return 'narrower or equal entries of the others take its place';
}
