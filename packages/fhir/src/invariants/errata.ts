/**
 * Invariants of R4 whose published expression does not say what its words say, as far as they are known, and what is used
 * instead. Part of the list of ../errata.ts.
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
import type { Corrections, InvariantChange } from '../erratum.ts';

const verificationStatus = 'http://terminology.hl7.org/CodeSystem/condition-ver-status';
const conditionCategory = 'http://terminology.hl7.org/CodeSystem/condition-category';
const noProblem = `clinicalStatus.exists() or verificationStatus.coding.where(system='${verificationStatus}' and code = 'entered-in-error').exists() or `;
const elementSource = 'https://hl7.org/fhir/R4/elementdefinition.html#invs';

/** By the name of the erratum. */
export const invariants: Corrections<InvariantChange> = {
  'questionnaire-enable-when-boolean': {
    path: 'Questionnaire.item.enableWhen',
    key: 'que-7',
    from: "operator = 'exists' implies (answer is Boolean)",
    to: "operator = 'exists' implies (answer is boolean)",
    reason: 'The value of answer[x] is a FHIR boolean; System.Boolean is another type, so the rule could never be met.',
    source: 'https://hl7.org/fhir/R4/questionnaire.html#invs',
  },
  'element-definition-slice-name-pattern': {
    path: 'ElementDefinition',
    key: 'eld-16',
    from: String.raw`sliceName.empty() or sliceName.matches('^[a-zA-Z0-9\\/\\-_\\[\\]\\@]+$')`,
    to: String.raw`sliceName.empty() or sliceName.matches('^[a-zA-Z0-9/\\-_\\[\\]@]+$')`,
    reason: 'The at sign is escaped in the pattern: no escape of regular expressions with Unicode.',
    source: elementSource,
  },
  'element-definition-path-pattern': {
    path: 'ElementDefinition',
    key: 'eld-19',
    from: String.raw`path.matches('[^\\s\\.,:;\\\'"\\/|?!@#$%&*()\\[\\]{}]{1,64}(\\.[^\\s\\.,:;\\\'"\\/|?!@#$%&*()\\[\\]{}]{1,64}(\\[x\\])?(\\:[^\\s\\.]+)?)*')`,
    to: String.raw`path.matches('[^\\s.,:;\'"/|?!@#$%&*()\\[\\]{}]{1,64}(\\.[^\\s.,:;\'"/|?!@#$%&*()\\[\\]{}]{1,64}(\\[x\\])?(:[^\\s.]+)?)*')`,
    reason: 'Quotes, slashes and colons are escaped in the pattern: no escapes of regular expressions with Unicode.',
    source: elementSource,
  },
  'element-definition-path-name-pattern': {
    path: 'ElementDefinition',
    key: 'eld-20',
    from: String.raw`path.matches('[A-Za-z][A-Za-z0-9]*(\\.[a-z][A-Za-z0-9]*(\\[x])?)*')`,
    to: String.raw`path.matches('[A-Za-z][A-Za-z0-9]*(\\.[a-z][A-Za-z0-9]*(\\[x\\])?)*')`,
    reason: 'A bracket of the pattern is closed without an escape: not allowed in regular expressions with Unicode.',
    source: elementSource,
  },
  'condition-problem-list-item': {
    path: 'Condition',
    key: 'con-3',
    from: `${noProblem}category.select($this='problem-list-item').empty()`,
    to: `${noProblem}category.coding.where(system='${conditionCategory}' and code='problem-list-item').empty()`,
    reason:
      'It compares a CodeableConcept with a text, so it asks every condition with a category, not problem list items.',
    source: 'https://hl7.org/fhir/R4/condition.html#invs',
  },
  'timing-offset-of-several-events': {
    path: 'Timing.repeat',
    key: 'tim-9',
    from: "offset.empty() or (when.exists() and ((when in ('C' | 'CM' | 'CD' | 'CV')).not()))",
    to: "offset.empty() or (when.exists() and when.where($this in ('C' | 'CM' | 'CD' | 'CV')).empty())",
    reason: 'The operator in takes one value, but when repeats: of two events nothing could be told.',
    source: 'https://hl7.org/fhir/R4/datatypes.html#Timing',
  },
};
