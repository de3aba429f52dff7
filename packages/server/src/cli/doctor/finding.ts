/** What `praxis doctor` says of a set-up. */

/** `problem`: the service does not start, or loses or shows something. `warning`: it serves, and this will hurt. `skipped`: not looked at. */
export type CheckResult = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Finding {
  /** What was looked at: `database`. */
  readonly check: string;
  readonly verdict: CheckResult;
  /** What is so. It holds no secrets. */
  readonly text: string;
  /** What to do, as an imperative. */
  readonly mend?: string;
}

/** Makes the findings of one check. */
export function reportOn(check: string) {
  const make = (verdict: CheckResult, text: string, mend?: string): Finding => ({
    check,
    verdict,
    text,
    ...(mend === undefined ? {} : { mend }),
  });
  return {
    ok: (text: string) => make('ok', text),
    skipped: (text: string) => make('skipped', text),
    warning: (text: string, mend?: string) => make('warning', text, mend),
    problem: (text: string, mend?: string) => make('problem', text, mend),
    /** What was thrown: errors of a start say what is wrong, and what to do, in one line. */
    thrown: (error: unknown) => make('problem', error instanceof Error ? error.message : String(error)),
  };
}
