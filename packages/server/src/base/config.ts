/**
 * Every setting of the server, as one table: environment variable, kind, default, meaning. The README's configuration
 * table is generated from it. An unknown PRAXIS_ variable or a malformed value is an error at start.
 */

type Kind = 'string' | 'integer' | 'boolean' | 'origin' | 'map' | 'list' | 'logLevel';

interface SettingRow {
  readonly env: string;
  readonly kind: Kind;
  readonly default: string;
  readonly description: string;
  readonly min?: number;
  readonly max?: number;
  /** Never printed. */
  readonly secret?: true;
}

export const settings = {
  host: { env: 'PRAXIS_HOST', kind: 'string', default: '127.0.0.1', description: 'Address to listen on.' },
  port: {
    env: 'PRAXIS_PORT',
    kind: 'integer',
    default: '8080',
    min: 0,
    max: 65535,
    description: 'Port to listen on; 0 takes a free one.',
  },
  metricsPort: {
    env: 'PRAXIS_METRICS_PORT',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 65535,
    description: 'Port of `GET /metrics` for Prometheus, on the same address; 0 = off.',
  },
  dataDir: {
    env: 'PRAXIS_DATA_DIR',
    kind: 'string',
    default: './data',
    description: 'Directory of the embedded database, its keys and `sandbox.json`.',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    kind: 'string',
    default: '',
    secret: true,
    description: 'PostgreSQL (15 or later) as the owner role; empty: the embedded database.',
  },
  runtimeDatabaseUrl: {
    env: 'PRAXIS_RUNTIME_DATABASE_URL',
    kind: 'string',
    default: '',
    secret: true,
    description: 'The same database as the runtime role; empty: the owner connection drops to `praxis_runtime`.',
  },
  databasePoolMax: {
    env: 'PRAXIS_DATABASE_POOL',
    kind: 'integer',
    default: '16',
    min: 1,
    max: 500,
    description: 'Database connections of one process.',
  },
  statementTimeoutMs: {
    env: 'PRAXIS_STATEMENT_TIMEOUT_MS',
    kind: 'integer',
    default: '10000',
    min: 10,
    max: 600000,
    description: 'Longest time of one database statement, in ms; beyond it the answer is 503.',
  },
  secretKey: {
    env: 'PRAXIS_SECRET_KEY',
    kind: 'string',
    default: '',
    secret: true,
    description:
      '32 bytes in base64url that seal signing keys, hash keys and secrets, and seal page links; empty: made once in the data directory (embedded database only).',
  },
  baseUrl: {
    env: 'PRAXIS_BASE_URL',
    kind: 'origin',
    default: '',
    description: 'Public origin of links and issuers, e.g. `https://api.example.com`; empty: `http://{host}:{port}`.',
  },
  environmentOrigins: {
    env: 'PRAXIS_ENVIRONMENT_ORIGINS',
    kind: 'map',
    default: '',
    description:
      'Origin per environment, `sandbox=https://sandbox.example.com,prod=https://api.example.com`; an environment named here answers on that host only.',
  },
  realmOrigins: {
    env: 'PRAXIS_REALM_ORIGINS',
    kind: 'map',
    default: '',
    description:
      'Origin per realm, `production=https://login.example.com`; a realm named here answers on that host only.',
  },
  trustedProxies: {
    env: 'PRAXIS_TRUSTED_PROXIES',
    kind: 'list',
    default: '',
    description: 'Addresses or CIDR ranges whose `X-Forwarded-For` and `X-Forwarded-Host` are believed.',
  },
  corsOrigins: {
    env: 'PRAXIS_CORS_ORIGINS',
    kind: 'list',
    default: '',
    description: 'Origins that browsers may call from; `*` for any.',
  },
  strictKeys: {
    env: 'PRAXIS_STRICT',
    kind: 'boolean',
    default: 'false',
    description:
      'Refuse a client-credentials token request without `x-api-key` at once (the contract answers it with a token that fails later).',
  },
  rateLimit: {
    env: 'PRAXIS_RATE_LIMIT',
    kind: 'integer',
    default: '1250',
    min: 0,
    max: 100000000,
    description: 'Requests per minute per API key; 0 = no limit.',
  },
  clientTokenSeconds: {
    env: 'PRAXIS_CLIENT_TOKEN_SECONDS',
    kind: 'integer',
    default: '900',
    min: 30,
    max: 3600,
    description: 'Validity of a client-credentials access token, in seconds.',
  },
  legacyTokenSeconds: {
    env: 'PRAXIS_LEGACY_TOKEN_SECONDS',
    kind: 'integer',
    default: '3600',
    min: 30,
    max: 86400,
    description: 'Validity of a legacy access token, in seconds.',
  },
  legacyRefreshSeconds: {
    env: 'PRAXIS_LEGACY_REFRESH_SECONDS',
    kind: 'integer',
    default: '2592000',
    min: 60,
    max: 31536000,
    description: 'Validity of a legacy refresh token, in seconds.',
  },
  bodyBytesMax: {
    env: 'PRAXIS_BODY_BYTES_MAX',
    kind: 'integer',
    default: '5242880',
    min: 1024,
    max: 268435456,
    description: 'Largest request body, in bytes.',
  },
  tokenBodyBytesMax: {
    env: 'PRAXIS_TOKEN_BODY_BYTES_MAX',
    kind: 'integer',
    default: '16384',
    min: 256,
    max: 1048576,
    description: 'Largest token request body, in bytes.',
  },
  compressBytesMin: {
    env: 'PRAXIS_COMPRESS_BYTES_MIN',
    kind: 'integer',
    default: '4096',
    min: 0,
    max: 268435456,
    description:
      'Smallest answer of the data API that is compressed for callers who accept gzip or br, in bytes; 0 = none is.',
  },
  uriBytesMax: {
    env: 'PRAXIS_URI_BYTES_MAX',
    kind: 'integer',
    default: '16384',
    min: 256,
    max: 65536,
    description: 'Longest path with query, in bytes.',
  },
  jsonDepthMax: {
    env: 'PRAXIS_JSON_DEPTH_MAX',
    kind: 'integer',
    default: '64',
    min: 8,
    max: 512,
    description: 'Deepest nesting of a JSON or XML body.',
  },
  arrayLengthMax: {
    env: 'PRAXIS_ARRAY_LENGTH_MAX',
    kind: 'integer',
    default: '20000',
    min: 100,
    max: 1000000,
    description: 'Longest array in a JSON body, most repetitions of an element in an XML body.',
  },
  bundleEntriesMax: {
    env: 'PRAXIS_BUNDLE_ENTRIES_MAX',
    kind: 'integer',
    default: '10000',
    min: 1,
    max: 100000,
    description: 'Entries of one batch or transaction.',
  },
  searchValuesMax: {
    env: 'PRAXIS_SEARCH_VALUES_MAX',
    kind: 'integer',
    default: '500',
    min: 10,
    max: 10000,
    description: 'Comma-separated values of one search parameter.',
  },
  searchParametersMax: {
    env: 'PRAXIS_SEARCH_PARAMETERS_MAX',
    kind: 'integer',
    default: '50',
    min: 5,
    max: 1000,
    description: 'Parameters of one search.',
  },
  pageRowsMax: {
    env: 'PRAXIS_PAGE_ROWS_MAX',
    kind: 'integer',
    default: '10000',
    min: 100,
    max: 1000000,
    description: 'Deepest row that a bare `page=N` reaches; beyond it clients follow `next`.',
  },
  drainMs: {
    env: 'PRAXIS_DRAIN_MS',
    kind: 'integer',
    default: '10000',
    min: 0,
    max: 600000,
    description: 'Longest wait for running requests after SIGTERM, in ms.',
  },
  logLevel: {
    env: 'PRAXIS_LOG_LEVEL',
    kind: 'logLevel',
    default: 'info',
    description: '`trace`, `debug`, `info`, `warn`, `error` or `silent`.',
  },
} as const satisfies Record<string, SettingRow>;

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

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** Variables of PRAXIS_ that other commands read, so they are not unknown here. */
const otherVariables: ReadonlySet<string> = new Set(['PRAXIS_TEST_CLUSTER']);

/**
 * The configuration from environment variables.
 * @throws ConfigError naming the variable and the rule it breaks.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const known = new Set<string>(Object.values(settings).map((row) => row.env));
  for (const name of Object.keys(environment)) {
    if (name.startsWith('PRAXIS_') && !known.has(name) && !otherVariables.has(name)) {
      throw new ConfigError(`${name} is not a setting; see the configuration table in README.md`);
    }
  }
  const entries = Object.entries(settings).map(([name, row]) => {
    const given = environment[row.env];
    return [name, parseSetting(row, given === undefined || given === '' ? row.default : given)] as const;
  });
  // The table's kinds decide the value types, entry by entry; TypeScript cannot follow that through Object.entries.
  return Object.fromEntries(entries) as unknown as Config;
}

function parseSetting(
  row: SettingRow,
  text: string,
): string | number | boolean | ReadonlyMap<string, string> | readonly string[] {
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
    case 'logLevel':
      if (!logLevels.includes(text)) throw new ConfigError(`${row.env} must be one of ${logLevels.join(', ')}`);
      return text;
    case 'string':
      return text;
  }
}

function parseInteger(row: SettingRow, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < (row.min ?? 0) || value > (row.max ?? Number.MAX_SAFE_INTEGER)) {
    throw new ConfigError(
      `${row.env} must be an integer from ${row.min ?? 0} to ${row.max ?? Number.MAX_SAFE_INTEGER}`,
    );
  }
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
