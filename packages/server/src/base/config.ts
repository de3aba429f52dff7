/**
 * The settings that the environment gives (settings.ts is the table). An unknown PRAXIS_ variable or a malformed value is an
 * error at start.
 */
import { readFileSync } from 'node:fs';
import { suggestName } from '@praxis/fhir/suggestion';
import type { Kind, SettingRow } from './setting-row.ts';
import { settings } from './settings.ts';

type Value<K extends Kind> = K extends 'integer'
  ? number
  : K extends 'boolean'
    ? boolean
    : K extends 'map'
      ? ReadonlyMap<string, string>
      : K extends 'list'
        ? readonly string[]
        : string;

export type Config = { readonly [N in keyof typeof settings]: Value<(typeof settings)[N]['kind']> };

/** A setting is unknown or malformed; the message names the variable and what it takes. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Longest secret in a file. */
const secretCharactersMax = 4_096;

/** Variables of PRAXIS_ that other commands read, so they are not unknown here. */
const otherVariables: ReadonlySet<string> = new Set([
  'PRAXIS_TEST_CLUSTER',
  // praxis listen
  'PRAXIS_CLIENT_ID',
  'PRAXIS_CLIENT_SECRET',
  'PRAXIS_API_KEY',
  'PRAXIS_WEBHOOK_SECRET',
]);

/**
 * The configuration from environment variables.
 * @throws ConfigError naming the variable and the rule it breaks.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const rows: readonly SettingRow[] = Object.values(settings);
  const known = new Set(rows.flatMap((row) => (row.secret === true ? [row.env, nameOfFile(row)] : row.env)));
  for (const name of Object.keys(environment)) {
    if (name.startsWith('PRAXIS_') && !known.has(name) && !otherVariables.has(name)) {
      throw new ConfigError(
        `${name} is not a setting${suggestName(name, known) || ';'} docs/operate/settings.md lists them`,
      );
    }
  }
  const entries = Object.entries(settings).map(([name, row]) => {
    const given = findText(row, environment);
    return [name, parseSetting(row, given === undefined || given === '' ? row.default : given)] as const;
  });
  // The table's kinds decide the value types, entry by entry; TypeScript cannot follow that through Object.entries.
  return Object.fromEntries(entries) as unknown as Config;
}

/** The variable that names a file with a secret: an environment is seen by more people and programs than a file. */
function nameOfFile({ env }: SettingRow): string {
  return `${env}_FILE`;
}

function findText(row: SettingRow, environment: Parameters<typeof readConfig>[0]): string | undefined {
  const given = environment[row.env];
  const variable = nameOfFile(row);
  const file = row.secret === true ? (environment[variable] ?? '') : '';
  if (file === '') return given;
  if (given !== undefined && given !== '') throw new ConfigError(`${row.env} and ${variable} are set: set one of them`);
  return readSecretFile(variable, file);
}

/** Without the end of its last line, which editors add. */
function readSecretFile(variable: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new ConfigError(`${variable} names ${file}, which cannot be read (${code})`);
  }
  if (text === '' || text.length > secretCharactersMax || /[\r\n]/.test(text))
    throw new ConfigError(`${variable} must name a file with one line of 1 to ${secretCharactersMax} characters`);
  return text;
}

function parseSetting(row: SettingRow, text: string) {
  switch (row.kind) {
    case 'integer':
      return parseInteger(row, text);
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new ConfigError(`${row.env} must be true or false`);
      return text === 'true';
    case 'origin':
      return text === '' ? '' : parseOrigin(row.env, text);
    case 'map':
      return new Map(splitList(text).map((pair) => parsePair(row.env, pair)));
    case 'list':
      return splitList(text);
    case 'choice':
      return parseChoice(row, text);
    case 'string':
      return text;
  }
}

function parseChoice({ env, values = [] }: SettingRow, text: string): string {
  if (values.includes(text)) return text;
  throw new ConfigError(`${env} must be one of ${values.join(', ')}${suggestName(text, values)}`);
}

function parseInteger({ env, min = 0, max = Number.MAX_SAFE_INTEGER }: SettingRow, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new ConfigError(`${env} must be an integer from ${min} to ${max}`);
  return value;
}

function parseOrigin(env: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.hash || url.username) {
    throw new ConfigError(`${env} must hold origins such as https://api.example.com, without a path`);
  }
  return url.origin;
}

function parsePair(env: string, pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new ConfigError(`${env} takes name=origin pairs separated by commas`);
  return [pair.slice(0, at).trim(), parseOrigin(env, pair.slice(at + 1).trim())];
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
