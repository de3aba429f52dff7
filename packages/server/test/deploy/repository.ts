/** Files of the repository as its deployment tests read them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { SettingRow } from '../../src/base/setting-row.ts';
import { settings } from '../../src/base/settings.ts';

/** The root of the clone. */
export const root = path.join(import.meta.dirname, '../../../..');

/** A file's text, by its path from the root. */
export function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

/** A file of YAML as a value. @throws for what is no YAML 1.2, or names a key twice */
// biome-ignore lint/suspicious/noExplicitAny: tests assert on documents of many shapes.
export function readYaml(file: string): any {
  return parse(read(file), { strict: true, uniqueKeys: true });
}

/** What is not a variable that the service takes. */
export function listUnknownVariables(names: Iterable<string>): readonly string[] {
  const rows: readonly SettingRow[] = Object.values(settings);
  const known = new Set(rows.flatMap(({ env, secret }) => (secret === true ? [env, `${env}_FILE`] : env)));
  return [...names].filter((name) => !known.has(name));
}
