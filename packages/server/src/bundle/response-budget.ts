/**
 * How much memory answers to batches and transactions take: each answer has a limit, so that it can be sent at all, and
 * those that a process has under way have one together, of which one API key gets a part. What is counted is the text
 * that entries are answered with, in bytes, from the moment that it is there until the answer is sent
 * (docs/decisions/0212).
 */
import { PraxisError } from '../base/errors.ts';

/** Room for one answer. */
export interface ResponseBudget {
  /** Whether there is room for what an entry is answered with, which then is counted. Once there is none, nothing fits. */
  tryReserve(bytes: number): boolean;
  /** @throws PraxisError once something did not fit: `answer-too-large`; `unavailable` when other answers leave no room */
  requireRemaining(): void;
  /** The answer begins anew: what was taken is given back. */
  empty(): void;
  /** The answer is sent or given up. */
  close(): void;
}

export interface ResponseBudgets {
  /** @param apiKey number of the API key that the answer is for */
  open(apiKey: number, bytesMax: number): ResponseBudget;
}

export interface ResponseLimits {
  /** Of one answer. */
  readonly bundleAnswerBytesMax: number;
  /** Of all that the process has under way. */
  readonly bundleAnswersBytesMax: number;
}

/** An API key gets this part of the room for all, or that of one answer if it is more: it cannot keep all others out. */
const partOfOneKey = 1 / 4;

/** Large answers are sent within seconds, by callers who read them. */
const retrySeconds = 5;

/** The rooms of one process. */
export function openResponseBudgets({ bundleAnswerBytesMax, bundleAnswersBytesMax }: ResponseLimits): ResponseBudgets {
  const ofOneKey = Math.max(bundleAnswerBytesMax, bundleAnswersBytesMax * partOfOneKey);
  const taken = new Map<number, number>();
  let takenByAll = 0;
  const add = (apiKey: number, bytes: number): void => {
    const sum = (taken.get(apiKey) ?? 0) + bytes;
    if (sum === 0) taken.delete(apiKey);
    else taken.set(apiKey, sum);
    takenByAll += bytes;
  };
  const leaves = (apiKey: number, bytes: number): boolean =>
    takenByAll + bytes <= bundleAnswersBytesMax && (taken.get(apiKey) ?? 0) + bytes <= ofOneKey;
  return {
    open(apiKey, bytesMax) {
      const limit = Math.min(bytesMax, bundleAnswersBytesMax); // more would never be there
      let used = 0;
      let refusal: PraxisError | undefined;
      let isClosed = false;
      const empty = (): void => {
        add(apiKey, -used);
        used = 0;
        refusal = undefined;
      };
      return {
        tryReserve(bytes) {
          if (used + bytes > limit) refusal ??= tooLarge(limit);
          else if (!leaves(apiKey, bytes)) refusal ??= noRoomNow();
          if (refusal !== undefined) return false;
          if (isClosed) return true; // nobody is answered any longer
          used += bytes;
          add(apiKey, bytes);
          return true;
        },
        requireRemaining() {
          if (refusal !== undefined) throw refusal;
        },
        empty,
        close() {
          empty();
          isClosed = true;
        },
      };
    },
  };
}

function tooLarge(bytes: number): PraxisError {
  return new PraxisError('answer-too-large', {
    diagnostics: `The answer to the Bundle would be larger than ${bytes} bytes with this entry: ask for it in another Bundle or alone`,
  });
}

function noRoomNow(): PraxisError {
  return new PraxisError('unavailable', {
    diagnostics: `Other large answers to Bundles are being sent: repeat this in ${retrySeconds} seconds`,
    headers: { 'retry-after': String(retrySeconds) },
    limit: 'answers',
  });
}
