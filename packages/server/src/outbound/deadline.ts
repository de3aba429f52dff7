/** One bound of time for all steps of a request to a host that others name. */
import { OutboundError } from './outbound-error.ts';

/**
 * What `run` returns, if it does so within `timeoutMs` and before `stop` is aborted. The signal that `run` gets is aborted as
 * soon as it is not waited for any more.
 * @throws OutboundError `did not answer in time` or `was given up`
 */
export async function runUntil<T>(
  timeoutMs: number,
  stop: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  return await new Promise<T>((resolve, reject) => {
    const giveUp = (reason: string): void => {
      reject(new OutboundError(reason));
      controller.abort();
    };
    const stopped = (): void => giveUp('was given up');
    if (stop?.aborted === true) return stopped();
    const timer = setTimeout(giveUp, timeoutMs, 'did not answer in time');
    stop?.addEventListener('abort', stopped, { once: true });
    const end = (): void => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', stopped);
    };
    run(controller.signal).then(resolve, reject).finally(end);
  });
}
