/**
 * What one piece of work that comes from outside may cost. Whatever the sender chooses the cost of (an expression, a pattern,
 * a body, a period) takes a `Budget` and spends from it, so that no request holds the thread, the memory or the others up.
 */

/** What a budget holds. */
export interface BudgetLimits {
  /** Steps of computing: one element visited, one character tried, one row looked at. */
  readonly steps: number;
  /** Bytes of memory or of an answer. */
  readonly bytes: number;
  /** Time from the opening of the budget, waiting included, in ms. */
  readonly ms: number;
}

/** What is being done, for the one whose budget is used up. */
export interface BudgetedWork {
  /** As the subject of a sentence: `The expression of the search parameter "zz"`. */
  readonly what: string;
  /** What would cost less, as a request: `name a day`. */
  readonly cheaper: string;
}

/** A limit that was passed, and by what. */
export interface BudgetExcess extends BudgetedWork {
  readonly limit: keyof BudgetLimits;
  readonly max: number;
}

/** Where a budget belongs: its clock, how it lets others go on, and what it refuses with. */
export interface BudgetHost {
  /** Monotonic time in ms. */
  readonly now: () => number;
  /**
   * Resolves when the next slice of this work may begin.
   * @param untilMs the time of the work is over then, by `now`: it need not wait any longer
   */
  readonly nextSlice: (untilMs: number) => Promise<void>;
  /**
   * How long the thread has been held until `nowMs` without others going on, in ms. Absent: since the slice of the work began,
   * though the work may have waited meanwhile.
   */
  readonly heldMs?: (nowMs: number) => number;
  /** The error that ends the work. */
  readonly errorOf: (excess: BudgetExcess) => Error;
}

/** Steps between two looks at the clock. */
const stepsPerLook = 1_024;

/** Time that work may hold the thread before others go on, in ms. */
export const sliceMs = 5;

/** Steps after which work is long enough to take turns with other work that is: about a millisecond. */
export const stepsPerTurn = 8_192;

/** What computing spends from: a budget, or a part of one. */
export interface StepBudget {
  /** Spends `count` steps before they are made. @throws Error of the host when none are left, or the time is over */
  spend(count: number, work: BudgetedWork): void;
}

/** Spent by everything that one request, or one portion of a job, does. */
export interface Budget extends StepBudget {
  /** Spends bytes before they are taken. They can be given back. @throws Error of the host when none are left */
  take(bytes: number, work: BudgetedWork): void;
  /** Returns bytes that were taken. */
  giveBack(bytes: number): void;
  /**
   * For loops that may be long: lets others go on when the thread has been held for `sliceMs`; otherwise resolves at
   * once. @throws Error of the host when the time is over
   */
  breathe(work: BudgetedWork): Promise<void>;
  /**
   * Before a piece of work that cannot be sliced and whose size the sender chooses: waits for its turn when the work has made
   * more than `stepsPerTurn` steps since its last slice began, so that no two such pieces follow each other at once. Small work
   * never waits. @throws Error of the host when the time is over
   */
  turn(work: BudgetedWork): Promise<void>;
  /** Adds steps and time, for a request of several parts that could each have come alone. */
  extend(more: Pick<BudgetLimits, 'steps' | 'ms'>): void;
  /** Steps that are left. */
  readonly stepsLeft: number;
}

/** A budget of `limits`, whose time begins now. */
export function openBudget(limits: BudgetLimits, host: BudgetHost): Budget {
  const { now, nextSlice, heldMs, errorOf } = host;
  const openedMs = now();
  let { steps, bytes } = limits;
  let { steps: stepsMax, ms: msMax } = limits;
  let untilLook = stepsPerLook;
  let sliceBeganMs = openedMs;
  let stepsOfSlice = 0;

  const requireTime = (work: BudgetedWork): number => {
    const nowMs = now();
    if (nowMs - openedMs > msMax) throw errorOf({ ...work, limit: 'ms', max: msMax });
    return nowMs;
  };

  const beginSlice = async (work: BudgetedWork): Promise<void> => {
    await nextSlice(openedMs + msMax);
    sliceBeganMs = now();
    heldMs?.(sliceBeganMs); // a turn is known from the first look at it
    stepsOfSlice = 0;
    requireTime(work);
  };

  return {
    spend(count, work) {
      steps -= count;
      stepsOfSlice += count;
      if (steps < 0) throw errorOf({ ...work, limit: 'steps', max: stepsMax });
      untilLook -= count;
      if (untilLook > 0) return;
      untilLook = stepsPerLook;
      requireTime(work);
    },
    take(count, work) {
      bytes -= count;
      if (bytes >= 0) return;
      bytes += count; // nothing was taken
      throw errorOf({ ...work, limit: 'bytes', max: limits.bytes });
    },
    giveBack(count) {
      bytes += count;
    },
    async breathe(work) {
      const nowMs = requireTime(work);
      if (nowMs - sliceBeganMs < sliceMs) return;
      const held = heldMs?.(nowMs) ?? sliceMs;
      if (held >= sliceMs) await beginSlice(work);
      else sliceBeganMs = nowMs - held;
    },
    async turn(work) {
      if (stepsOfSlice > stepsPerTurn) await beginSlice(work);
    },
    extend(more) {
      steps += more.steps;
      stepsMax += more.steps;
      msMax += more.ms;
    },
    get stepsLeft() {
      return Math.max(0, steps);
    },
  };
}

/**
 * A part of `budget`: what spends from it spends from the budget as well, and has `steps` of its own at most.
 * @param errorOf the error of who exceeds the part
 */
export function openAllotment(budget: StepBudget, steps: number, errorOf: (excess: BudgetExcess) => Error): StepBudget {
  let left = steps;
  return {
    spend(count, work) {
      left -= count;
      if (left < 0) throw errorOf({ ...work, limit: 'steps', max: steps });
      budget.spend(count, work);
    },
  };
}

/** Steps of which a budget is told at once: to tell of one takes longer than to make it. */
const stepsPerSettlement = 256;

/** Counts the steps of many small pieces of the same work for `budget`, which hears of them now and then. */
export class StepMeter {
  readonly #budget: StepBudget;
  readonly #work: BudgetedWork;
  #unsettled = 0;
  #settled = 0;

  constructor(budget: StepBudget, work: BudgetedWork) {
    this.#budget = budget;
    this.#work = work;
  }

  /** Counts steps before they are made. @throws Error of the host; less than `stepsPerSettlement` steps late */
  spend(count: number): void {
    this.#unsettled += count;
    if (this.#unsettled >= stepsPerSettlement) this.settle();
  }

  /** Tells the budget of what is left: at the end of the work. @throws Error of the host */
  settle(): void {
    const count = this.#unsettled;
    this.#unsettled = 0;
    this.#settled += count;
    this.#budget.spend(count, this.#work);
  }

  /** Steps so far. */
  get spent(): number {
    return this.#settled + this.#unsettled;
  }
}
