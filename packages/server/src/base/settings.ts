/**
 * Every setting of the server, as one table: environment variable, kind, default, meaning. The tables of
 * docs/operate/settings.md are generated from it; `config.ts` reads it.
 */
import { nodeSettings } from './node-settings.ts';

import type { SettingRow } from './setting-row.ts';
import { transferSettings } from './transfer-settings.ts';

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
    description: 'Directory of the embedded database, its keys, the content of documents and `sandbox.json`.',
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
  ...nodeSettings,
  secretKey: {
    env: 'PRAXIS_SECRET_KEY',
    kind: 'string',
    default: '',
    secret: true,
    description:
      '32 bytes in base64url that wrap the keys of the database, which belongs to this key from its first start on; empty: made in the data directory together with the database (embedded database only).',
  },
  secretKeyPrevious: {
    env: 'PRAXIS_SECRET_KEY_PREVIOUS',
    kind: 'string',
    default: '',
    secret: true,
    description:
      'The key before, which the database may still belong to, while the key is being changed (`praxis secret rotate`) and for the restore of a backup that was made under it.',
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
  completeLagMs: {
    env: 'PRAXIS_COMPLETE_LAG_MS',
    kind: 'integer',
    default: '30000',
    min: 0,
    max: 3600000,
    description:
      'How far behind the clock the moment is up to which searches by `_lastUpdated` say that they are complete (`X-Complete-Until`), in milliseconds; a version that reaches the database later after its time is refused; 0 = it is not said.',
  },
  clockOffMaxMs: {
    env: 'PRAXIS_CLOCK_OFF_MAX_MS',
    kind: 'integer',
    default: '5000',
    min: 100,
    max: 3600000,
    description:
      "How far the clock of this machine, or of the database, may be off until `/health/ready` says 503, in ms. The time of the service is the database's, whatever this machine's clock shows.",
  },
  trustedProxies: {
    env: 'PRAXIS_TRUSTED_PROXIES',
    kind: 'list',
    default: '',
    description: 'Addresses or CIDR ranges whose `X-Forwarded-For` and `X-Forwarded-Host` are believed.',
  },
  hstsSeconds: {
    env: 'PRAXIS_HSTS_SECONDS',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 63072000,
    description:
      'How long browsers come by https alone (`Strict-Transport-Security`, also of subdomains), in seconds; 0 = it is not said. Only where TLS ends before the service.',
  },
  corsOrigins: {
    env: 'PRAXIS_CORS_ORIGINS',
    kind: 'list',
    default: '',
    description:
      'Origins that browsers may call from; `*` for any. In the environment `sandbox`, `http://localhost` and `http://127.0.0.1` may always, with any port.',
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
  firmRateLimit: {
    env: 'PRAXIS_FIRM_RATE_LIMIT',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 100000000,
    description: 'Requests per minute per firm, of all applications together; 0 = no limit.',
  },
  addressRateLimit: {
    env: 'PRAXIS_ADDRESS_RATE_LIMIT',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 100000000,
    description: 'Requests per minute per address of a caller; 0 = no limit.',
  },
  guessLimit: {
    env: 'PRAXIS_GUESS_LIMIT',
    kind: 'integer',
    default: '100',
    min: 0,
    max: 1000000,
    description:
      'Wrong token requests per minute at one account or client, ten times as many from one address; live API keys are counted apart; 0 = no limit. Passwords of administrators have limits of their own.',
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
  tokenScopeCharactersMax: {
    env: 'PRAXIS_TOKEN_SCOPE_CHARACTERS_MAX',
    kind: 'integer',
    default: '2048',
    min: 0,
    max: 8192,
    description:
      'Longest `scope` that a client-credentials token carries itself, in characters; a longer one is kept in the database and the token refers to it.',
  },
  jwksLoopback: {
    env: 'PRAXIS_JWKS_LOOPBACK',
    kind: 'boolean',
    default: 'false',
    description:
      "Fetch clients' `jwks_uri` from this machine, too, also by http: for development. Otherwise they are https and of the public Internet.",
  },
  bodyBytesMax: {
    env: 'PRAXIS_BODY_BYTES_MAX',
    kind: 'integer',
    default: '5242880',
    min: 1024,
    max: 268435456,
    description: 'Largest request body, in bytes.',
  },
  uploadBytesMax: {
    env: 'PRAXIS_UPLOAD_BYTES_MAX',
    kind: 'integer',
    default: '52428800',
    min: 1024,
    max: 4294967296,
    description: 'Largest file that is uploaded by a one-time URL, in bytes.',
  },
  s3Bucket: {
    env: 'PRAXIS_S3_BUCKET',
    kind: 'string',
    default: '',
    description: 'Bucket that holds the content of documents; empty: it lies in the data directory.',
  },
  s3Endpoint: {
    env: 'PRAXIS_S3_ENDPOINT',
    kind: 'origin',
    default: '',
    description: "Origin of the bucket's service, `https://s3.example.com`; empty: Amazon's.",
  },
  s3Region: {
    env: 'PRAXIS_S3_REGION',
    kind: 'string',
    default: 'us-east-1',
    description: 'Region of the bucket.',
  },
  s3AccessKeyId: {
    env: 'PRAXIS_S3_ACCESS_KEY_ID',
    kind: 'string',
    default: '',
    description:
      "Access key for the bucket; empty: as Amazon's library finds credentials, in the environment or of the machine's role.",
  },
  s3SecretAccessKey: {
    env: 'PRAXIS_S3_SECRET_ACCESS_KEY',
    kind: 'string',
    default: '',
    secret: true,
    description: 'Secret of the access key.',
  },
  ...transferSettings,
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
  bundleAnswerBytesMax: {
    env: 'PRAXIS_BUNDLE_ANSWER_BYTES_MAX',
    kind: 'integer',
    default: '67108864',
    min: 1024,
    max: 209715200, // a quarter of it is XML of at most ten times the length, which a string of V8 still holds
    description:
      'Largest answer to a batch or transaction, in bytes of what its entries are answered with; in XML a quarter of it.',
  },
  bundleAnswersBytesMax: {
    env: 'PRAXIS_BUNDLE_ANSWERS_BYTES_MAX',
    kind: 'integer',
    default: '268435456',
    min: 1024,
    max: 17179869184,
    description: 'The same of all such answers that a process has under way; one API key gets a quarter of it.',
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
  auditSealMs: {
    env: 'PRAXIS_AUDIT_SEAL_MS',
    kind: 'integer',
    default: '1000',
    min: 0,
    description: 'Pause between two seals of the audit ledger, in ms; 0 = this process makes none.',
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
