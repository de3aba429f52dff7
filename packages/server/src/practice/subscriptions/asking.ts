/** Waking a job by notifications of the database. */
import type { Database } from '../../database/database.ts';

/** Being told by a notification, so that an idle process need not look often. */
export function openAsking(database: Pick<Database, 'listen'>, channel: string) {
  let isAsked = false;
  let wake: (() => void) | undefined;
  let listening: Promise<() => Promise<void>> | undefined;
  const ask = (): void => {
    isAsked = true;
    wake?.();
  };
  return {
    /** As a notification does. */
    ask,
    /** Notifications until now are done with. */
    forget(): void {
      isAsked = false;
    },
    /** Hears of notifications from now on; those before are done with. @returns whether there were any */
    async begin(): Promise<boolean> {
      listening ??= database.listen(channel, ask);
      try {
        await listening;
      } catch (error) {
        listening = undefined; // the next look tries again
        throw error;
      }
      const wasAsked = isAsked;
      isAsked = false;
      return wasAsked;
    },
    /** Resolves at a notification since `begin`. */
    wait: (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (isAsked) resolve();
        wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    async stop(): Promise<void> {
      await (await listening?.catch(() => undefined))?.();
    },
  };
}
