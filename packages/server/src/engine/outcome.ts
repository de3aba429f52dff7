/**
 * OperationOutcome texts that the server writes (https://hl7.org/fhir/R4/operationoutcome.html).
 */
import type { InvariantBreach } from '@praxis/fhir';
import { type Disclosed, markServerWritten } from '../access/disclosure.ts';
import { errorTable, type PraxisError } from '../base/errors.ts';

/** Extension of an issue: a resource that would do instead. */
export const alternativeUrl = 'https://praxis.health/fhir/StructureDefinition/alternative';

/**
 * The OperationOutcome of an error: first issue first, useful words first. People are often shown no more than the first
 * 200 characters of a body, so `diagnostics` stands before what programs read.
 */
export function buildErrorOutcome(error: PraxisError): Disclosed<string> {
  return markServerWritten(JSON.stringify({ resourceType: 'OperationOutcome', issue: describeIssues(error) }));
}

/** The issues of an OperationOutcome, in their order; what an issue lacks is undefined. */
export function describeIssues({ code, issues }: Pick<PraxisError, 'code' | 'issues'>) {
  return issues.map((issue) => ({
    severity: issue.severity ?? 'error',
    code: issue.issue ?? errorTable[code].issue,
    diagnostics: issue.diagnostics,
    expression: issue.expression,
    details: {
      coding: [{ system: 'https://praxis.health/fhir/CodeSystem/error', code }],
      text: issue.diagnostics,
    },
    extension: issue.alternative && [{ url: alternativeUrl, valueReference: issue.alternative }],
  }));
}

/**
 * The OperationOutcome for `Prefer: return=OperationOutcome`.
 * @param breaches invariants that what was stored breaks nevertheless, as warnings
 */
export function buildWrittenOutcome(
  type: string,
  id: string,
  breaches: readonly InvariantBreach[] = [],
): Disclosed<string> {
  const stored = { severity: 'information', code: 'informational', diagnostics: `${type}/${id} was stored` };
  const warnings = breaches.slice(0, warningsMax).map(({ key, path, human }) => ({
    severity: 'warning',
    code: 'invariant',
    diagnostics: `${path}: ${human.trim()} (${key})`,
    expression: [path],
  }));
  return markServerWritten(JSON.stringify({ resourceType: 'OperationOutcome', issue: [stored, ...warnings] }));
}

/** Warnings of one answer, at most. */
const warningsMax = 100;

/** The same for a conditional create that found a match. */
export function buildMatchedOutcome(type: string, id: string): Disclosed<string> {
  return information(`${type}/${id} matches the criteria: nothing was stored`);
}

/** Extension of an issue: the number under which a write waits for the practice. */
export const reconciliationUrl = 'https://praxis.health/fhir/StructureDefinition/reconciliation-id';

/** That a write waits for the practice to accept it. @param task id of the Task, which is the reconciliation id */
export function buildAwaitingOutcome(type: string, task: string): Disclosed<string> {
  const diagnostics = `${type} waits for the practice to accept it; its reconciliation id is ${task}: $reconciliation?id=${task} or Task/${task} tells what came of it`;
  const coding = [{ system: 'https://praxis.health/fhir/CodeSystem/information', code: 'awaiting-acceptance' }];
  const extension = [{ url: reconciliationUrl, valueString: task }];
  const issue = [{ severity: 'information', code: 'informational', diagnostics, details: { coding }, extension }];
  return markServerWritten(JSON.stringify({ resourceType: 'OperationOutcome', issue }));
}

/** In place of the body of a first answer that is not told again. */
export function buildWithheldOutcome(): Disclosed<string> {
  return information(
    'The request with this Idempotency-Key was carried out; its answer is not repeated, since rights have changed since or it was too long to keep: read what it concerns',
  );
}

/** In place of an answer for which the Bundle around it has no room. */
export function buildOmittedOutcome(): Disclosed<string> {
  return buildWarningOutcome(
    'too-costly',
    'The entry was carried out; its answer is left out, since the Bundle has no room for it: read what it concerns',
  );
}

/** A warning about an answer that is not all it could be; `code` is of http://hl7.org/fhir/ValueSet/issue-type. */
export function buildWarningOutcome(code: 'too-costly' | 'suppressed', diagnostics: string): Disclosed<string> {
  const issue = [{ severity: 'warning', code, diagnostics }];
  return markServerWritten(JSON.stringify({ resourceType: 'OperationOutcome', issue }));
}

/** That `total` of the Bundle is no count. */
export function buildEstimateOutcome(how: string): Disclosed<string> {
  return information(`Bundle.total is an estimate: ${how}; _total=accurate counts`);
}

function information(diagnostics: string): Disclosed<string> {
  const issue = [{ severity: 'information', code: 'informational', diagnostics }];
  return markServerWritten(JSON.stringify({ resourceType: 'OperationOutcome', issue }));
}
