/**
 * Mutual exclusion between processes, for a directory that they share. A holder that was killed does not block the
 * others, even if what it had started is still at work: then they wait for that.
 *
 * The lock is a directory of files named 1, 2, 3, …; the highest is in force. Whoever finds it free or abandoned
 * creates the next number, which only one process can do, and removes the lower ones. The highest is never removed
 * (a release is written into it), so one who is late with an old view finds a higher number and steps back.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from './report.mjs';

const pollMs = 200;
const heartbeatMs = 1000;
/** A holder that gave no sign of life for so long is held to be gone, if its processes are gone too. */
const silenceMaxMs = 3000;
const waitMaxMs = 15 * 60_000;

/**
 * Runs `work` while no other process runs its own under the same directory, and returns what it returns. `work` gets
 * a function to which it tells the id of each process that it starts: the lock lasts as long as one of them lives.
 * `onWait` is called once if another process holds the lock.
 */
export async function exclusively(directory, work, onWait) {
  const file = await acquire(directory, onWait);
  const processes = [describeProcess(process.pid)];
  const write = (state) => writeFileSync(file, JSON.stringify({ free: state === 'free', processes }));
  write('held');
  const heartbeat = setInterval(() => utimesSync(file, new Date(), new Date()), heartbeatMs);
  try {
    return await work((pid) => {
      processes.push(describeProcess(pid));
      write('held');
    });
  } finally {
    clearInterval(heartbeat);
    write('free');
  }
}

async function acquire(directory, onWait) {
  mkdirSync(directory, { recursive: true });
  const giveUpAtMs = Date.now() + waitMaxMs;
  for (let hasWaited = false; ; ) {
    const number = highest(directory);
    if (number > 0 && isHeld(join(directory, String(number)))) {
      if (!hasWaited) onWait();
      hasWaited = true;
      if (Date.now() > giveUpAtMs) {
        throw new SetupError(`another process has held ${directory} for too long; end it, or remove that directory.`);
      }
      await delay(pollMs);
    } else if (claim(directory, number + 1)) {
      return join(directory, String(number + 1));
    }
  }
}

function claim(directory, number) {
  const file = join(directory, String(number));
  try {
    writeFileSync(file, '', { flag: 'wx' });
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  if (highest(directory) !== number) {
    rmSync(file, { force: true });
    return false;
  }
  for (const lower of numbers(directory)) if (lower < number) rmSync(join(directory, String(lower)), { force: true });
  return true;
}

function numbers(directory) {
  return readdirSync(directory).map(Number).filter(Number.isSafeInteger);
}

function highest(directory) {
  return Math.max(0, ...numbers(directory));
}

function isHeld(file) {
  try {
    const silentMs = Date.now() - statSync(file).mtimeMs;
    const { free, processes } = readState(file);
    return !free && (silentMs < silenceMaxMs || processes.some(isAlive));
  } catch (error) {
    // Removed by the next holder: look again.
    if (error.code === 'ENOENT') return true;
    throw error;
  }
}

/** A file without a readable state is being written now, or its writer was killed in that moment: its age tells. */
function readState(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return { free: false, processes: [] };
    throw error;
  }
}

function describeProcess(pid) {
  return { pid, startedAt: startedAt(pid) };
}

/** When a process started, in a unit of the kernel; null where the system does not tell. Ids are given out again. */
function startedAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function isAlive({ pid, startedAt: started }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
  }
  return startedAt(pid) === started;
}
