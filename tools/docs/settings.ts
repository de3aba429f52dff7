/** The tables of docs/operate/settings.md, from the settings of the server, by what they are about. */
import { settings } from '../../packages/server/src/base/settings.ts';
import { code, table } from './markdown.ts';

type Setting = keyof typeof settings;

/** Heading → its settings; each setting of the server has one place. */
const groups: Readonly<Record<string, readonly Setting[]>> = {
  'Address, logs and traces': [
    'host',
    'port',
    'baseUrl',
    'environmentOrigins',
    'realmOrigins',
    'metricsPort',
    'logLevel',
    'accessLog',
    'tracesOrigin',
    'tracesPercent',
    'logFormat',
  ],
  'Database and data': [
    'dataDir',
    'databaseUrl',
    'runtimeDatabaseUrl',
    'databasePoolMax',
    'statementTimeoutMs',
    'transactionTimeoutMs',
    'auditSealMs',
    'completeLagMs',
    'clockOffMaxMs',
  ],
  'Processes of a node': ['workers', 'workerMemoryMb', 'drainMs'],
  'Secret key': ['secretKey', 'secretKeyPrevious'],
  'Proxies and browsers': ['trustedProxies', 'hstsSeconds', 'corsOrigins'],
  'Tokens and keys': [
    'strictKeys',
    'clientTokenSeconds',
    'legacyTokenSeconds',
    'legacyRefreshSeconds',
    'tokenScopeCharactersMax',
    'tokenBodyBytesMax',
    'jwksLoopback',
  ],
  'Rate limits': ['rateLimit', 'firmRateLimit', 'addressRateLimit', 'guessLimit'],
  Subscriptions: ['subscriptionsMax', 'deliveryPauseMs', 'outboundLoopback'],
  Documents: ['uploadBytesMax', 's3Bucket', 's3Endpoint', 's3Region', 's3AccessKeyId', 's3SecretAccessKey'],
  'Connections and transfer': [
    'connectionsPerAddress',
    'transferSeconds',
    'transferBytesPerSecond',
    'compressBytesMin',
  ],
  'Size of requests': ['bodyBytesMax', 'bodiesBytesMax', 'uriBytesMax', 'jsonDepthMax', 'arrayLengthMax'],
  'Bundles and searches': [
    'bundleEntriesMax',
    'bundleAnswerBytesMax',
    'bundleAnswersBytesMax',
    'searchValuesMax',
    'searchParametersMax',
    'pageRowsMax',
  ],
};

/**
 * A heading and a table for each group: one row per environment variable.
 * @throws when a setting is in no group, or in two
 */
export function settingsTables(): string {
  const placed = Object.values(groups).flat();
  for (const name of Object.keys(settings) as Setting[]) {
    const places = placed.filter((each) => each === name).length;
    if (places !== 1)
      throw new Error(`tools/docs/settings.ts: the setting ${name} is in ${places} groups instead of 1`);
  }
  return Object.entries(groups)
    .map(([heading, names]) => `\n## ${heading}\n\n${table(['Variable', 'Default', 'Meaning'], names.map(rowOf))}`)
    .join('\n');
}

function rowOf(name: Setting): readonly string[] {
  const row = settings[name];
  return [code(row.env), defaultOf(row), row.description];
}

function defaultOf(row: { readonly default: string; readonly min?: number; readonly max?: number }): string {
  const range = row.min === undefined || row.max === undefined ? '' : ` (${row.min}–${row.max})`;
  return `${row.default === '' ? '' : code(row.default)}${range}`.trim();
}
