/**
 * The dimensions of a ledger (migration 0037): callers and actions, which most rows repeat, and which rows refer to by keys. A
 * process adds a caller or an action under a random key of its own with the first row that needs it, and knows the key once that
 * row is written: so no process waits for another, and several keys may stand for the same (docs/decisions/0296).
 */
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../base/bounded-entries.ts';
import { drawRandomBytes } from '../base/ids.ts';
import type { ProvenColumns } from './proof.ts';

/** Columns of audit_caller. */
export type LedgerCaller = Pick<ProvenColumns, 'application' | 'subject' | 'token_id' | 'flow'>;

/** Columns of audit_action. */
export type LedgerAction = Pick<ProvenColumns, 'rtype' | 'outcome' | 'interaction' | 'elements' | 'entries' | 'reason'>;

/** A row of a dimension; the key as a decimal number. */
export type Keyed<Row> = Row & { readonly key: string };

/** Rows of dimensions that are not in the ledger yet. */
export interface NewKeys {
  readonly callers: readonly Keyed<LedgerCaller>[];
  readonly actions: readonly Keyed<LedgerAction>[];
}

/** The keys of one statement, or of the statements of one transaction. */
export interface KeyUse {
  callerKey(row: LedgerCaller): string;
  actionKey(row: LedgerAction): string;
  /** What the next statement has to add: the keys that were given since the last call and that the ledger may not have. */
  takeNew(): NewKeys;
  /** Notes that the statements are committed: their keys are for everybody from now on. */
  commit(): void;
  /** Notes that something of the transaction was undone: what it had added may be gone. */
  forget(): void;
}

export interface Dimensions {
  begin(firm: number): KeyUse;
  /** Forgets all keys: the database does not have what it had. */
  forget(): void;
}

/** Callers and actions that a process knows the keys of. */
const knownMax = 20_000;

export function openDimensions(): Dimensions {
  const known = new LRUCache<string, string>(boundEntries(knownMax));
  return { begin: (firm) => beginUse(known, firm), forget: () => known.clear() };
}

function beginUse(known: LRUCache<string, string>, firm: number): KeyUse {
  const given = new Map<string, string>();
  /** Those of `known` that were asked for: a statement asks for few, and often. */
  const found = new Map<string, string>();
  let callers: Keyed<LedgerCaller>[] = [];
  let actions: Keyed<LedgerAction>[] = [];
  const keyOf = (text: string, add: (key: string) => void): string => {
    const key = found.get(text) ?? given.get(text) ?? known.get(text);
    if (key !== undefined) {
      found.set(text, key);
      return key;
    }
    const made = makeKey();
    given.set(text, made);
    add(made);
    return made;
  };
  return {
    callerKey({ application, subject, token_id, flow }) {
      return keyOf(`${firm}\0${application}${joined(subject, token_id, flow)}`, (key) =>
        callers.push({ key, application, subject, token_id, flow }),
      );
    },
    actionKey({ rtype, outcome, interaction, elements, entries, reason }) {
      return keyOf(`${firm}\0${interaction}\0${rtype}\0${outcome}${joined(elements, entries, reason)}`, (key) =>
        actions.push({ key, rtype, outcome, interaction, elements, entries, reason }),
      );
    },
    takeNew() {
      const taken = { callers, actions };
      callers = [];
      actions = [];
      return taken;
    },
    commit() {
      for (const [text, key] of given) known.set(text, key);
    },
    forget() {
      given.clear();
      found.clear();
      callers = [];
      actions = [];
    },
  };
}

/** No columns make the text of others: none holds the first character, and what is NULL differs from what is empty. */
function joined(...columns: readonly (string | null)[]): string {
  let text = '';
  for (const column of columns) text += column === null ? '\0' : `\0=${column}`;
  return text;
}

function makeKey(): string {
  return String(drawRandomBytes(8).readBigInt64BE());
}
