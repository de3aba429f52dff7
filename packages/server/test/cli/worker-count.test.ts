/** How many workers a node has, and how database connections are parted between them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Config, readConfig } from '../../src/base/config.ts';
import { computePoolSize, countCollectorThreads, countWorkers } from '../../src/cli/serving/worker-count.ts';
import { makeDataDir } from '../support/embedded.ts';
import { runPraxis } from './praxis-process.ts';

const gigabyte = 1024 ** 3;
const withDatabase = (settings: Record<string, string> = {}): Config =>
  readConfig({ DATABASE_URL: 'postgresql://x@y/z', ...settings });

test('one worker with the embedded database; otherwise one per core, at most 8, at most what a quarter of the memory holds', () => {
  const counts = [
    { config: readConfig({}), cores: 8, memory: 64, workers: 1 },
    { config: withDatabase(), cores: 2, memory: 64, workers: 2 },
    { config: withDatabase(), cores: 64, memory: 64, workers: 8 },
    { config: withDatabase(), cores: 8, memory: 6, workers: 3 },
    { config: withDatabase(), cores: 8, memory: 1, workers: 1 },
    { config: withDatabase({ PRAXIS_WORKERS: '12' }), cores: 1, memory: 1, workers: 12 },
    { config: readConfig({ PRAXIS_WORKERS: '2' }), cores: 1, memory: 1, workers: 2 },
  ];
  for (const { config, cores, memory, workers } of counts)
    assert.equal(countWorkers(config, { cores, memoryBytes: memory * gigabyte }), workers);
});

test('workers share the cores for garbage collection, and each has a thread for it', () => {
  const threads = [
    [1, 1],
    [1, 8],
    [2, 2],
    [3, 8],
    [8, 4],
  ].map(([workers = 0, cores = 0]) => countCollectorThreads(workers, { cores, memoryBytes: gigabyte }));
  assert.deepEqual(threads, [1, 4, 1, 2, 1]);
});

test('the connections are parted evenly, and never more than PRAXIS_DATABASE_POOL', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 8].map((workers) => computePoolSize(withDatabase(), workers)),
    [16, 16, 10, 8, 8],
  );
  assert.equal(computePoolSize(withDatabase({ PRAXIS_DATABASE_POOL: '17' }), 2), 8);
  assert.throws(() => computePoolSize(withDatabase({ PRAXIS_DATABASE_POOL: '7' }), 4), {
    name: 'ConfigError',
    message:
      'PRAXIS_DATABASE_POOL=7 is too small for 4 workers, which need 2 connections each: set it to 8 at least, or PRAXIS_WORKERS to 3',
  });
});

test('a start is refused with words when the server allows fewer connections than the node may open', async (t) => {
  const environment = {
    PRAXIS_DATA_DIR: makeDataDir(t),
    PRAXIS_PORT: '0',
    PRAXIS_WORKERS: '2',
    PRAXIS_DATABASE_POOL: '64',
  };
  assert.deepEqual(await runPraxis(environment, 'serve'), {
    status: 2,
    stdout: '',
    stderr:
      'praxis: This node may open 98 database connections, with those of a worker that is being replaced, but there is max_connections=100 of the server, of which 3 are reserved: lower PRAXIS_DATABASE_POOL or PRAXIS_WORKERS, or raise that limit\n',
  });
});
