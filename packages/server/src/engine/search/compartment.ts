/**
 * Compartments (https://hl7.org/fhir/R4/compartmentdefinition.html): what belongs to one patient, encounter, related person,
 * practitioner or device, by the reference parameters that R4 lists.
 */
import { compartments } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { memoize } from '../../access/memoize.ts';
import { indexElements } from '../../search/index/index-rows.ts';
import { computeParameterNumber, getTypeNumber } from '../../search/numbers.ts';
import { getStandardParameters, isSearchable } from '../../search/parameters.ts';
import type { CompartmentScope } from '../../search/query/compartment-scope.ts';
import { getTypeName } from '../../storage/rows.ts';
import type { StoredResource } from '../../storage/store.ts';
import type { FhirRequest, InteractionContext } from '../context.ts';

/** By the type of the owner, and by that of the member: what R4 says does not change. */
const codesOf = new Map<string, Map<string, readonly string[]>>();

/** The types of which resources can be in a compartment of `type`, in alphabetical order. */
export function listMemberTypes(type: string): readonly string[] {
  const listed = [...(compartments.get(type)?.keys() ?? [])];
  return listed.filter((member) => listCodes(type, member).length > 0);
}

/**
 * How resources of the type `member` are in the compartment of `type`/`id`; undefined when none is. The resource itself is
 * in its own.
 */
export function findCompartmentScope(type: string, id: string, member: string): CompartmentScope | undefined {
  const codes = listCodes(type, member);
  return codes.length === 0 ? undefined : { type, id, codes };
}

/** Codes of the parameters by which resources of the type `member` are in the compartment of a `type`. */
function listCodes(type: string, member: string): readonly string[] {
  const listed = compartments.get(type)?.get(member);
  if (type !== member && listed === undefined) return [];
  const own = type === member ? ['_id'] : [];
  if (listed === undefined) return own;
  const ofType = memoize(codesOf, type, () => new Map<string, readonly string[]>());
  return memoize(ofType, member, () => [...listed.filter((code) => isLink(member, code)), ...own]);
}

function isLink(type: string, code: string): boolean {
  const parameter = getStandardParameters(type).get(code);
  return parameter?.definition.type === 'reference' && isSearchable(parameter.definition);
}

/** The types of a compartment, that of its owner included, in alphabetical order. */
export function listCompartmentTypes(type: string): readonly string[] {
  return [...new Set([type, ...listMemberTypes(type)])].sort();
}

/** The compartment that a search stays inside, if any; `requireInteraction` has seen that the type can be in it. */
export function findRequestScope({
  type,
  compartment,
}: Pick<FhirRequest, 'type' | 'compartment'>): CompartmentScope | undefined {
  return compartment && findCompartmentScope(compartment.type, compartment.id, type);
}

type IndexingContext = Pick<InteractionContext, 'scope' | 'baseUrl' | 'budget'>;

/** Whether a resource is in the compartment of the scope, by the rows that a search would find it by. */
export function isInCompartment(
  context: IndexingContext,
  row: StoredResource,
  { type, id, codes }: CompartmentScope,
): boolean {
  if (row.type === type && row.id === id) return true;
  return listOwners(context, row, type, codes).includes(id);
}

/** Ids of those of `type` in whose compartments a resource is, its own one included. */
export function listCompartmentOwners(context: IndexingContext, row: StoredResource, type: string): readonly string[] {
  return row.type === type ? [row.id] : listOwners(context, row, type, listCodes(type, row.type));
}

/** Ids of those of `type` that the resource refers to by the parameters. */
function listOwners(
  { scope: { timeZone }, baseUrl, budget }: IndexingContext,
  row: StoredResource,
  type: string,
  codes: readonly string[],
): readonly string[] {
  const rows = indexElements(row.type, parseStored(row.content), { timeZone, baseUrl }, budget, new Set(codes));
  const numbers = new Set(codes.map((code) => computeParameterNumber(row.type, code)));
  const target = getTypeNumber(type);
  return rows.referenceParam.flatMap((number, at) =>
    numbers.has(number) && rows.referenceTargetType[at] === target ? [rows.referenceTargetId[at] ?? ''] : [],
  );
}

/** A resource that a row refers to. */
export interface ReferredTo {
  readonly type: string;
  readonly id: string;
}

/** The resources of this firm that a row refers to by a reference parameter of its type, as its index rows have them. */
export function listTargets(
  { scope: { timeZone }, baseUrl, budget }: IndexingContext,
  row: StoredResource,
  code: string,
): readonly ReferredTo[] {
  const rows = indexElements(row.type, parseStored(row.content), { timeZone, baseUrl }, budget, new Set([code]));
  const number = computeParameterNumber(row.type, code);
  return rows.referenceParam.flatMap((param, at) => {
    const target = rows.referenceTargetType[at] ?? 0;
    return param === number && target > 0 ? [{ type: getTypeName(target), id: rows.referenceTargetId[at] ?? '' }] : [];
  });
}
