/** What the operator wishes of a node by signals. */
import { closeSync, openSync } from 'node:fs';

export type NodeSignals = ReturnType<typeof hearSignals>;

/** Signals within this time of the first are repetitions of it. */
const repeatedSignalMs = 1000;

/** SIGTERM and SIGINT stop, SIGHUP restarts the workers, unless it says that the terminal of this process is gone. */
export function hearSignals() {
  const stopped = Promise.withResolvers<NodeJS.Signals>();
  const hadTerminal = hasTerminal();
  let firstMs: number | undefined;
  let impatience = (): void => undefined;
  let restart: (() => Promise<void>) | undefined;
  let restarts = Promise.resolve();
  let waits = false;
  const stop = (signal: NodeJS.Signals): void => {
    firstMs ??= performance.now();
    stopped.resolve(signal);
    // A signal to the process group comes from npm and the launcher, too: that is one wish to stop, not two.
    if (performance.now() - firstMs <= repeatedSignalMs) return;
    impatience();
    process.exit(1);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', (signal) => {
    if (hadTerminal && !hasTerminal()) return stop(signal);
    if (restart === undefined || waits) return;
    waits = true;
    const begin = restart;
    restarts = restarts.then(() => {
      waits = false;
      return begin();
    });
  });
  return {
    /** Resolves at the first signal to stop. */
    stopped: stopped.promise,
    /** `work` is called at SIGHUP, again if one comes while it runs. */
    onRestart(work: () => Promise<void>): void {
      restart = work;
    },
    /** `end` is called at a second wish to stop, before this process ends at once. */
    onImpatience(end: () => void): void {
      impatience = end;
    },
  };
}

/** Whether this process has a controlling terminal (credentials(7)); one that was closed is none. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
