/** One arrival: somebody works in a practice with one or several requests, each after the answer to the one before. */
import type { Random } from '../../packages/server/src/synthetic/random.ts';
import type { Call, WholeAnswer } from '../service/line.ts';
import type { Journal } from './journal.ts';
import type { Role } from './plan.ts';
import type { Practice } from './practice.ts';

/** A kind of request. */
export interface Step {
  readonly name: string;
  readonly isRead: boolean;
  readonly role: Role;
  readonly method: Call['method'];
  /** Statuses that are as they should be. */
  readonly statuses: readonly number[];
}

export interface Asked {
  /** Below the FHIR base, with the query. */
  readonly what: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** What ends a visit before its last request. */
export class VisitEnded extends Error {}

/** Another one was first: the slot is taken. */
const conflict = 409;
const saidMax = 160;

export class Visit {
  readonly practice: Practice;
  readonly random: Random;
  readonly #journal: Journal;
  readonly #beganMs: number;
  #dueMs: number;

  /** @param beganMs when the day began, as performance.now() tells @param dueMs when the arrival was due, from then on */
  constructor(practice: Practice, random: Random, journal: Journal, beganMs: number, dueMs: number) {
    this.practice = practice;
    this.random = random;
    this.#journal = journal;
    this.#beganMs = beganMs;
    this.#dueMs = dueMs;
  }

  /** Sends a request. @throws VisitEnded where the answer is not what the visit needs to go on */
  async ask(step: Step, { what, headers, body }: Asked): Promise<WholeAnswer> {
    const { base, vendors } = this.practice;
    const vendor = vendors[step.role];
    const known = body === undefined ? vendor.headers() : vendor.headersWithBody();
    return await this.note(step, () =>
      vendor.exchange({
        method: step.method,
        path: what.startsWith('/') ? what : `${base}/${what}`,
        headers: headers === undefined ? known : { ...known, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  }

  /** Notes what becomes of a request. @throws VisitEnded as `ask` */
  async note(step: Step, send: () => Promise<WholeAnswer>): Promise<WholeAnswer> {
    const answer = await send().catch((error: Error) => ({ status: 0, head: '', body: error.message }));
    const { status, body } = answer;
    const answeredMs = performance.now() - this.#beganMs;
    const isExpected = step.statuses.includes(status);
    this.#journal.note({
      kind: step.name,
      isRead: step.isRead,
      dueMs: this.#dueMs,
      answeredMs,
      bytes: body.length,
      isConflict: isExpected && status === conflict,
      error: isExpected ? undefined : `${step.name}: ${status} ${body.slice(0, saidMax)}`,
    });
    this.#dueMs = answeredMs;
    if (!isExpected || status === conflict) throw new VisitEnded();
    return answer;
  }
}
