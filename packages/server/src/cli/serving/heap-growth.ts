/** How far the heap of a worker grows between two collections of garbage: little while there is time to collect, far while there is none. */
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Options of a worker's process: a young generation of three times 16 MB instead of 128 MB in all. */
export const heapOptions: readonly string[] = ['--max-semi-space-size=16'];

/** From this share of the time that the event loop is busy, pauses cost callers more than memory does. */
const busyFrom = 0.9;
/** As many looks in a row: what is over sooner, such as a burst or a moment without a processor, is no load that lasts. */
const busyLooks = 4;
/** Of what remained of the old generation after a collection. */
const growthPercent = 50;

let isLimited = false;
let busyInRow = 0;

/**
 * Sets for the collections to come how far the old generation may grow. Call it at each look at the event loop.
 * @param loopUse share of the time since the last look that the event loop was busy, 0 to 1
 */
export function steerHeapGrowth(loopUse: number): void {
  busyInRow = loopUse < busyFrom ? 0 : busyInRow + 1;
  const limits = busyInRow < busyLooks;
  if (limits === isLimited) return;
  isLimited = limits;
  // With 0 V8 decides: up to four times what remained.
  v8.setFlagsFromString(`--heap-growing-percent=${limits ? growthPercent : 0}`);
}

/**
 * Collects all garbage, so that the growth that is set counts from now on. Until its first collection a heap may have a limit of V8's own,
 * and it keeps the pages that it then takes. It holds up the event loop, for 24 ms after a start: call it once, while there is little to do.
 */
export function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') collect();
}
