/**
 * Runs one test file of a copied tree as a process of its own, ended at its first failure: what the other tests would say
 * does not matter for a mutant. Failures are read from the protocol that node's test runner prints
 * (https://testanything.org/tap-version-13-specification.html).
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Outcome {
  readonly status: 'passed' | 'failed' | 'timeout';
  /** The first test that failed; the file itself where it could not be run. */
  readonly failed?: string;
  readonly ms: number;
}

export interface TestRun {
  /** Root of the tree. */
  readonly root: string;
  /** From the root. */
  readonly file: string;
  /** Added to a bare environment: the database of tests, where coverage goes. */
  readonly environment: Readonly<Record<string, string>>;
  readonly limitMs: number;
  /** Ends it, as if its time were over. */
  readonly signal?: AbortSignal;
}

const failure = /^\s*not ok \d+ - (?!.*\s# (?:TODO|SKIP)\b)(.*?)\s*$/;
/** Of the shell's environment a test sees none of the service's settings (tools/test.ts does the same). */
const settings = /^(?:DATABASE_URL$|PRAXIS_|PG|NODE_V8_COVERAGE|NODE_COMPILE_CACHE)/;

/** Runs the file until it ends, a test of it fails, or its time is over. Processes that it started end with it. */
export function runTestFile({ root, file, environment, limitMs, signal }: TestRun): Promise<Outcome> {
  const beganMs = performance.now();
  const child = spawn(process.execPath, ['--test-reporter=tap', join(root, file)], {
    cwd: root,
    env: { ...bareEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  return new Promise((resolve) => {
    const end = (status: Outcome['status'], failed?: string): void => {
      clearTimeout(limit);
      signal?.removeEventListener('abort', giveUp);
      process.off('exit', stop);
      const ms = Math.round(performance.now() - beganMs);
      resolve(failed === undefined ? { status, ms } : { status, failed, ms });
    };
    const stop = (): void => {
      if (child.pid !== undefined) endGroup(child.pid);
    };
    const giveUp = (): void => {
      end('timeout', file);
      stop();
    };
    const limit = setTimeout(giveUp, limitMs);
    signal?.addEventListener('abort', giveUp);
    // What a run that ends early has started would go on for ever.
    process.once('exit', stop);
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      const failed = lines.map((line) => failure.exec(line)?.[1]).find((name) => name !== undefined);
      if (failed === undefined) return;
      end('failed', failed.replaceAll('\\#', '#'));
      stop();
    });
    child.on('error', () => end('failed', file));
    child.on('close', (code) => (code === 0 ? end('passed') : end('failed', file)));
  });
}

function bareEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.test(name)));
}

/** The group has the process's own number, as it was started detached. It may have ended already. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
