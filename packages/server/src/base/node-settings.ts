/** Settings of the processes of a node, and of what they have of the database; rows of settings.ts. */

export const nodeSettings = {
  logFormat: {
    env: 'PRAXIS_LOG_FORMAT',
    kind: 'choice',
    values: ['json', 'text'],
    default: 'json',
    description:
      'Form of the log on standard error: `json`, an object a line, or `text`, for people. `npm start` takes `text`, unless a log level is set.',
  },
  databasePoolMax: {
    env: 'PRAXIS_DATABASE_POOL',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 500,
    description:
      'Database connections of all workers of this node together, at least 2 per worker. 0 = 16 for one worker, 32 for two to four, 8 per worker for more. A replacement of a worker needs one more share for a while.',
  },
  workers: {
    env: 'PRAXIS_WORKERS',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 64,
    description:
      'Worker processes. 0 = 1 with the embedded database, otherwise one per core, but at most 8, and at most one per 512 MB in a quarter of the memory.',
  },
  workerMemoryMb: {
    env: 'PRAXIS_WORKER_MEMORY_MB',
    kind: 'integer',
    default: '2048',
    min: 0,
    max: 1048576,
    description:
      'Resident memory limit of a worker, in MB. Beyond it the worker finishes its requests and is replaced. 0 = no limit.',
  },
  statementTimeoutMs: {
    env: 'PRAXIS_STATEMENT_TIMEOUT_MS',
    kind: 'integer',
    default: '10000',
    min: 10,
    max: 600000,
    description: 'Time limit of one database statement, in ms. Beyond it the statement is cancelled.',
  },
  transactionTimeoutMs: {
    env: 'PRAXIS_TRANSACTION_TIMEOUT_MS',
    kind: 'integer',
    default: '30000',
    min: 100,
    max: 600000,
    description:
      'Time limit of one database transaction, in ms. Beyond it the transaction is rolled back. The answer is 422, or 503 if the transaction mostly waited.',
  },
} as const;
