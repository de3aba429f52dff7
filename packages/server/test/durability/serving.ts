/**
 * `praxis serve` as a process of its own on a data directory, for tests that kill it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Serving {
  readonly child: ChildProcess;
  /** Of the supervisor; the process group of this number holds its workers as well. */
  readonly pid: number;
  /** Where it listens. */
  readonly origin: string;
  readonly ended: Promise<void>;
  /** The lines it has printed. */
  readonly said: readonly string[];
  /** What it has written to standard error. */
  logged(): string;
}

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const ready = 'praxis ready on ';

/** Starts the service in a process group of its own; resolves when it is ready. */
export async function serve(
  dataDir: string,
  options: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const child = spawn(process.execPath, [program, 'serve', ...options], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PRAXIS_DATA_DIR: dataDir,
      PRAXIS_PORT: '0',
      PRAXIS_RATE_LIMIT: '0',
      PRAXIS_LOG_LEVEL: 'error',
      ...settings,
    },
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const said: string[] = [];
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      said.push(line);
      if (line.startsWith(ready)) resolve(line.slice(ready.length));
    });
    void ended.then(() => reject(new Error(`praxis serve ended before it was ready: ${complaints}`)));
  });
  return { child, pid: child.pid ?? 0, origin, ended, said, logged: () => complaints };
}
