/**
 * Several executions of one prepared statement for firms that are not set yet, as one unit of the extended query protocol:
 *
 *     { Bind, Execute of the firm's setting  { Bind [Describe] Execute } … } …  Sync
 *
 * What the switch of the firm costs more than it would without row-level security is saved by there being one transaction
 * instead of many. After an error the server skips everything up to Sync, so an execution runs only after the setting of its
 * own firm has succeeded. When one fails, those behind it do not run and those before it are rolled back: all but the failed
 * one are to be sent again, each by itself. So none is answered before the unit has ended.
 */

import { classifyFailure } from '../sqlstate.ts';
import { BaseQuery, type FirmPlan, type Row, sendFirm, type Wire } from './pipelined-query.ts';

/** Tells that an execution had no effect because of another one of its run: to be sent again by itself. */
export const rolledBack = Symbol('rolled back with another statement of its run');

export interface BatchPlan {
  /** The statement, prepared under its name already. */
  readonly name: string;
  readonly text: string;
  /** Those of one firm stand together: its setting is sent before the first of them. */
  readonly executions: readonly Execution[];
  /** Called once, with what became of each execution. */
  readonly settle: (outcomes: readonly BatchOutcome[]) => void;
}

export interface Execution {
  readonly firm: FirmPlan;
  /** The parameters as texts. */
  readonly values: readonly (string | null)[];
}

export interface BatchOutcome {
  /** May be `rolledBack`; undefined: succeeded. */
  readonly error: unknown;
  readonly rows: Row[];
}

/** Executions of one run at most: the first is answered with the last. */
export const executionsMax = 16;

export class MultiTenantBatch extends BaseQuery {
  readonly #plan: BatchPlan;
  /** What each command of the answer is for: the number of an execution; the first of two is for its setting. */
  readonly #steps: readonly number[];
  readonly #rows: Row[][];
  /** By execution: why a value could not be read. */
  readonly #unreadable: unknown[] = [];
  #done = 0;
  #settled = false;

  constructor(plan: BatchPlan) {
    super(plan.text, [], () => undefined);
    this.name = plan.name;
    this.queryMode = 'extended';
    this.#plan = plan;
    this.#steps = stepsOf(plan.executions);
    this.#rows = plan.executions.map(() => []);
  }

  /** Writes the run; pg calls it. */
  override submit(wire: Wire): Error | null {
    const { name, executions } = this.#plan;
    let set: string | undefined;
    for (const [at, { firm, values }] of executions.entries()) {
      if (firm.value !== set) sendFirm(wire, firm);
      set = firm.value;
      wire.bind({ portal: '', statement: name, values, valueMapper: undefined });
      // The columns are the same for all.
      if (at === 0) wire.describe({ type: 'P' });
      wire.execute({ portal: '', rows: 0 });
    }
    wire.sync();
    return null;
  }

  override handleDataRow({ fields }: { readonly fields: unknown }): void {
    const at = this.#steps[this.#done] ?? 0;
    if (this.#steps[this.#done + 1] === at) return;
    try {
      this.#rows[at]?.push(this._result.parseRow(fields));
    } catch (error) {
      this.#unreadable[at] = error;
    }
  }

  override handleCommandComplete(): void {
    this.#done += 1;
  }

  /** The error is that of the execution at hand, or of its setting; of all when the session has ended. */
  override handleError(error: unknown): void {
    const isLost = classifyFailure(error) === 'lost';
    const failed = this.#steps[this.#done];
    this.#end((at) => ({ error: isLost || at === failed ? error : rolledBack, rows: [] }));
  }

  override handleReadyForQuery(): void {
    this.#end((at) => {
      const error = this.#unreadable[at];
      return { error, rows: error === undefined ? (this.#rows[at] ?? []) : [] };
    });
  }

  #end(outcomeOf: (at: number) => BatchOutcome): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#plan.settle(this.#rows.map((_, at) => outcomeOf(at)));
  }
}

function stepsOf(executions: readonly Execution[]): readonly number[] {
  return executions.flatMap(({ firm }, at) => (executions[at - 1]?.firm.value === firm.value ? [at] : [at, at]));
}
