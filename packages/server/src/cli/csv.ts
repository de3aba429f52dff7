/**
 * Comma-separated values (https://www.rfc-editor.org/rfc/rfc4180): a heading, then rows.
 */

/** Lines without their ends. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvLines(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [heading, ...rows].map((row) => row.map(cell).join(','));
}

function cell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
