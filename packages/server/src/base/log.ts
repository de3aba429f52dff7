/**
 * Structured logs: one JSON object a line on standard error. No PHI, no secrets, no query values: callers pass
 * identifiers and counts; the redaction list is the second fence, not the first.
 */
import { type Logger, pino } from 'pino';

export type Log = Logger;

/** A logger that writes at `level` or above (`silent` for none). */
export function openLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'authorization',
          '*.authorization',
          'password',
          '*.password',
          '*["x-api-key"]',
          'client_secret',
          '*.client_secret',
        ],
        remove: true,
      },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
