/**
 * ValueSet (https://hl7.org/fhir/R4/valueset.html): those that a firm keeps never lose a code, whoever writes them
 * (docs/decisions/0204).
 */
import { fail } from '../../base/errors.ts';
import type { Behaviour, VersionChange } from '../../resources/behaviour.ts';
import { type FirmSetCode, isSameCode, readSetCodes } from './codes.ts';
import { buildValueSetUrl, findFirmValueSet } from './table.ts';

export const valueSet: Behaviour<'ValueSet'> = { type: 'ValueSet', judge, judged: ['compose'] };

/** @throws PraxisError `rule-broken` */
function judge({ write, before, after }: VersionChange<'ValueSet'>): void {
  if (findFirmValueSet(write.id) === undefined) return;
  if (after === undefined)
    return refuse(write.id, 'is never deleted: with status retired nothing is judged by it any more', 'ValueSet');
  if (after.url !== buildValueSetUrl(write.id))
    return refuse(write.id, `has the URL ${buildValueSetUrl(write.id)}`, 'ValueSet.url');
  const codes = readSetCodes(after);
  if (codes === undefined)
    return refuse(write.id, 'lists codes one by one: include.system and include.concept alone', 'ValueSet.compose');
  const old = before && readSetCodes(before);
  const listed = [...codes.inUse, ...codes.retired];
  const isListed = (code: FirmSetCode): boolean => listed.some((each) => isSameCode(each, code));
  if (old !== undefined && ![...old.inUse, ...old.retired].every(isListed))
    refuse(write.id, 'never loses a code: list what is retired in compose.exclude', 'ValueSet.compose.exclude');
}

function refuse(id: string, rule: string, path: string): never {
  return fail('rule-broken', {
    diagnostics: `${path}: ValueSet/${id}, which the practice keeps, ${rule}`,
    expression: [path],
  });
}
