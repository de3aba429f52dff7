/**
 * Scopes that are too long to travel in a token: the token names the digest of its entries instead, and the entries are in
 * the database until the last such token has expired. So a token stays below the limits of headers and proxies, however
 * many entries it stands for.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import type { Database } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { deleteExpired } from '../expired-rows.ts';

/** What a token says about its entries. */
export type CarriedScope = { readonly entries: readonly string[] } | { readonly reference: string };

export interface TokenScopes {
  /** What a token of `entries` carries that is valid for `seconds` from now; a reference can be read by every node. */
  carry(entries: readonly string[], seconds: number): Promise<CarriedScope>;
}

/** References remembered by one process. */
const referencesMax = 1_000;

/** @param charactersMax longest scope that a token carries itself */
export function openTokenScopes(database: Database, clock: Clock, charactersMax: number): TokenScopes {
  /** Reference → until when it is stored. */
  const stored = new LRUCache<string, number>({ max: referencesMax });
  return {
    async carry(entries, seconds) {
      if (entries.join(' ').length <= charactersMax) return { entries };
      const reference = hash('sha256', entries.join(' '), 'base64url');
      const nowMs = clock.now();
      if ((stored.get(reference) ?? 0) >= nowMs + seconds * 1000) return { reference };
      // Twice the time, so that one token in a lifetime writes and the others need not.
      const expiresAtMs = nowMs + 2 * seconds * 1000;
      await database.query(sql`
        WITH expired AS (${deleteExpired('token_scope', nowMs, sql`reference = ${reference}`)})
        INSERT INTO token_scope (reference, entries, expires_at) VALUES (${reference}, ${entries}::text[], ${sql.timestamp(expiresAtMs)})
        ON CONFLICT (reference) DO UPDATE SET expires_at = GREATEST(token_scope.expires_at, EXCLUDED.expires_at)`);
      stored.set(reference, expiresAtMs);
      return { reference };
    },
  };
}
