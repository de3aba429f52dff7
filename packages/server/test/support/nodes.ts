/** Several nodes of one installation, each `praxis serve` as a process of its own on the same database. */
import { startPraxis } from '../cli/praxis-process.ts';
import type { TestDatabase } from './database.ts';

export interface Node {
  /** Where it listens. */
  readonly origin: string;
  stop(): Promise<void>;
  /** Ends it as a loss of power would. */
  kill(): Promise<void>;
}

const ready = 'praxis ready on ';

/**
 * Starts a node; resolves when it is ready.
 * @param more environment variables beside those that every node has
 */
export async function startNode(
  { connections }: Pick<TestDatabase, 'connections'>,
  secretKey: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Node> {
  const child = startPraxis(
    {
      DATABASE_URL: urlOf(connections.owner),
      PRAXIS_RUNTIME_DATABASE_URL: urlOf(connections.runtime),
      PRAXIS_SECRET_KEY: secretKey,
      PRAXIS_PORT: '0',
      PRAXIS_RATE_LIMIT: '0',
      PRAXIS_DRAIN_MS: '1000',
      PRAXIS_AUDIT_SEAL_MS: '0',
      PRAXIS_WORKERS: '1',
      ...more,
    },
    'serve',
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const origin = await new Promise<string>((resolve, reject) => {
    let said = '';
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      const [, found] = new RegExp(`${ready}(\\S+)\\n`).exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    void ended.then(() => reject(new Error(`praxis serve ended before it was ready: ${said}`)));
  });
  return {
    origin,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
    async kill() {
      process.kill(-(child.pid ?? 0), 'SIGKILL'); // with its workers
      await ended;
    },
  };
}

/** https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS; the host may be a directory of sockets. */
export function urlOf({ host, port, user, password, database }: TestDatabase['connections']['owner']): string {
  const place = new URLSearchParams({ host, port: String(port) });
  return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@/${database}?${place}`;
}
