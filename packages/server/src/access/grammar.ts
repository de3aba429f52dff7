/**
 * The grammar of access entries:
 *
 *     entry      = "acl/" ( "*" | crud | restricted | bundle | filter | opaque )
 *     crud       = code "_" letter                        acl/appmt_c  acl/org_pay_s
 *     restricted = code "_" letter "_" field { "_" field } acl/pat_s_id  acl/pat_s_name_dob_gen
 *     bundle     = "trans_bndl_" kind
 *     filter     = "lab_type_" order type
 *     opaque     = a published word of unknown meaning
 *
 * or a SMART v2 scope of a system (`smart-scopes.ts`). Codes, letters, fields and kinds are rows of the registry
 * (`registry.ts`). What is not understood grants nothing.
 */
import type { FilterEntry, OpaqueEntry, ResourceEntry, TransactionEntry } from './entries/definition.ts';
import { type EntryRefusal, makeEntryRefusal } from './refusal.ts';
import { allEntry, bundleEntries, filterEntries, opaqueEntries, resourceEntries } from './registry.ts';
import { isSmartLike, parseSmartScope, type SmartScope, splitScope } from './smart-scopes.ts';

export type { EntryRefusal, RefusalRule } from './refusal.ts';

/** Characters of one entry; the longest published one has 31. */
export const entryCharactersMax = 100;
/** Entries of one scope; 104 are published. */
export const scopeEntriesMax = 500;
/** Characters of one scope. */
export const scopeCharactersMax = 20_000;

interface OfResource {
  readonly text: string;
  readonly code: string;
  readonly letter: string;
  readonly row: ResourceEntry;
}

export type Entry =
  | { readonly kind: 'all'; readonly text: string }
  | ({ readonly kind: 'crud'; readonly subtype?: string } & OfResource)
  | ({ readonly kind: 'restricted'; readonly fields: readonly string[] } & OfResource)
  | { readonly kind: 'bundle'; readonly text: string; readonly row: TransactionEntry }
  | { readonly kind: 'filter'; readonly text: string; readonly row: FilterEntry }
  | { readonly kind: 'opaque'; readonly text: string; readonly row: OpaqueEntry }
  | SmartScope;

const prefix = 'acl/';
const filterPrefix = 'lab_type_';
const bundlePrefix = 'trans_bndl_';

/** The entry that a text such as `acl/pat_s_id` stands for, or the refusal. Entries are case-sensitive. */
export function parseEntry(text: string): Entry | EntryRefusal {
  if (isSmartLike(text)) return parseSmartScope(text);
  if (text.length > entryCharactersMax) {
    return makeEntryRefusal(text, 'too-long', `an access entry has ${entryCharactersMax} characters at most`);
  }
  if (!text.startsWith(prefix))
    return makeEntryRefusal(text, 'prefix', `an access entry begins with "${prefix}" or "system/"`);
  if (text === allEntry) return { kind: 'all', text };
  const word = text.slice(prefix.length);
  const filter = filterEntries.find(({ code }) => code === word);
  if (filter) return { kind: 'filter', text, row: filter };
  if (word.startsWith(filterPrefix))
    return makeEntryRefusal(text, 'filter', `the order types are ${listEnds(filterEntries, filterPrefix)}`);
  const bundle = bundleEntries.find(({ code }) => code === word);
  if (bundle) return { kind: 'bundle', text, row: bundle };
  if (word.startsWith(bundlePrefix))
    return makeEntryRefusal(text, 'bundle', `the kinds of Bundle are ${listEnds(bundleEntries, bundlePrefix)}`);
  const opaque = opaqueEntries.find(({ code }) => code === word);
  return opaque ? { kind: 'opaque', text, row: opaque } : parseResource(text, word);
}

function listEnds(rows: readonly { readonly code: string }[], start: string): string {
  return rows.map(({ code }) => code.slice(start.length)).join(', ');
}

function parseResource(text: string, word: string): Entry | EntryRefusal {
  const row = resourceEntries.find(({ code }) => word === code || word.startsWith(`${code}_`));
  const unknown = 'no access code begins like this; docs/integrate/access-entries.md lists them';
  if (!row) return makeEntryRefusal(text, 'code', unknown);
  const { code, subtype } = row;
  const [letter = '', ...fields] = word.slice(code.length + 1).split('_');
  if (fields.length > 0) return parseRestricted(text, row, letter, fields);
  if (letter.length !== 1 || !row.letters.includes(letter)) {
    const needsFields = row.letters === '' ? `, and only followed by ${Object.keys(row.fields ?? {}).join(', ')}` : '';
    const letters = [...(row.letters || row.fieldLetters || '')].join(', ');
    return makeEntryRefusal(text, 'letter', `${code} takes ${letters}${needsFields}`);
  }
  return { kind: 'crud', text, code, ...(subtype === undefined ? {} : { subtype }), letter, row };
}

function parseRestricted(
  text: string,
  row: ResourceEntry,
  letter: string,
  fields: readonly string[],
): Entry | EntryRefusal {
  const { code } = row;
  if (!row.fields) return makeEntryRefusal(text, 'field', `${code} takes a letter and no fields`);
  if (letter.length !== 1 || !row.fieldLetters?.includes(letter)) {
    return makeEntryRefusal(text, 'letter', `fields of ${code} follow ${[...(row.fieldLetters ?? '')].join(', ')}`);
  }
  const words = row.fields;
  if (!fields.every((field) => Object.hasOwn(words, field))) {
    return makeEntryRefusal(text, 'field', `the fields of ${code} are ${Object.keys(words).join(', ')}`);
  }
  if (new Set(fields).size !== fields.length) return makeEntryRefusal(text, 'field', 'a field is named twice');
  return { kind: 'restricted', text, code, letter, fields, row };
}

/** The entry as one of each letter: of `.rs` and `.cr`, `.r` is common. Only scopes of SMART have several. */
export function splitEntry(entry: Entry): readonly Entry[] {
  return entry.kind === 'smart' ? splitScope(entry) : [entry];
}

/**
 * Whether a text that is not understood was meant to narrow something. To ignore such a filter would widen what its
 * holder may do, so the policy closes all types that filters narrow.
 */
export function isFilterLike(text: string): boolean {
  return text.startsWith(prefix + filterPrefix);
}

/** Why a text is not a scope of access entries. */
export interface ScopeRefusal {
  /** For whoever sent the scope. */
  readonly diagnostics: string;
}

/** Characters of an RFC 6749 scope-token. https://www.rfc-editor.org/rfc/rfc6749#section-3.3 */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * The entries of a scope: separated by single spaces, duplicates once, in the order of their first occurrence. Empty
 * for the empty scope. The entries are not yet parsed (`parseEntry`).
 */
export function parseScope(scope: string): readonly string[] | ScopeRefusal {
  if (scope === '') return [];
  if (scope.length > scopeCharactersMax) return { diagnostics: `scope has ${scopeCharactersMax} characters at most` };
  const tokens = scope.split(' ');
  if (tokens.length > scopeEntriesMax) return { diagnostics: `scope has ${scopeEntriesMax} entries at most` };
  if (!tokens.every((token) => scopeToken.test(token))) {
    return { diagnostics: 'scope is a list of entries separated by single spaces (RFC 6749, section 3.3)' };
  }
  return [...new Set(tokens)];
}

/** The refusals among some entries, for whoever is about to store them; empty when all are understood. */
export function listEntryRefusals(entries: readonly string[]): readonly EntryRefusal[] {
  return entries.map(parseEntry).filter((entry) => entry.kind === 'refused');
}
