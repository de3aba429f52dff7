/**
 * The server side of the bench's protocol: says where it listens, reports CPU time when asked, stops with its parent.
 */
import type { CpuReport, Listening } from './protocol.ts';

export function answerParent(origin: string, close: () => Promise<void>): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system } satisfies CpuReport);
  });
  process.once('disconnect', () => void close().finally(() => process.exit(0)));
  process.send?.({ origin } satisfies Listening);
}
