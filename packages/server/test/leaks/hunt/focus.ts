/**
 * What a caller of the leak hunt may do: most of its requests are about that, since one that is refused at the door tells
 * little. The others are about anything.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { readOperatorRows } from '../../../src/access/operator-rows.ts';
import { compilePolicy, type Permission, searchGrants } from '../../../src/access/policy.ts';
import { getStandardParameters } from '../../../src/search/parameters.ts';
import { type CallerName, callerKinds } from './callers.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface Focus {
  /** Types that the caller may search. */
  readonly searched: readonly string[];
  /** Types that the caller may read or search. */
  readonly seen: readonly string[];
  /** Types that the caller may create or change. */
  readonly written: readonly string[];
  /** The codes of a type that the caller may search by. */
  usable(type: string): readonly string[];
}

/** Of the types that the vocabulary speaks of, those that the caller may do something with. */
export function focusOf(name: CallerName, { types }: Pick<Vocabulary, 'types'>): Focus {
  const { acl, authorisedAcl, rows } = callerKinds[name];
  const policy = compilePolicy(acl, authorisedAcl ?? acl, { operatorRows: readOperatorRows(rows ?? {}) });
  const open = (...letters: Permission[]): readonly string[] =>
    resourceTypesWithEndpoint
      .filter((type) => types.includes(type))
      .filter((type) => letters.some((letter) => policy.allows(type, letter)));
  return {
    searched: open('s'),
    seen: open('r', 's'),
    written: open('c', 'u'),
    usable: (type) =>
      [...getStandardParameters(type).values()]
        .filter(({ definition }) => searchGrants(policy, type, [definition]).length > 0)
        .map(({ code }) => code),
  };
}
