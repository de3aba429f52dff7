/**
 * A log that keeps its lines, with everything that could be logged.
 */
import { pino } from 'pino';
import type { Log } from '../../src/base/log.ts';

export interface CapturedLog {
  readonly log: Log;
  /** JSON lines, in order. */
  readonly lines: readonly string[];
}

export function captureLog(): CapturedLog {
  const lines: string[] = [];
  return { log: pino({ level: 'trace', base: null }, { write: (line: string) => void lines.push(line) }), lines };
}
