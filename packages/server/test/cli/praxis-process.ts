/** `praxis` as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

export interface Ended {
  /** Exit status; null when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a program needs to be found and to start quickly; none of the settings of whoever runs the tests. */
function startingSettings(): Record<string, string | undefined> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}

/** Starts a command line in a process group of its own; `environment` are its settings. */
export function startPraxis(environment: Readonly<Record<string, string>>, ...line: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, ...line], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...startingSettings(), PRAXIS_LOG_LEVEL: 'error', ...environment },
  });
}

/** Runs a command line to its end. */
export async function runPraxis(
  environment: Readonly<Record<string, string>>,
  ...line: readonly string[]
): Promise<Ended> {
  const child = startPraxis(environment, ...line);
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { status, stdout: await stdout, stderr: await stderr };
}

async function textOf(stream: ChildProcess['stdout']): Promise<string> {
  let text = '';
  for await (const chunk of stream?.setEncoding('utf8') ?? []) text += chunk;
  return text;
}
