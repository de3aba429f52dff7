/** The tables of docs/practice/application-settings.md. */
import { contentFlagMeanings } from '../../packages/server/src/engine/context.ts';
import { applicationSettings } from '../../packages/server/src/tenancy/application-settings.ts';
import { code, table } from './markdown.ts';

/** One row per setting. */
export function applicationSettingsTable(): string {
  const rows = Object.entries(applicationSettings).map(([name, { meaning, habit }]) => [code(name), meaning, habit]);
  return table(['Setting', 'Meaning', 'Habit that it is for'], rows);
}

/** One row per value of the header. */
export function contentFlagTable(): string {
  const rows = Object.entries(contentFlagMeanings).map(([name, meaning]) => [code(name), meaning]);
  return table(['Value', 'Meaning'], rows);
}
