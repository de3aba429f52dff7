import type { PendingRow } from '../packages/server/src/audit/ledger-statements.ts';

/**
 * Rows of the audit ledger as reads of one application leave them, three a millisecond.
 * @param idOf id of the patient whom each of them concerns
 */
export function ledgerRows(
  count: number,
  atMs: number,
  idOf: (at: number) => string = (at) => `4500${at % 97}`,
): PendingRow[] {
  return Array.from({ length: count }, (_, at) => {
    const id = idOf(at);
    const who = {
      application: 1,
      subject: 'client-0123456789',
      tokenId: 'token-abcdefghijklmnop',
      flow: 'client_credentials',
    };
    const what = { interaction: 'read', typeNumber: 12, id, shown: 1, elements: 'all', entries: ['acl/*'] } as const;
    const row = {
      atMs: atMs + Math.floor(at / 3),
      requestId: `request-${atMs}-${at}`,
      outcome: 0,
      ...who,
      ...what,
    } as const;
    return { row: { ...row, patients: { ids: [id], more: false } }, times: 1, elements: 'all' };
  });
}
