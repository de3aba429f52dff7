/** Why one resource of an import was not stored, for people and for programs. */
import type { ErrorCode, ErrorIssue, PraxisError } from '../../base/errors.ts';
import { describeIssues } from '../../engine/outcome.ts';

export interface ImportProblem {
  /** `patients.ndjson:17`, or `bundle.json Bundle.entry[3]`. */
  readonly origin: string;
  readonly code: ErrorCode;
  /** What is wrong; at least one. */
  readonly issues: readonly ErrorIssue[];
}

/** Issues of one resource that are told, at most. */
const issuesMax = 100;
/** Characters of the words of one issue, at most. */
const charactersMax = 1_000;

export function makeProblem(origin: string, { code, issues }: Pick<PraxisError, 'code' | 'issues'>): ImportProblem {
  const told = issues.slice(0, issuesMax).map(({ issue, severity, diagnostics, expression }) => ({
    ...(issue === undefined ? {} : { issue }),
    ...(severity === undefined ? {} : { severity }),
    diagnostics: diagnostics.slice(0, charactersMax),
    ...(expression === undefined ? {} : { expression }),
  }));
  return { origin, code, issues: told };
}

/** The problem of one issue. */
export function describeProblem(origin: string, code: ErrorCode, diagnostics: string, element?: string): ImportProblem {
  const issue = element === undefined ? { diagnostics } : { diagnostics, expression: [element] };
  return makeProblem(origin, { code, issues: [issue] });
}

/** A line for each issue: origin and words. */
export function listProblemLines({ origin, issues }: ImportProblem): readonly string[] {
  return issues.map(({ diagnostics }) => `${origin}: ${diagnostics}`);
}

/** An OperationOutcome; `location` of its issues is the origin, since `expression` names the element. */
export function buildProblemOutcome({ origin, code, issues }: ImportProblem) {
  const issue = describeIssues({ code, issues }).map((each) => ({ ...each, location: [origin] }));
  return { resourceType: 'OperationOutcome', issue };
}
