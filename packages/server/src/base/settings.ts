/**
 * Every setting of the server, as one table: environment variable, kind, default, meaning. The tables of
 * docs/operate/settings.md are generated from it; `config.ts` reads it.
 */
import { logSettings } from './log-settings.ts';
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
    description: 'Directory for the embedded database, its keys, document content and `sandbox.json`.',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    kind: 'string',
    default: '',
    secret: true,
    description: 'Connection URL of PostgreSQL 15 or later, as the owner role. Empty: the embedded database.',
  },
  runtimeDatabaseUrl: {
    env: 'PRAXIS_RUNTIME_DATABASE_URL',
    kind: 'string',
    default: '',
    secret: true,
    description:
      "Connection URL of the same database, as the runtime role. Empty: the owner's connection switches to `praxis_runtime`.",
  },
  ...nodeSettings,
  secretKey: {
    env: 'PRAXIS_SECRET_KEY',
    kind: 'string',
    default: '',
    secret: true,
    description:
      'Secret key: 32 bytes in base64url. It encrypts the data keys in the database, and the database accepts no other secret key after its first start. Empty: a key file in the data directory (embedded database only).',
  },
  secretKeyPrevious: {
    env: 'PRAXIS_SECRET_KEY_PREVIOUS',
    kind: 'string',
    default: '',
    secret: true,
    description:
      'The previous secret key. Set it while you rotate the key (`praxis secret rotate`), and to restore a backup made with that key.',
  },
  baseUrl: {
    env: 'PRAXIS_BASE_URL',
    kind: 'origin',
    default: '',
    description:
      'Public origin for links and issuers, for example `https://api.example.com`. Empty: `http://{host}:{port}`.',
  },
  environmentOrigins: {
    env: 'PRAXIS_ENVIRONMENT_ORIGINS',
    kind: 'map',
    default: '',
    description:
      'Origin per environment, for example `sandbox=https://sandbox.example.com,prod=https://api.example.com`. An environment in this list answers on its own host only.',
  },
  realmOrigins: {
    env: 'PRAXIS_REALM_ORIGINS',
    kind: 'map',
    default: '',
    description:
      'Origin per realm, for example `production=https://login.example.com`. A realm in this list answers on its own host only.',
  },
  completeLagMs: {
    env: 'PRAXIS_COMPLETE_LAG_MS',
    kind: 'integer',
    default: '30000',
    min: 0,
    max: 3600000,
    description:
      'Delay of `X-Complete-Until` behind the clock, in ms. A write that commits later than this after its `lastUpdated` is refused. 0 = the header is not sent.',
  },
  clockOffMaxMs: {
    env: 'PRAXIS_CLOCK_OFF_MAX_MS',
    kind: 'integer',
    default: '5000',
    min: 100,
    max: 3600000,
    description:
      "Largest clock error of this machine or of the database, in ms. Beyond it `/health/ready` answers 503. The service uses the database's time, not this machine's.",
  },
  trustedProxies: {
    env: 'PRAXIS_TRUSTED_PROXIES',
    kind: 'list',
    default: '',
    description:
      'Addresses or CIDR ranges of proxies. Their `X-Forwarded-For` and `X-Forwarded-Host` headers are trusted.',
  },
  hstsSeconds: {
    env: 'PRAXIS_HSTS_SECONDS',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 63072000,
    description:
      '`max-age` of `Strict-Transport-Security`, in seconds, including subdomains. 0 = the header is not sent. Set it only when a proxy terminates TLS.',
  },
  corsOrigins: {
    env: 'PRAXIS_CORS_ORIGINS',
    kind: 'list',
    default: '',
    description:
      'Origins allowed by CORS; `*` allows any. The environment `sandbox` always allows `http://localhost` and `http://127.0.0.1`, on any port.',
  },
  strictKeys: {
    env: 'PRAXIS_STRICT',
    kind: 'boolean',
    default: 'false',
    description:
      'Refuse a client-credentials token request without `x-api-key`. By default it gets a token that cannot be used, as the contract demands.',
  },
  rateLimit: {
    env: 'PRAXIS_RATE_LIMIT',
    kind: 'integer',
    default: '1250',
    min: 0,
    max: 100000000,
    description: 'Requests per minute for one API key. 0 = no limit.',
  },
  firmRateLimit: {
    env: 'PRAXIS_FIRM_RATE_LIMIT',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 100000000,
    description: 'Requests per minute at one firm, by all applications together. 0 = no limit.',
  },
  addressRateLimit: {
    env: 'PRAXIS_ADDRESS_RATE_LIMIT',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 100000000,
    description: 'Requests per minute from one client address. 0 = no limit.',
  },
  guessLimit: {
    env: 'PRAXIS_GUESS_LIMIT',
    kind: 'integer',
    default: '100',
    min: 0,
    max: 1000000,
    description:
      'Failed token requests per minute for one account or client. One address may fail ten times as often. Each valid API key has its own count. 0 = no limit. Administrator passwords have separate limits.',
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
      'Longest `scope` inside a client-credentials token, in characters. A longer scope stays in the database, and the token refers to it.',
  },
  jwksLoopback: {
    env: 'PRAXIS_JWKS_LOOPBACK',
    kind: 'boolean',
    default: 'false',
    description:
      'For development: allow `jwks_uri` on this machine, also over http. By default it must be https at a public address.',
  },
  deliveryPauseMs: {
    env: 'PRAXIS_DELIVERY_PAUSE_MS',
    kind: 'integer',
    default: '5000',
    min: 10,
    max: 60000,
    description:
      'Pause after the first failed delivery to an endpoint, in ms. Each further pause is twice as long, up to 720 times the first. After 51,840 times the first, 72 hours by default, the subscription is in error.',
  },
  subscriptionsMax: {
    env: 'PRAXIS_SUBSCRIPTIONS_MAX',
    kind: 'integer',
    default: '100',
    min: 1,
    max: 100000,
    description: 'Most Subscriptions of one application at one firm that are not `off`.',
  },
  outboundLoopback: {
    env: 'PRAXIS_OUTBOUND_LOOPBACK',
    kind: 'list',
    default: '',
    description:
      'For development: environments whose subscriptions may send to endpoints on this machine, also over http. By default an endpoint must be https at a public address. `npm start` allows `sandbox`.',
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
    description: 'Largest file for a one-time upload URL, in bytes.',
  },
  s3Bucket: {
    env: 'PRAXIS_S3_BUCKET',
    kind: 'string',
    default: '',
    description: 'S3 bucket for document content. Empty: the data directory.',
  },
  s3Endpoint: {
    env: 'PRAXIS_S3_ENDPOINT',
    kind: 'origin',
    default: '',
    description: 'Origin of the S3 service, for example `https://s3.example.com`. Empty: Amazon S3.',
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
      'Access key ID for the bucket. Empty: the default credential chain of the AWS SDK (environment, role of the machine).',
  },
  s3SecretAccessKey: {
    env: 'PRAXIS_S3_SECRET_ACCESS_KEY',
    kind: 'string',
    default: '',
    secret: true,
    description: 'Secret access key for the bucket.',
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
    description: 'Smallest response of the data API to compress with gzip or br, in bytes. 0 = no compression.',
  },
  uriBytesMax: {
    env: 'PRAXIS_URI_BYTES_MAX',
    kind: 'integer',
    default: '16384',
    min: 256,
    max: 65536,
    description: 'Longest path and query, in bytes.',
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
    description: 'Longest array in a JSON body, and most repetitions of one element in an XML body.',
  },
  bundleEntriesMax: {
    env: 'PRAXIS_BUNDLE_ENTRIES_MAX',
    kind: 'integer',
    default: '10000',
    min: 1,
    max: 100000,
    description: 'Most entries in one batch or transaction.',
  },
  bundleAnswerBytesMax: {
    env: 'PRAXIS_BUNDLE_ANSWER_BYTES_MAX',
    kind: 'integer',
    default: '67108864',
    min: 1024,
    max: 209715200, // a quarter of it is XML of at most ten times the length, which a string of V8 still holds
    description:
      'Largest response to a batch or transaction, in bytes of its entries. For XML the limit is a quarter of this.',
  },
  bundleAnswersBytesMax: {
    env: 'PRAXIS_BUNDLE_ANSWERS_BYTES_MAX',
    kind: 'integer',
    default: '268435456',
    min: 1024,
    max: 17179869184,
    description:
      'Memory of one process for all responses to batches and transactions in progress, in bytes. One API key gets a quarter.',
  },
  searchValuesMax: {
    env: 'PRAXIS_SEARCH_VALUES_MAX',
    kind: 'integer',
    default: '500',
    min: 10,
    max: 10000,
    description: 'Most comma-separated values in one search parameter.',
  },
  searchParametersMax: {
    env: 'PRAXIS_SEARCH_PARAMETERS_MAX',
    kind: 'integer',
    default: '50',
    min: 5,
    max: 1000,
    description: 'Most parameters in one search.',
  },
  pageRowsMax: {
    env: 'PRAXIS_PAGE_ROWS_MAX',
    kind: 'integer',
    default: '10000',
    min: 100,
    max: 1000000,
    description: 'Deepest row that `page=N` reaches without a cursor. Beyond it clients follow the `next` link.',
  },
  auditSealMs: {
    env: 'PRAXIS_AUDIT_SEAL_MS',
    kind: 'integer',
    default: '1000',
    min: 0,
    description: 'Pause between two seals of the audit ledger, in ms. 0 = this process does not seal.',
  },
  drainMs: {
    env: 'PRAXIS_DRAIN_MS',
    kind: 'integer',
    default: '10000',
    min: 0,
    max: 600000,
    description: 'Longest wait for running requests after SIGTERM, in ms.',
  },
  ...logSettings,
} as const satisfies Record<string, SettingRow>;
