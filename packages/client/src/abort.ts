/** Ending what takes too long, or what nobody waits for any more. */

/** Settles as `promise` does, but rejects with the signal's reason as soon as it is aborted. The promise itself goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A bound on the time of one attempt. */
export interface TimeLimit {
  /** Aborted when the time is over, or when the caller's signal is. */
  readonly signal: AbortSignal;
  isOver(): boolean;
  /** The time is not counted any longer; the caller's signal still counts. */
  stop(): void;
  /** Neither of both counts any longer. */
  close(): void;
}

/** `AbortSignal.any` with a timeout, also where the platform has no `any` yet. */
export function limitTime(caller: AbortSignal | undefined, ms: number): TimeLimit {
  const controller = new AbortController();
  const follow = (): void => controller.abort(caller?.reason);
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, ms);
  if (caller?.aborted) follow();
  else caller?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    stop: () => clearTimeout(timer),
    close() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', follow);
    },
  };
}

/** Resolves after `ms`; rejects with the signal's reason when it is aborted before. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return abortable(passed, signal).finally(() => clearTimeout(timer));
}
