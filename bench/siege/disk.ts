/** A disk of its own for an installation, which can be full: a file system in memory, where this user may mount one. */
import { spawnSync } from 'node:child_process';
import { statfsSync } from 'node:fs';

export interface Disk {
  /** Leaves no room at all. */
  fill(): void;
  /** Gives the room back. */
  free(): void;
  remove(): void;
}

const sizeKilobytes = 6 * 1024 * 1024;

/** Mounts it at `directory`; a string says why that is not possible. */
export function mountDisk(directory: string): Disk | string {
  const failure = run('mount', ['-t', 'tmpfs', '-o', `size=${sizeKilobytes}k,mode=755`, 'praxis-siege', directory]);
  if (failure !== undefined) return failure;
  return {
    // Shrunk to what is used: a file that fills it would take as much memory. What is written meanwhile makes a try fail.
    fill() {
      for (let attempt = 0; attempt < 100; attempt++) {
        const { bsize, blocks, bfree } = statfsSync(directory);
        if (resize(directory, ((blocks - bfree) * bsize) / 1024) === undefined) return;
      }
      throw new Error('the disk could not be filled');
    },
    free() {
      const refused = resize(directory, sizeKilobytes);
      if (refused !== undefined) throw new Error(refused);
    },
    remove() {
      const refused = run('umount', ['-l', directory]);
      if (refused !== undefined) throw new Error(refused);
    },
  };
}

function resize(directory: string, kilobytes: number): string | undefined {
  return run('mount', ['-o', `remount,size=${Math.ceil(kilobytes)}k`, directory]);
}

/** Why the program failed; undefined: it did not. */
function run(program: string, args: readonly string[]): string | undefined {
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim();
}
