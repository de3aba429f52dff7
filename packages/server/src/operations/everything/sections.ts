/**
 * The parts of a compartment that a caller may see, type by type.
 */

import type { InteractionContext } from '../../engine/context.ts';
import { listMemberTypes } from '../../engine/search/compartment.ts';
import { findUsableScope } from '../../engine/search/compartment-types.ts';
import { computeParameterNumber } from '../../search/numbers.ts';
import type { CompartmentScope } from '../../search/query/compartment-scope.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import { findResourceType } from '../../search/resource-types.ts';
import type { EverythingParameters } from './parameters.ts';

/** What is searched for in one type. */
export interface Section {
  readonly type: string;
  readonly scope: CompartmentScope;
  readonly parameters: SearchParameters;
}

/**
 * The sections of the compartment of `id`: its own type first, then the others in the order of the alphabet. Types that were
 * not asked for are left out, and types that the caller may not search by everything that its section is searched by: they
 * are absent from the answer as they would be if nothing of them were stored.
 */
export function listSections(context: InteractionContext, asked: EverythingParameters, id: string): readonly Section[] {
  const others = listMemberTypes(asked.type).filter((type) => type !== asked.type);
  return [asked.type, ...others].flatMap((type) => {
    if (asked.types?.has(type) === false) return [];
    const dates = type === asked.type ? [] : dateParameters(asked, type);
    const parameters = [...buildSinceParameters(asked), ...dates];
    const names = parameters.map(([name]) => name);
    const scope = findUsableScope(context, { type: asked.type, id }, type, names);
    return scope === undefined ? [] : [{ type, scope, parameters }];
  });
}

/** Resources changed after the moment, as `gt` of a search finds them. */
export function buildSinceParameters({ since }: EverythingParameters): SearchParameters {
  return since === undefined ? [] : [['_lastUpdated', `gt${since}`]];
}

function dateParameters({ start, end }: EverythingParameters, type: string): SearchParameters {
  const date = findResourceType(type).careDate;
  if (date === undefined) return [];
  return [
    ...(start === undefined ? [] : [[date, `ge${start}`] as const]),
    ...(end === undefined ? [] : [[date, `le${end}`] as const]),
  ];
}

/** The numbers of the reference parameters that a section is searched by. */
export function listSectionNumbers({ type, scope: { codes } }: Section): readonly number[] {
  return codes.filter((code) => code !== '_id').map((code) => computeParameterNumber(type, code));
}
