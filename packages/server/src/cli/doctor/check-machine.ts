/** The clock and the disk of this machine, as far as they can be looked at without a database. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { systemClock, toInstant } from '../../base/clock.ts';
import type { Config } from '../../base/config.ts';
import { releaseDate } from '../../version.ts';
import { type Finding, reportOn } from './finding.ts';

const megabyte = 1024 * 1024;
const gigabyte = 1024 * megabyte;

/** Room that a start and its log need, and room below which days are counted. */
const roomMin = { problem: 256 * megabyte, warning: 2 * gigabyte } as const;
const filesMin = 10_000;

/** A clock that is further ahead of the release is wrong, or the release is too old to run. */
const aheadMaxMs = 10 * 365 * 86_400_000;

/** A clock that is before the release of this version is wrong. */
export function checkClock(): readonly Finding[] {
  const { ok, problem } = reportOn('clock');
  const nowMs = systemClock.now();
  const releasedMs = Date.parse(releaseDate);
  const mend = 'set the clock of this machine, and let NTP keep it';
  if (nowMs < releasedMs - 86_400_000)
    return [problem(`the clock shows ${toInstant(nowMs)}, before the release of this version (${releaseDate})`, mend)];
  if (nowMs > releasedMs + aheadMaxMs)
    return [problem(`the clock shows ${toInstant(nowMs)}, years after the release of this version`, mend)];
  return [ok(`the clock shows ${toInstant(nowMs)}`)];
}

/** Whether the data directory can be made or written, and has room. */
export function checkDisk({ dataDir }: Pick<Config, 'dataDir'>): readonly Finding[] {
  const { ok, warning, problem } = reportOn('disk');
  const directory = path.resolve(dataDir);
  const place = findExisting(directory);
  if (!statSync(place).isDirectory())
    return [
      problem(`${directory} cannot be the data directory: ${place} is a file`, 'set PRAXIS_DATA_DIR to a directory'),
    ];
  const refusal = findRefusal(place);
  if (refusal !== undefined)
    return [
      problem(
        `${place} cannot be written (${refusal})`,
        'run praxis as a user who may write there, or set PRAXIS_DATA_DIR to another directory',
      ),
    ];
  const { bavail, bsize, files, ffree } = statfsSync(place);
  const room = bavail * bsize;
  const shown = `${formatBytes(room)} are free at ${directory}`;
  const mend = 'make room on this file system, or set PRAXIS_DATA_DIR to another one';
  const isShortOfFiles = files > 0 && ffree < filesMin;
  if (room < roomMin.problem) return [problem(shown, mend)];
  if (room < roomMin.warning) return [warning(shown, mend)];
  if (isShortOfFiles) return [warning(`${ffree} more files can be made at ${directory}`, mend)];
  return [ok(place === directory ? shown : `${directory} can be made; ${formatBytes(room)} are free`)];
}

/** Whether others than its owner may read the key file; nothing where there is none. */
export function checkKeyFile({ dataDir }: Pick<Config, 'dataDir'>): readonly Finding[] {
  const { warning } = reportOn('keys');
  const file = path.join(path.resolve(dataDir), 'secret.key');
  if (process.platform === 'win32' || !existsSync(file) || (statSync(file).mode & 0o077) === 0) return [];
  return [warning(`others may read ${file}`, `chmod 600 ${file}`)];
}

/** The directory itself, or what there is of the way to it. */
function findExisting(directory: string): string {
  let place = directory;
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  return place;
}

/** The error of the operating system; undefined: it can be written. */
function findRefusal(place: string): string | undefined {
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  }
}

function formatBytes(bytes: number): string {
  return bytes < gigabyte ? `${Math.floor(bytes / megabyte)} MB` : `${(bytes / gigabyte).toFixed(1)} GB`;
}
