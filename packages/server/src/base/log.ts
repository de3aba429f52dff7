/**
 * Structured logs: one JSON object a line on standard error, or, where the settings say so, the same in words for people. No PHI, no
 * secrets, no query values: callers pass identifiers and counts; the redaction list is the second fence, not the first.
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

export type Log = Logger;

const secretNames = ['authorization', 'password', 'client_secret'];

/** Bytes of lines that wait to be written, beyond which further ones are left out: whoever reads them is stuck. */
const waitingBytesMax = 4_194_304;

/** Bytes of one write at most: so much a pipe takes as a whole, so lines of several processes do not mix (POSIX, PIPE_BUF). */
const writeBytesMax = 4_096;

/** How long a line waits for others to be written with, in ms. */
const gatherMs = 200;

/** A logger that writes at a level or above (`silent` for none); each line carries `base`. */
export function openLog(
  wanted: string | Pick<Config, 'logLevel' | 'logFormat'>,
  base: Readonly<Record<string, number>> | null = null,
): Log {
  const { logLevel: level, logFormat: format } =
    typeof wanted === 'string' ? { logLevel: wanted, logFormat: 'json' } : wanted;
  return pino(describeLines(level, base), format === 'text' ? forPeople : pino.destination({ dest: 2, sync: true }));
}

/**
 * A logger of requests: its lines are written some at a time, beside the event loop, and the last ones when the process ends. A
 * process that is killed loses those of `gatherMs`; a reader that is stuck loses what is beyond `waitingBytesMax`, and holds up nobody.
 */
export function openAccessLog(level: string, base: Readonly<Record<string, number>> | null = null): Log {
  const destination = pino.destination({
    dest: 2,
    sync: false,
    minLength: writeBytesMax - 1,
    maxWrite: writeBytesMax,
    maxLength: waitingBytesMax,
  });
  let waitingBytes = 0;
  let isFlushDue = false;
  // Only while there are lines: an idle process does not wake up for none.
  const flushLater = (): void => {
    if (!isFlushDue) setTimeout(flush, gatherMs).unref();
    isFlushDue = true;
  };
  const flush = (): void => {
    isFlushDue = false;
    destination.flush();
  };
  destination.on('write', (bytes: number) => {
    waitingBytes -= bytes;
  });
  destination.on('drop', (line: string) => {
    waitingBytes -= Buffer.byteLength(line);
  });
  // What came while a write was under way is not written with it.
  destination.on('drain', () => {
    if (waitingBytes > 0) flushLater();
  });
  return pino(describeLines(level, base), {
    write(line: string) {
      waitingBytes += Buffer.byteLength(line);
      destination.write(line);
      flushLater();
    },
  });
}

function describeLines(level: string, base: Readonly<Record<string, number>> | null) {
  return {
    level,
    base,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: [...secretNames.flatMap((name) => [name, `*.${name}`]), '*["x-api-key"]'], remove: true },
  };
}

const forPeople: DestinationStream = {
  write: (line) => void process.stderr.write(formatForPeople(line)),
};

/** What is said of a level; nothing of `info`. */
const levelWords: Readonly<Record<string, string>> = {
  trace: 'trace: ',
  debug: 'debug: ',
  warn: 'warning: ',
  error: 'error: ',
};

/** `praxis: warning: a worker is over its memory limit and is replaced (worker 1, usedBytes 123)`, from a line of JSON. */
function formatForPeople(line: string): string {
  const { level, time: _time, msg, err, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const told = Object.entries(fields).map(([name, value]) => `${name} ${formatValue(value)}`);
  const why = isFault(err) ? `: ${err.message}` : '';
  const stack = isFault(err) && err.stack !== undefined ? layOutStack(err.stack) : '';
  const words = `${levelWords[String(level)] ?? ''}${String(msg)}${why}`;
  return `praxis: ${escapeControls(`${words}${told.length === 0 ? '' : ` (${told.join(', ')})`}`)}\n${stack}`;
}

/** Its lines, moved in: a message has lines of its own, and none of them is to look like one of the log. */
function layOutStack(stack: string): string {
  return stack
    .split('\n')
    .map((each) => `  ${escapeControls(each)}\n`)
    .join('');
}

/** What a terminal would obey, or take for another line, in the form of JSON. */
function escapeControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isFault(value: unknown): value is { readonly message: string; readonly stack?: string } {
  return typeof value === 'object' && value !== null && 'message' in value;
}
