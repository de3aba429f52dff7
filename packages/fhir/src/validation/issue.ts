/**
 * What the validator reports, and the account it keeps while it walks through a resource.
 *
 * https://hl7.org/fhir/R4/valueset-issue-type.html
 */
import type { StepMeter } from '../budget.ts';
import type { ResourceScope } from './scope.ts';

/** Rule → code of the issue in an OperationOutcome. */
const issueCodes = {
  'unknown-element': 'structure',
  'resource-type': 'structure',
  'cardinality-min': 'required',
  'cardinality-max': 'structure',
  empty: 'structure',
  type: 'structure',
  choice: 'structure',
  'primitive-sibling': 'structure',
  contained: 'invariant',
  extension: 'extension',
  format: 'value',
  id: 'value',
  'too-long': 'too-long',
  reference: 'value',
  'reference-target': 'value',
  'required-binding': 'code-invalid',
  narrative: 'invalid',
} as const;

export type ValidationRule = keyof typeof issueCodes;

export interface ValidationIssue {
  /** https://hl7.org/fhir/R4/valueset-issue-type.html */
  readonly code: (typeof issueCodes)[ValidationRule];
  readonly severity: 'error' | 'warning';
  /** FHIRPath of the element: 'Patient.contact[0].gender'; 'Observation.value' for valueQuantity and _valueQuantity. */
  readonly path: string;
  readonly rule: ValidationRule;
  /** One sentence that begins with the path. May quote up to 64 characters of the value. */
  readonly diagnostics: string;
}

/** One validation while it runs. */
export interface Run {
  readonly issues: ValidationIssue[];
  readonly issuesMax: number;
  /** Whether issuesMax is reached: the walk then ends early. */
  full: boolean;
  /** The resource that references are resolved in. */
  scope: ResourceScope;
  readonly meter: StepMeter | undefined;
  /** Gets the scope of the outermost resource when all of it is read; absent: nobody asks. */
  readonly onRead?: (scope: ResourceScope) => void;
}

/** Where an element stands. Written out as a path only when there is an issue. */
export interface Place {
  readonly parent: Place | undefined;
  readonly name: string;
  /** −1 for an element that does not repeat. */
  readonly index: number;
}

/** The place of an element inside another. */
export function stepInto(parent: Place, name: string, index = -1): Place {
  return { parent, name, index };
}

export function buildElementPath(place: Place): string {
  const step = place.index < 0 ? place.name : `${place.name}[${place.index}]`;
  return place.parent === undefined ? step : `${buildElementPath(place.parent)}.${step}`;
}

/** Adds an issue; the problem is a sentence without the path. */
export function report(run: Run, rule: ValidationRule, place: Place, problem: string): void {
  if (run.full) return;
  const path = buildElementPath(place);
  run.issues.push({ code: issueCodes[rule], severity: 'error', path, rule, diagnostics: `${path}: ${problem}` });
  run.full = run.issues.length >= run.issuesMax;
}

/** A value as it may be quoted in a diagnostic: as JSON, shortened. */
export function quoteText(value: string): string {
  return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
}
