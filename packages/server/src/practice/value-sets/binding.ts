/**
 * Whether a change of a resource uses codes that the firm keeps (docs/decisions/0205): what is new in a bound element is
 * judged by the codes in use; what the version before said may stay, so a retired code outlives its retirement where it is.
 */
import { type BudgetedWork, compileExtractor, type JsonObject, type JsonValue, type StepBudget } from '@praxis/fhir';
import type { ErrorIssue } from '../../base/errors.ts';
import { findText, listObjects } from '../../search/json-values.ts';
import { type FirmSetCode, type FirmSetCodes, isAmong, type SaidCoding } from './codes.ts';
import { type BoundElement, codeSystemUrl, type FirmValueSet, firmValueSets } from './table.ts';

interface Governed extends BoundElement {
  readonly set: FirmValueSet;
}

export interface FirmCodesContext {
  /** Of those of `ids` that the firm keeps and has judged by: practice/value-sets/store.ts. */
  readonly keptCodes: (ids: readonly string[]) => Promise<ReadonlyMap<string, FirmSetCodes>>;
  /** Whether refusals may name codes: what a read of the ValueSet would tell the caller anyway. */
  readonly maySeeCodes: boolean;
  /** A step for each element that is looked at. */
  readonly budget: StepBudget;
}

const judging: BudgetedWork = { what: 'Judging the codes of the resource', cheaper: 'send fewer codes' };

/** Codes that a refusal names, at most. */
const namedMax = 8;

const byType: ReadonlyMap<string, readonly Governed[]> = Map.groupBy(
  firmValueSets.flatMap((set) => set.governs.map((element) => ({ ...element, set }))),
  ({ type }) => type,
);

/** Top-level members of the type that the firm's codes govern: a verdict on a change of one tells what it said before. */
export function listBoundMembers(type: string): readonly string[] {
  return [...new Set((byType.get(type) ?? []).map(({ member }) => member))];
}

/**
 * Every concept that is new in `after` and has none of the firm's codes in use; [] also where the firm keeps no codes.
 * @param before the version before; undefined: there is none
 */
export async function listCodesOutsideBinding(
  context: FirmCodesContext,
  type: string,
  before: JsonObject | undefined,
  after: JsonObject,
): Promise<readonly ErrorIssue[]> {
  const said = (byType.get(type) ?? []).flatMap((by) => newConcepts(by, before, after, context.budget));
  if (said.length === 0) return [];
  const kept = await context.keptCodes([...new Set(said.map(({ by }) => by.set.id))]);
  return said.flatMap((each) => {
    const codes = kept.get(each.by.set.id);
    return codes === undefined || isKnown(codes, each) ? [] : [issueOf(context, codes, each)];
  });
}

/** Concepts that a bound element of the changed resource did not say before; `path` is the FHIRPath of the element. */
function newConcepts(by: Governed, before: JsonObject | undefined, after: JsonObject, budget: StepBudget) {
  const select = compileExtractor(by.type, by.expression);
  const known = new Set(
    before === undefined ? [] : select(before, budget, judging).map(({ value }) => keyOf(codingsOf(value))),
  );
  return select(after, budget, judging).flatMap(({ value, path, type }) => {
    const codings = type === 'CodeableConcept' ? codingsOf(value) : [];
    return codings.length === 0 || known.has(keyOf(codings)) ? [] : [{ by, path, codings }];
  });
}

function codingsOf(value: JsonValue): readonly SaidCoding[] {
  return listObjects(value, 'coding').flatMap((coding) => {
    const code = findText(coding, 'code');
    const system = findText(coding, 'system');
    return code === undefined ? [] : [{ code, ...(system === undefined ? {} : { system }) }];
  });
}

function keyOf(codings: readonly SaidCoding[]): string {
  return JSON.stringify(codings.map(({ system, code }) => [system, code]));
}

type Said = ReturnType<typeof newConcepts>[number];

function isKnown({ inUse }: FirmSetCodes, { by, codings }: Said): boolean {
  if (codings.some((coding) => isAmong(inUse, coding))) return true;
  const own = codeSystemUrl(by.set.id);
  return by.strength === 'extensible' && codings.every(({ system }) => system !== undefined && system !== own);
}

function issueOf({ maySeeCodes }: FirmCodesContext, { inUse, retired }: FirmSetCodes, said: Said): ErrorIssue {
  const { by, path, codings } = said;
  const wasRetired = maySeeCodes && codings.some((coding) => isAmong(retired, coding));
  const problem = wasRetired ? 'has a code that was retired from' : 'has no code of';
  const advice = maySeeCodes ? `use ${named(inUse)}` : 'acl/val_set_r lets an application read the set';
  return {
    diagnostics: `${path} ${problem} ValueSet/${by.set.id}, which the practice keeps: ${advice}`,
    expression: [path],
    issue: 'code-invalid',
  };
}

/** `NEW (New patient), FOLLOWUP (Follow-up) or 3 others`. */
function named(codes: readonly FirmSetCode[]): string {
  const shown = codes.slice(0, namedMax).map(({ code, display }) => (display === code ? code : `${code} (${display})`));
  const others = codes.length - shown.length;
  const all = others === 0 ? shown : [...shown, `${others} other${others === 1 ? '' : 's'}`];
  return all.length === 1 ? String(all[0]) : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
}
