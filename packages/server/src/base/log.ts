/**
 * Structured logs: one JSON object a line on standard error. No PHI, no secrets, no query values: callers pass
 * identifiers and counts; the redaction list is the second fence, not the first.
 */
import { type Logger, pino } from 'pino';

export type Log = Logger;

const secretNames = ['authorization', 'password', 'client_secret'];

/** A logger that writes at `level` or above (`silent` for none); each line carries `base`. */
export function openLog(level: string, base: Readonly<Record<string, number>> | null = null): Log {
  return pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: [...secretNames.flatMap((name) => [name, `*.${name}`]), '*["x-api-key"]'], remove: true },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
