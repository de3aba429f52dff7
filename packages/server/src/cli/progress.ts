/**
 * How far a long command has come, on standard error: a bar that is drawn over where a person watches, a line now and then
 * where the output goes to a file, and whole lines in between.
 */
import type { CommandContext } from './command.ts';

interface ProgressOptions {
  readonly write: (text: string) => void;
  /** Whether `write` reaches a terminal. */
  readonly terminal: boolean;
  /** What is counted: `resources`. */
  readonly noun: string;
  /** A clock that never goes back, in ms. */
  readonly nowMs?: () => number;
}

export interface ProgressBar {
  /** `count` are done; `share` (0 to 1) of the whole where the whole is known. */
  update(count: number, share?: number): void;
  /** Writes a line of its own. */
  line(text: string): void;
  /** Removes the bar. Returns `3.2 s, 1,234/s`. */
  end(count: number): string;
}

const redrawMs = 200;
const sparseMs = 30_000;
const barWidth = 24;
/** Back to the first column, and away with what is right of it. */
const clearLine = '\r\u001b[K';

/** Progress of a command, on its standard error. */
export function showProgress({ progress }: CommandContext, noun: string): ProgressBar {
  return openProgress({ write: progress, terminal: process.stderr.isTTY === true, noun });
}

/** An account of progress that begins now. */
export function openProgress(options: ProgressOptions): ProgressBar {
  const { write, terminal, noun, nowMs = () => performance.now() } = options;
  const startMs = nowMs();
  let shownMs = startMs;
  let drawn = false;
  const clear = (): void => {
    if (drawn) write(clearLine);
    drawn = false;
  };
  const elapsedMs = (): number => Math.max(1, nowMs() - startMs);
  const rate = (count: number): string => `${formatCount(Math.round((count * 1000) / elapsedMs()))}/s`;
  return {
    update(count, share) {
      if (nowMs() - shownMs < (terminal ? redrawMs : sparseMs)) return;
      shownMs = nowMs();
      const text = `${formatCount(count)} ${noun}, ${rate(count)}`;
      if (terminal) write(`${clearLine}${share === undefined ? '' : `${bar(share)} `}${text}`);
      else write(`${share === undefined ? '' : `${percent(share)} `}${text}\n`);
      drawn = terminal;
    },
    line(text) {
      clear();
      write(`${text}\n`);
    },
    end(count) {
      clear();
      return `${(elapsedMs() / 1000).toFixed(1)} s, ${rate(count)}`;
    },
  };
}

/** `12,345` */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * barWidth);
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${percent(share)}`;
}

function percent(share: number): string {
  return `${Math.floor(Math.min(1, share) * 100)} %`;
}
