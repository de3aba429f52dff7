/**
 * Time that statements take as it would be on a database of their own: while more are under way than a database runs side by
 * side, the time of each counts in part only. So what a caller is charged does not grow with what others do
 * (docs/decisions/0241).
 */

/** Statements that a database runs side by side without slowing each other down, at least. */
const sideBySide = 2;

export class SharedTime {
  readonly #now: () => number;
  #underWay = 0;
  #passedMs = 0;
  #sinceMs = 0;

  /** @param now monotonic time in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A statement begins. @returns its beginning, for `end` */
  begin(): number {
    this.#pass();
    this.#underWay += 1;
    return this.#passedMs;
  }

  /** How long the statement has taken until now, in ms. */
  since(beginning: number): number {
    this.#pass();
    return this.#passedMs - beginning;
  }

  /** A statement has ended. @returns the time it took, in ms */
  end(beginning: number): number {
    this.#pass();
    this.#underWay -= 1;
    return this.#passedMs - beginning;
  }

  #pass(): void {
    const nowMs = this.#now();
    if (this.#underWay > 0) this.#passedMs += (nowMs - this.#sinceMs) * Math.min(1, sideBySide / this.#underWay);
    this.#sinceMs = nowMs;
  }
}
