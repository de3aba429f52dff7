/** Rows of several firms in one answer. */

interface PlacedFirm {
  readonly id: number;
  readonly prefix: string;
}

/**
 * Firm by firm, each as its own: no statement reads rows of several. As many rows as an answer has, and one more.
 * @param read the rows of a firm, so many at most
 */
export async function listOverFirms<Row extends object>(
  firms: readonly PlacedFirm[],
  rowsMax: number,
  read: (firm: number, limit: number) => Promise<readonly Row[]>,
): Promise<readonly (Row & { readonly firm: string })[]> {
  const rows: (Row & { readonly firm: string })[] = [];
  for (const { id, prefix } of firms) {
    const limit = rowsMax + 1 - rows.length;
    if (limit <= 0) break;
    for (const row of await read(id, limit)) rows.push({ ...row, firm: prefix });
  }
  return rows;
}
