/**
 * Waiting on behalf of a request: it ends with the connection, and with the process.
 */
import type { IncomingMessage } from 'node:http';

/** Makes a pause of a request; its result is false when waiting any longer has no sense. */
export function makeAbortableDelay(
  raw: Pick<IncomingMessage, 'socket'>,
  stopping: AbortSignal,
): (ms: number) => Promise<boolean> {
  return (ms) =>
    new Promise((resolve) => {
      const { socket } = raw;
      const finish = (goesOn: boolean): void => {
        clearTimeout(timer);
        socket.off('close', stop);
        stopping.removeEventListener('abort', stop);
        resolve(goesOn);
      };
      const stop = (): void => finish(false);
      const timer = setTimeout(() => finish(true), ms);
      socket.once('close', stop);
      stopping.addEventListener('abort', stop);
      if (socket.destroyed || stopping.aborted) stop();
    });
}
