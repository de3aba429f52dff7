/**
 * Which top-level members of one resource a caller may read, by its read and search grants together.
 */
import { findElementByJsonName, findTypeDefinition } from '@praxis/fhir';
import type { AccessPolicy, Criterion, Grant } from '../../access/policy.ts';

/** Always readable (access/usable-parameters.ts); `meta` is the server's where it matters. */
const alwaysReadable: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta']);

/** Whether a top-level member may be read; undefined stands for the whole resource. */
export type Readable = (member: string | undefined) => boolean;

/**
 * Tells of one resource what may be read.
 * @param covered whether the resource meets a row criterion
 */
export function compileReadable(
  policy: AccessPolicy,
  type: string,
  covered: (criterion: Criterion) => boolean,
): Readable {
  const grants = [...policy.grants(type, 'r'), ...policy.grants(type, 's')].filter(({ criteria }) =>
    criteria.every(covered),
  );
  return (member) => grants.some((grant) => opens(grant, type, member));
}

function opens({ elements }: Grant, type: string, member: string | undefined): boolean {
  if (elements === 'all') return true;
  if (member === undefined) return false;
  const name = member.startsWith('_') ? member.slice(1) : member;
  if (alwaysReadable.has(name)) return true;
  const definition = findTypeDefinition(type);
  const element = definition && findElementByJsonName(definition, name)?.element;
  return elements.has(`${type}.${element?.name ?? name}`);
}
