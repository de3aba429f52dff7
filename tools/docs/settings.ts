/** The configuration table of README.md, from the settings of the server. */
import { settings } from '../../packages/server/src/base/settings.ts';
import { code, table } from './markdown.ts';

/** One row per environment variable, in the order of the settings. */
export function settingsTable(): string {
  const rows = Object.values(settings).map((row) => [code(row.env), defaultOf(row), row.description]);
  return table(['Variable', 'Default', 'Meaning'], rows);
}

function defaultOf(row: { readonly default: string; readonly min?: number; readonly max?: number }): string {
  const range = row.min === undefined || row.max === undefined ? '' : ` (${row.min}–${row.max})`;
  return `${row.default === '' ? '' : code(row.default)}${range}`.trim();
}
