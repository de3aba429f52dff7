/** Settings of the processes of a node, and of what they have of the database; rows of settings.ts. */

export const nodeSettings = {
  databasePoolMax: {
    env: 'PRAXIS_DATABASE_POOL',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 500,
    description:
      'Database connections of all workers of this node together, at least 2 for each; 0 = 8 for each, at least 16. While a worker is replaced, there is one more share.',
  },
  workers: {
    env: 'PRAXIS_WORKERS',
    kind: 'integer',
    default: '0',
    min: 0,
    max: 64,
    description:
      'Processes that answer requests; 0 = 1 with the embedded database, otherwise one per core, at most 8 and at most what a quarter of the memory holds (512 MB each).',
  },
  workerMemoryMb: {
    env: 'PRAXIS_WORKER_MEMORY_MB',
    kind: 'integer',
    default: '2048',
    min: 0,
    max: 1048576,
    description: 'Resident memory beyond which a worker finishes its requests and is replaced, in MB; 0 = no limit.',
  },
  statementTimeoutMs: {
    env: 'PRAXIS_STATEMENT_TIMEOUT_MS',
    kind: 'integer',
    default: '10000',
    min: 10,
    max: 600000,
    description: 'Longest time of one database statement, in ms; beyond it the answer is 503.',
  },
  transactionTimeoutMs: {
    env: 'PRAXIS_TRANSACTION_TIMEOUT_MS',
    kind: 'integer',
    default: '30000',
    min: 100,
    max: 600000,
    description:
      'Longest time of one database transaction, in ms; beyond it nothing of it is stored and the answer is 422, or 503 when it was waiting for most of the time.',
  },
} as const;
