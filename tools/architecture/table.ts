/**
 * The architecture as data: which package and which module may import what, who may call the makers of the types that
 * guard tenants and disclosure, and how files are named and how long they are. `tools/check-architecture.ts` enforces
 * it and prints it into docs/contribute/architecture.md.
 */

/** A package under packages/: the packages of ours that it may import, and whether it may reach outside of JavaScript. */
export interface PackageRule {
  readonly purpose: string;
  readonly imports: readonly string[];
  /** No Node modules and no packages of others: it runs in browsers too. */
  readonly pure?: true;
  /** Files of a pure package that need Node: entries of their own, which no other source imports. */
  readonly nodeFiles?: readonly string[];
}

/** Packages of ours by directory. A directory without a row is an error. */
export const packages: Readonly<Record<string, PackageRule>> = {
  fhir: {
    purpose: 'FHIR R4 definitions, types, JSON, the FHIRPath that search needs, validation',
    imports: [],
    pure: true,
  },
  'embedded-postgres': {
    purpose: 'a PostgreSQL from npm that the processes of an application share; knows nothing of Praxis',
    imports: [],
  },
  client: { purpose: 'the published TypeScript SDK', imports: [], pure: true, nodeFiles: ['node.ts'] },
  server: { purpose: 'the service, its command line, its synthetic practices', imports: ['fhir', 'embedded-postgres'] },
  console: { purpose: 'web app for practices, vendors and operators', imports: ['client'] },
};

export interface Tier {
  readonly name: string;
  /** From left to right; modules of one group stand side by side and do not import each other. */
  readonly groups: readonly (readonly ModuleRow[])[];
}

export interface ModuleRow {
  readonly name: string;
  readonly purpose: string;
}

/**
 * The modules of packages/server/src, tier by tier from the bottom. A module imports any lower tier, and in its own
 * tier what stands to its left. Type imports count.
 */
export const tiers: readonly Tier[] = [
  {
    name: 'foundation',
    groups: [
      [
        { name: 'base', purpose: 'errors table, settings, clock, ids, log, metrics' },
        { name: 'version', purpose: 'what is running' },
      ],
      [{ name: 'database', purpose: 'the `sql` template, transactions, migrations' }],
    ],
  },
  {
    name: 'capabilities',
    groups: [
      [{ name: 'tenancy', purpose: 'environment, firm, product → `TenantScope`' }],
      [
        { name: 'access', purpose: 'access entries, policies, the field mask' },
        { name: 'search', purpose: 'search parameters: parse, index, match; query plans; page links' },
        { name: 'audit', purpose: 'the ledger of who did or was refused what, its seals and their verification' },
        { name: 'jobs', purpose: 'work that outlives a request' },
        { name: 'limits', purpose: 'how much a caller may ask for: rates, the budget of one request, turns' },
        { name: 'terminology', purpose: 'code systems and value sets: expansion, membership, subsumption' },
        {
          name: 'content',
          purpose: 'where the bytes of documents lie, a directory or a bucket of S3, and which media types are taken',
        },
        { name: 'outbound', purpose: 'requests to hosts that others name: which are open, limits, signatures' },
      ],
      [{ name: 'validation', purpose: 'profiles, invariants, slicing, terminology bindings' }],
    ],
  },
  {
    name: 'stores',
    groups: [
      [
        {
          name: 'storage',
          purpose: 'resources, versions, index rows, change feed; `run` for the statements of features',
        },
        { name: 'oauth', purpose: 'grants, clients, keys, tokens' },
      ],
      [
        { name: 'indexing', purpose: 'index rows of what was stored before a search parameter was defined' },
        { name: 'keys', purpose: 'the secret key of the installation, and the data keys that it wraps' },
        { name: 'offboarding', purpose: 'which tables hold rows of a firm; erasing all of them, and the proof of it' },
      ],
    ],
  },
  {
    name: 'domain',
    groups: [
      [{ name: 'resources', purpose: 'what a resource type may do beyond being stored: behaviour, tables of states' }],
    ],
  },
  {
    name: 'FHIR API',
    groups: [
      [
        {
          name: 'engine',
          purpose: 'the interactions of R4: read, write, search and history behind one dispatch, and their rights',
        },
      ],
      [{ name: 'bulk-export', purpose: 'everything of a firm as files' }],
      [{ name: 'operations', purpose: 'operations: definition and handler' }],
      [
        { name: 'bundle', purpose: 'batch and transaction' },
        {
          name: 'actions',
          purpose: 'how an action of administration is described, and what the handlers of all share',
        },
      ],
    ],
  },
  {
    name: 'practice',
    groups: [
      [
        {
          name: 'practice',
          purpose:
            'one folder a feature: its rules, statements, hooks of resource types, operations and actions of administration',
        },
      ],
    ],
  },
  {
    name: 'delivery',
    groups: [
      [{ name: 'admin', purpose: 'administration of tenants' }],
      [{ name: 'openapi', purpose: 'the OpenAPI document, derived from the tables of what it describes' }],
      [{ name: 'reference', purpose: 'pages of the documentation: guides, and one for each operation' }],
      [{ name: 'http', purpose: 'routes, authentication, answers' }],
    ],
  },
  {
    name: 'entry',
    groups: [
      [{ name: 'app', purpose: 'the only constructor of long-lived objects' }],
      [{ name: 'cli', purpose: 'the `praxis` command' }],
    ],
  },
];

/** Modules beside the tiers: they import packages of ours only, and the top tier alone imports them. */
export const sideModules: readonly ModuleRow[] = [
  { name: 'synthetic', purpose: 'made-up practices, deterministic by seed' },
];

/**
 * Packages of others → the modules of the server that may import them. A package that is not listed is refused, so a
 * new dependency is a visible decision. A package of ours that is not listed is open to all.
 */
export const dependencyImporters: Readonly<Record<string, readonly string[]>> = {
  '@aws-sdk/client-s3': ['content'],
  '@faker-js/faker': ['synthetic'],
  '@fastify/cors': ['http'],
  '@lhncbc/ucum-lhc': ['search'],
  '@praxis/embedded-postgres': ['database'],
  fastify: ['http'],
  fhirpath: ['validation'],
  'ipaddr.js': ['outbound'],
  jose: ['oauth'],
  'lru-cache': ['base', 'database', 'tenancy', 'search', 'audit', 'validation', 'oauth', 'practice', 'http'],
  marked: ['reference'],
  pg: ['database'],
  pino: ['base'],
  'prom-client': ['base'],
  re2js: ['terminology'],
  'temporal-polyfill': ['base', 'synthetic'],
  ws: ['http'],
};

/** Node modules → the modules of the server that may import them; those that are not listed are open to all. */
export const builtinImporters: Readonly<Record<string, readonly string[]>> = {
  'node:child_process': ['cli'],
  'node:http': ['http', 'cli', 'outbound'],
  'node:http2': [],
  'node:https': ['outbound'],
  'node:net': ['http', 'cli', 'outbound'],
  'node:tls': ['http', 'cli'],
};

/** A function that only some may call; `callers` are modules, or files by their path in packages/server/src. */
export interface Maker {
  readonly name: string;
  readonly file: string;
  readonly callers: readonly string[];
  readonly reason: string;
}

const disclosure = 'access/disclosure.ts';

export const makers: readonly Maker[] = [
  {
    name: 'openDatabase',
    file: 'database/database.ts',
    callers: ['app.ts'],
    reason: 'one pool of connections per process',
  },
  {
    name: 'openStore',
    file: 'storage/store.ts',
    callers: ['app.ts'],
    reason: 'objects with a lifetime are made in one place',
  },
  {
    name: 'openServer',
    file: 'http/server.ts',
    callers: ['app.ts'],
    reason: 'objects with a lifetime are made in one place',
  },
  {
    name: 'openScope',
    file: 'tenancy/scope.ts',
    callers: ['tenancy', 'oauth', 'http', 'app', 'cli'],
    reason: 'a scope is made from an authorisation that was read, for one firm',
  },
  {
    name: 'openBudgets',
    file: 'limits/budgets.ts',
    callers: ['app.ts'],
    reason: 'all budgets of a process share its event loop',
  },
  {
    name: 'openOperatorBudget',
    file: 'limits/budgets.ts',
    callers: ['cli'],
    reason: 'only what an operator runs in a process of its own may cost what it likes',
  },
  {
    name: 'makeUnlimitedSteps',
    file: 'limits/budgets.ts',
    callers: ['storage/ledger-search.ts'],
    reason: 'what the server makes of values of its own costs what nobody chooses',
  },
  {
    name: 'boxStored',
    file: disclosure,
    callers: [
      'storage',
      'engine',
      'practice/booking/backfill-statements.ts',
      'practice/calendars/slots/offered-slot.ts',
      'practice/charges/store.ts',
      'practice/visits/visits.ts',
      'practice/waiting-list/store.ts',
    ],
    reason: 'content as it lies in the database, or is about to',
  },
  {
    name: 'getStoredText',
    file: disclosure,
    callers: ['access', 'storage', 'indexing', 'resources', 'engine', 'practice', 'cli'],
    reason: 'reads stored content inside the server; what it returns must not be sent',
  },
  {
    name: 'parseStored',
    file: disclosure,
    callers: ['engine', 'practice'],
    reason: 'reads stored content as a value, which must neither be sent nor changed',
  },
  {
    name: 'parseStoredInSlices',
    file: disclosure,
    callers: ['engine'],
    reason: 'reads stored content as a value, which must neither be sent nor changed',
  },
  {
    name: 'forgetValue',
    file: disclosure,
    callers: ['cli/importing/plan-batch.ts', 'practice/subscriptions/admitting/keeping.ts'],
    reason: 'what is planned or about to be told waits for its turn as text',
  },
  {
    name: 'copyUnparsed',
    file: disclosure,
    callers: ['engine'],
    reason: 'a page of rows holds their texts, and not the values of those that were looked at',
  },
  {
    name: 'markMasked',
    file: disclosure,
    callers: ['access/mask.ts'],
    reason: 'the field mask alone decides what of a resource may be sent',
  },
  {
    name: 'markServerWritten',
    file: disclosure,
    callers: [
      'engine',
      'operations',
      'http',
      'practice/content-flags/content-flags.ts',
      'practice/documents/content-links.ts',
      'practice/documents/upload-url.ts',
      'practice/subscriptions/hooks.ts',
      'practice/subscriptions/notification.ts',
      'practice/value-sets/expanded-types.ts',
    ],
    reason: 'answers that hold nothing of a tenant, or only what was disclosed before',
  },
  {
    name: 'unwrapDisclosed',
    file: disclosure,
    callers: [
      'engine',
      'operations',
      'openapi',
      'http',
      'cli',
      'practice/content-flags/content-flags.ts',
      'practice/documents/content-links.ts',
      'practice/subscriptions/delivering/message.ts',
      'practice/subscriptions/hooks.ts',
      'practice/subscriptions/notification.ts',
      'practice/value-sets/expanded-types.ts',
    ],
    reason: 'where answers are assembled and sent',
  },
];

/**
 * Files that compose regular expressions → why those do not come from outside. JavaScript's engine has no bound on its
 * time, so a pattern that a sender chooses is matched by re2js, under the budget (docs/decisions/0220).
 */
export const regExpComposers: Readonly<Record<string, string>> = {
  'packages/fhir/src/xml/names.ts': 'classes of characters of XML',
  'packages/fhir/src/xml/characters.ts': 'classes of characters of XML',
  'packages/fhir/src/invariants/functions.ts': 'literals of the invariants of R4',
  'packages/fhir/src/validation/calendar.ts': 'parts of dates and times',
  'packages/server/src/practice/calendars/calendar-types.ts': 'a length',
  'packages/server/src/admin/password-rules.ts': 'a length',
  'packages/server/src/http/binary.ts': 'the grammar of media types',
  'packages/server/src/http/request/paths.ts': 'the grammar of paths',
  'packages/server/src/practice/booking/operations/find-parameters.ts': 'names of resource types',
  'packages/server/src/operations/primitive-input.ts': 'patterns of the primitive types of R4',
  'packages/server/src/practice/documents/content-urls.ts': 'the grammar of ids and the escaped base URL',
  'packages/server/src/engine/preconditions.ts': 'the grammar of entity tags',
};

/** Features of the practice (folders of practice/) → the other features that they may import; those without a row import none. */
export const featureImports: Readonly<Record<string, readonly string[]>> = {
  booking: ['calendars', 'waiting-list'],
  calendars: ['booking', 'value-sets'],
  intake: ['documents'],
  referrals: ['intake'],
  subscriptions: ['intake'],
  'value-sets': ['calendars'],
  visits: ['booking'],
  'waiting-list': ['booking', 'calendars', 'visits'],
};

/** Longest file in lines; directories named `generated` are exempt. */
export const linesMax = { source: 400, test: 500 };

/** Most source files that lie directly in one folder; migrations and what is in folders named `generated` do not count. */
export const filesOfFolderMax = 25;

/** Words that no file or directory may be named after: they say nothing about what is inside. */
export const forbiddenWords: ReadonlySet<string> = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'misc',
  'manager',
  'managers',
]);
