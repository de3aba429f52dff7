/**
 * Bindings of profiles: which codes have to be of which value set. The codes are gathered while the resource is walked
 * and looked up afterwards, since value sets may have to be read from the database.
 *
 * https://hl7.org/fhir/R4/terminologies.html#strength
 */
import { type ElementNode, isPlainObject, listPlainObjects, type PlainObject } from './element-node.ts';
import { type Findings, find, quoteValue } from './finding.ts';
import type { ProfileBinding } from './profile.ts';

/** A code as it is looked up; a code, string or uri element has no system. */
export interface BoundCode {
  readonly system?: string;
  readonly code: string;
}

export interface BindingCheck extends ProfileBinding {
  readonly path: string;
  readonly profile: string;
  /** One of them has to be in the value set. Empty: a CodeableConcept with text only. */
  readonly codes: readonly BoundCode[];
}

/** Whether a code is in a value set; undefined when that cannot be told here. */
export type ValueSetMembership = (valueSet: string, code: BoundCode) => Promise<boolean | undefined>;

/** Look-ups of one validation, at most; each code of a value set is looked up once. */
const lookupsMax = 2_000;

/** The codes of an element that a binding is about; undefined for elements without a code, which it does not concern. */
export function listBoundCodes({ value, type }: ElementNode): readonly BoundCode[] | undefined {
  if (typeof value === 'string') return [{ code: value }];
  if (!isPlainObject(value)) return undefined;
  if (type === 'CodeableConcept') return listPlainObjects(value.coding).flatMap(codingOf);
  return typeof value.code === 'string' ? codingOf(value) : undefined;
}

function codingOf({ system, code }: PlainObject): BoundCode[] {
  if (typeof code !== 'string') return [];
  return [typeof system === 'string' ? { system, code } : { code }];
}

/** Looks all codes up and adds what is not in its value set: an error when required, a warning when extensible. */
export async function checkBindings(
  findings: Findings,
  checks: readonly BindingCheck[],
  isMember: ValueSetMembership,
): Promise<void> {
  const known = new Map<string, boolean | undefined>();
  for (const check of checks) {
    const answers: (boolean | undefined)[] = [];
    for (const code of check.codes) {
      const key = JSON.stringify([check.valueSet, code.system, code.code]);
      if (!known.has(key)) {
        if (known.size >= lookupsMax) {
          const problem = `from here on codes were not looked up: more than ${lookupsMax} of them`;
          return find(findings, 'too-costly', check.path, problem, check.profile, 'warning');
        }
        known.set(key, await isMember(check.valueSet, code));
      }
      answers.push(known.get(key));
    }
    judge(findings, check, answers);
  }
}

function judge(findings: Findings, check: BindingCheck, answers: readonly (boolean | undefined)[]): void {
  const { path, profile, strength, valueSet, codes } = check;
  if (answers.includes(true)) return;
  if (answers.includes(undefined)) {
    const problem = `could not be checked: the value set ${valueSet} is not loaded here, or cannot be evaluated`;
    find(findings, 'binding-unchecked', path, problem, profile, strength === 'required' ? 'warning' : 'information');
  } else if (codes.length === 0) {
    if (strength === 'required') find(findings, 'binding', path, `must have a code of ${valueSet} (required)`, profile);
  } else {
    const given = codes.map(({ system, code }) => quoteValue(system === undefined ? code : `${system}|${code}`));
    const problem = `${given.join(', ')} is not in the value set ${valueSet} (${strength})`;
    find(findings, 'binding', path, problem, profile, strength === 'required' ? 'error' : 'warning');
  }
}
