/**
 * Preloaded into a process (NODE_OPTIONS=--import): its wall clock is ahead by the milliseconds that the file
 * WRONG_CLOCK_FILE holds, from the moment at which they are written there.
 */
import { readFileSync } from 'node:fs';

const realNow = Date.now.bind(Date);
const file = process.env['WRONG_CLOCK_FILE'];

function aheadMs() {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
}

globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [realNow() + aheadMs()] : given));
  }

  static now() {
    return realNow() + aheadMs();
  }
};
