/** The attackers as the siege sees them: a process that is told when to begin and when to end (attacking.ts). */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SandboxFile } from '../../packages/server/src/cli/sandbox/credentials.ts';
import type { Struck } from './attacks.ts';

export type ToAttackers =
  | { readonly kind: 'prepare'; readonly sandbox: SandboxFile; readonly concurrency: number }
  | { readonly kind: 'attack' }
  | { readonly kind: 'stop' };

export type FromAttackers =
  | { readonly kind: 'prepared' }
  | { readonly kind: 'struck'; readonly struck: readonly Struck[] };

export interface Attackers {
  attack(): void;
  /** Ends them; resolves with all that was struck. */
  stop(): Promise<readonly Struck[]>;
  /** Ends the process, whatever it does. */
  kill(): void;
}

const program = fileURLToPath(new URL('attacking.ts', import.meta.url));

/**
 * Starts the process; resolves when what the attacks need is stored.
 * @param concurrency requests under way of each attacking application
 */
export async function startAttackers(sandbox: SandboxFile, concurrency: number): Promise<Attackers> {
  const child = fork(program);
  const say = (message: ToAttackers): void => void child.send(message);
  say({ kind: 'prepare', sandbox, concurrency });
  await hear(child, 'prepared');
  return {
    attack: () => say({ kind: 'attack' }),
    async stop() {
      say({ kind: 'stop' });
      return (await hear(child, 'struck')).struck;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

function hear<Kind extends FromAttackers['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<FromAttackers, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromAttackers) => {
      if (message.kind === kind) resolve(message as Extract<FromAttackers, { kind: Kind }>);
    });
    child.once('exit', (status) => reject(new Error(`the attackers ended with ${status}`)));
  });
}
