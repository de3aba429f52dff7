/**
 * What a validation finds, and the account it keeps while it runs.
 *
 * https://hl7.org/fhir/R4/operationoutcome.html · https://hl7.org/fhir/R4/valueset-issue-type.html
 */

/** Rules of profiles → code of the issue. Invariants go by their key, structure by the rules of @praxis/fhir. */
const issueCodes = {
  type: 'structure',
  'cardinality-min': 'required',
  'cardinality-max': 'structure',
  fixed: 'value',
  pattern: 'value',
  'min-value': 'value',
  'max-value': 'value',
  'max-length': 'too-long',
  slicing: 'structure',
  'slice-order': 'structure',
  'slice-min': 'required',
  'slice-max': 'structure',
  'reference-target': 'value',
  binding: 'code-invalid',
  'binding-unchecked': 'not-supported',
  'profile-unknown': 'not-found',
  'profile-type': 'structure',
  'profile-match': 'structure',
  'invariant-unevaluated': 'not-supported',
  'too-costly': 'too-costly',
} as const;

export type ProfileRule = keyof typeof issueCodes;

export interface Finding {
  readonly severity: 'error' | 'warning' | 'information';
  /** https://hl7.org/fhir/R4/valueset-issue-type.html */
  readonly code: string;
  /** FHIRPath of the element: 'Patient.contact[0].gender'. */
  readonly path: string;
  /** 'cardinality-min', 'pattern', … or the key of an invariant: 'obs-6'. */
  readonly rule: string;
  /** One sentence that begins with the path; may quote up to 64 characters of the value. */
  readonly diagnostics: string;
  /** Canonical URL of the profile whose rule it is; absent for the base definitions. */
  readonly profile?: string;
}

/** A list of findings that ends at a limit. */
export interface Findings {
  readonly list: Finding[];
  readonly max: number;
  /** Only errors count, for finding out whether something conforms. */
  readonly errorsOnly?: true;
}

/** Adds what a rule of a profile finds; the problem is a sentence without the path. */
export function find(
  findings: Findings,
  rule: ProfileRule,
  path: string,
  problem: string,
  profile: string | undefined,
  severity: Finding['severity'] = 'error',
): void {
  add(findings, { severity, code: issueCodes[rule], path, rule, ...diagnosticsOf(path, problem, profile) });
}

/** Adds that an invariant does not hold. */
export function findBroken(
  findings: Findings,
  path: string,
  invariant: { readonly key: string; readonly severity: 'error' | 'warning'; readonly human: string },
  profile: string | undefined,
): void {
  const { key, severity, human } = invariant;
  const text = diagnosticsOf(path, `${human.trim()} (${key})`, profile);
  add(findings, { severity, code: 'invariant', path, rule: key, ...text });
}

/** Adds that an invariant could not be evaluated, and why. */
export function findUnevaluated(
  findings: Findings,
  path: string,
  key: string,
  reason: string,
  profile: string | undefined,
): void {
  const problem = `the invariant ${key} could not be evaluated: ${reason}`;
  find(findings, 'invariant-unevaluated', path, problem, profile, 'warning');
}

function diagnosticsOf(path: string, problem: string, profile: string | undefined) {
  return profile === undefined
    ? { diagnostics: `${path}: ${problem}` }
    : { diagnostics: `${path}: ${problem} [${profile}]`, profile };
}

function add(findings: Findings, finding: Finding): void {
  if (findings.list.length >= findings.max) return;
  if (findings.errorsOnly === true && finding.severity !== 'error') return;
  const same = (other: Finding) => other.path === finding.path && other.diagnostics === finding.diagnostics;
  if (!findings.list.some(same)) findings.list.push(finding);
}

/** A value as it may be quoted: as JSON, shortened. */
export function quoteValue(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 66 ? `${text.slice(0, 65)}…` : text;
}
