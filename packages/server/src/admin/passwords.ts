/**
 * Storage of passwords that people choose (docs/integrate/contract.md#credentials): argon2id
 * (https://www.rfc-editor.org/rfc/rfc9106), keyed with the installation's secret so that the database alone does not let
 * anybody guess. A hash takes memory and a core for tens of milliseconds, so few are made at once and few may wait.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { fail } from '../base/errors.ts';
import type { Secrets } from '../base/secrets.ts';
import { normalizePassword } from './password-rules.ts';

/** KiB of memory, passes and lanes of one hash (OWASP Password Storage Cheat Sheet, argon2id). */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const makeHash = promisify(argon2);
const saltBytes = 16;
const hashBytes = 32;

/** Hashes made at once by one process. */
export const hashesMax = 2;

/** Callers that may wait for one; further ones are refused. */
export const hashWaitersMax = 32;

const retrySeconds = 2;

export interface Passwords {
  /** What is stored of a password, in the PHC string format. @throws PraxisError `unavailable` when too many wait */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one of the hash; without a hash never, for the same work.
   * @throws PraxisError `unavailable` when too many wait
   */
  matches(password: string, stored: string | undefined): Promise<boolean>;
}

/** The passwords of an installation; the queue is of this process. */
export function openPasswords(secrets: Secrets): Passwords {
  const queue = openQueue();
  const derive = (password: string, salt: Buffer, { memory, passes, parallelism }: Cost): Promise<Buffer> =>
    queue(() => {
      const parameters = { memory, passes, parallelism, nonce: salt, tagLength: hashBytes };
      const secret = secrets.key('admin-password');
      return makeHash('argon2id', { ...parameters, secret, message: normalizePassword(password) });
    });
  return {
    async hash(password) {
      const salt = randomBytes(saltBytes);
      return phcText(salt, await derive(password, salt, cost));
    },
    async matches(password, stored) {
      const { salt, hash, ...of } = stored === undefined ? nobody : readPhc(stored);
      const derived = await derive(password, salt, of);
      return hash.length === derived.length && timingSafeEqual(hash, derived) && stored !== undefined;
    },
  };
}

type Cost = Readonly<Record<keyof typeof cost, number>>;

interface StoredHash extends Cost {
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** What an unknown username is compared with. */
const nobody: StoredHash = { ...cost, salt: Buffer.alloc(saltBytes), hash: Buffer.alloc(hashBytes) };

/** https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md */
function phcText(salt: Buffer, hash: Buffer): string {
  const { memory, passes, parallelism } = cost;
  const [saltText, hashText] = [salt, hash].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${saltText}$${hashText}`;
}

function readPhc(text: string): StoredHash {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(text);
  if (match === null) return fail('internal', { diagnostics: 'A stored password is not in the form that is written' });
  const [, memory, passes, parallelism, salt = '', hash = ''] = match;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

function openQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= hashesMax) {
      if (waiting.length >= hashWaitersMax) {
        fail('unavailable', {
          diagnostics: 'Too many passwords are being checked: try again in a moment',
          headers: { 'retry-after': String(retrySeconds) },
          limit: 'work',
        });
      }
      // Whoever ends hands over its place, so nobody overtakes those who wait.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
