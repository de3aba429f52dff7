/**
 * Invariants of R4's base definitions whose published expression does not say what its text says. R4 is frozen, so they
 * stay in it for good. `to` is used in the place of `from`; without `to` the invariant is left out.
 */

export interface InvariantErratum {
  readonly key: string;
  readonly path: string;
  /** The expression as published: a row that does not fit what R4 publishes is an error. */
  readonly from: string;
  readonly to?: string;
  /** What is wrong with it, in one or two sentences. */
  readonly reason: string;
}

export const invariantErrata: readonly InvariantErratum[] = [
  {
    key: 'que-7',
    path: 'Questionnaire.item.enableWhen',
    from: "operator = 'exists' implies (answer is Boolean)",
    to: "operator = 'exists' implies (answer is boolean)",
    reason: 'answer[x] is a FHIR boolean; System.Boolean is another type, so the rule could never be met.',
  },
  {
    key: 'eld-16',
    path: 'ElementDefinition',
    from: String.raw`sliceName.empty() or sliceName.matches('^[a-zA-Z0-9\\/\\-_\\[\\]\\@]+$')`,
    to: String.raw`sliceName.empty() or sliceName.matches('^[a-zA-Z0-9/\\-_\\[\\]@]+$')`,
    reason: 'The at sign is escaped in the pattern: no escape of regular expressions with Unicode.',
  },
  {
    key: 'eld-19',
    path: 'ElementDefinition',
    from: String.raw`path.matches('[^\\s\\.,:;\\\'"\\/|?!@#$%&*()\\[\\]{}]{1,64}(\\.[^\\s\\.,:;\\\'"\\/|?!@#$%&*()\\[\\]{}]{1,64}(\\[x\\])?(\\:[^\\s\\.]+)?)*')`,
    to: String.raw`path.matches('[^\\s.,:;\'"/|?!@#$%&*()\\[\\]{}]{1,64}(\\.[^\\s.,:;\'"/|?!@#$%&*()\\[\\]{}]{1,64}(\\[x\\])?(:[^\\s.]+)?)*')`,
    reason: 'Quotes, slashes and colons are escaped in the pattern: no escapes of regular expressions with Unicode.',
  },
  {
    key: 'eld-20',
    path: 'ElementDefinition',
    from: String.raw`path.matches('[A-Za-z][A-Za-z0-9]*(\\.[a-z][A-Za-z0-9]*(\\[x])?)*')`,
    to: String.raw`path.matches('[A-Za-z][A-Za-z0-9]*(\\.[a-z][A-Za-z0-9]*(\\[x\\])?)*')`,
    reason: 'A bracket of the pattern is closed without an escape: not allowed in regular expressions with Unicode.',
  },
  {
    key: 'con-3',
    path: 'Condition',
    from: "clinicalStatus.exists() or verificationStatus.coding.where(system='http://terminology.hl7.org/CodeSystem/condition-ver-status' and code = 'entered-in-error').exists() or category.select($this='problem-list-item').empty()",
    to: "clinicalStatus.exists() or verificationStatus.coding.where(system='http://terminology.hl7.org/CodeSystem/condition-ver-status' and code = 'entered-in-error').exists() or category.coding.where(system='http://terminology.hl7.org/CodeSystem/condition-category' and code='problem-list-item').empty()",
    reason:
      'It compares a CodeableConcept with a text, so it asks every condition with a category, not problem list items.',
  },
];
