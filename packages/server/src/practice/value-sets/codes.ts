/**
 * The codes of a value set that a firm keeps, read from its ValueSet and written into it: those in use are listed by
 * `compose.include`, those that were retired by `compose.exclude`, so that expansions hold the first and everyone who reads
 * the set still finds the second (docs/decisions/0204).
 *
 * https://hl7.org/fhir/R4/valueset.html#compositions
 */
import type { ValueSet, ValueSetComposeInclude } from '@praxis/fhir';
import { buildValueSetUrl, codeSystemUrl, type FirmCode, type FirmValueSet } from './table.ts';

/** A code with its system, as it is compared. */
export interface FirmSetCode extends FirmCode {
  readonly system: string;
}

export interface FirmSetCodes {
  /** False: the firm keeps the codes without having anything judged by them. */
  readonly active: boolean;
  readonly inUse: readonly FirmSetCode[];
  readonly retired: readonly FirmSetCode[];
}

/** What a coding says; absent where it says nothing. */
export interface SaidCoding {
  readonly system?: string;
  readonly code?: string;
}

/** Undefined: the definition is not a list of codes, as an import may have brought, so nothing can be judged by it. */
export function readSetCodes({ compose, status }: ValueSet): FirmSetCodes | undefined {
  const inUse = listCodes(compose?.include);
  const retired = listCodes(compose?.exclude);
  if (inUse === undefined || retired === undefined || inUse.length === 0) return undefined;
  return { active: status === 'active', inUse, retired };
}

const none: ValueSet = { resourceType: 'ValueSet' };

/** The ValueSet with these codes; whatever else `before` says stays. */
export function withCodes(set: FirmValueSet, codes: FirmSetCodes, before: ValueSet | undefined): ValueSet {
  const { resourceType, id: _id, compose: _compose, expansion: _expansion, ...rest } = before ?? none;
  return {
    resourceType,
    id: set.id,
    name: nameOf(set.id),
    title: set.title,
    ...rest,
    url: buildValueSetUrl(set.id),
    status: codes.active ? 'active' : 'retired',
    compose: {
      include: bySystem(codes.inUse),
      ...(codes.retired.length === 0 ? {} : { exclude: bySystem(codes.retired) }),
    },
  };
}

/** The code as it is kept. */
export function toFirmSetCode(set: FirmValueSet, { system, code, display }: FirmCode): FirmSetCode {
  return { system: system ?? codeSystemUrl(set.id), code, display };
}

export function isSameCode(one: FirmSetCode, other: FirmSetCode): boolean {
  return one.code === other.code && one.system === other.system;
}

/** Whether the coding names one of the codes: without a system it means that code of any. */
export function isAmong(codes: readonly FirmSetCode[], { system, code }: SaidCoding): boolean {
  return codes.some((kept) => kept.code === code && (system === undefined || system === kept.system));
}

function nameOf(id: string): string {
  return id
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function bySystem(codes: readonly FirmSetCode[]): ValueSetComposeInclude[] {
  const groups = Map.groupBy(codes, ({ system }) => system);
  return [...groups].map(([system, group]) => ({
    system,
    concept: group.map(({ code, display }) => ({ code, display })),
  }));
}

/** Undefined where a part is anything but a list of codes of one system. */
function listCodes(parts: readonly ValueSetComposeInclude[] = []): readonly FirmSetCode[] | undefined {
  const codes: FirmSetCode[] = [];
  for (const { system, concept = [], filter, valueSet } of parts) {
    if (system === undefined || concept.length === 0 || filter !== undefined || valueSet !== undefined)
      return undefined;
    for (const { code, display } of concept)
      if (code !== undefined) codes.push({ system, code, display: display ?? code });
  }
  return codes;
}
