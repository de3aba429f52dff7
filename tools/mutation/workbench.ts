/** A place where one mutant at a time is tried: a copy of the tree, and a database server that its tests share. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startTestCluster, type TestCluster } from '../../packages/server/test/support/cluster.ts';
import { type Outcome, runTestFile } from './test-process.ts';
import { copyTree, type Tree } from './tree.ts';

export interface Workbench {
  readonly tree: Tree;
  run(file: string, limitMs: number, environment?: Readonly<Record<string, string>>): Promise<Outcome>;
  close(): Promise<void>;
}

/** Tests that are ended before their time leave databases behind: after so many of them the server is made anew. */
const abandonedMax = 60;

/**
 * Copies the tree under `root` to a new place in `directory` and starts a server.
 * @param signal ends what runs
 */
export async function openWorkbench(root: string, directory: string, signal: AbortSignal): Promise<Workbench> {
  const own = mkdtempSync(join(directory, 'bench-'));
  const tree = copyTree(root, join(own, 'tree'));
  // Kept for later runs: all sources but the mutated ones are the same.
  const compiled = join(directory, 'compiled');
  let cluster: TestCluster = await startTestCluster();
  let abandoned = 0;
  return {
    tree,
    async run(file, limitMs, environment = {}) {
      if (abandoned >= abandonedMax) {
        await cluster.stop();
        cluster = await startTestCluster();
        abandoned = 0;
      }
      const all = { NODE_COMPILE_CACHE: compiled, ...cluster.environment, ...environment };
      const outcome = await runTestFile({ root: tree.root, file, environment: all, limitMs, signal });
      if (outcome.status !== 'passed') abandoned += 1;
      return outcome;
    },
    async close() {
      await cluster.stop();
      rmSync(own, { recursive: true, force: true });
    },
  };
}
