/**
 * Which top-level members of one resource a caller may read, by its read and search grants together.
 */
import type { AccessPolicy, Criterion, Grant } from '../access/policy.ts';

/** Always readable (access/usable-parameters.ts); `meta` is the server's where it matters. */
const alwaysReadable: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta']);

/**
 * Tells whether the member may be read; undefined stands for the whole resource.
 * @param covered whether the resource meets a row criterion
 */
export function readableMember(
  policy: AccessPolicy,
  type: string,
  covered: (criterion: Criterion) => boolean,
): (member: string | undefined) => boolean {
  const grants = [...policy.grants(type, 'r'), ...policy.grants(type, 's')].filter(({ criteria }) =>
    criteria.every(covered),
  );
  return (member) => grants.some((grant) => opens(grant, type, member));
}

function opens({ elements }: Grant, type: string, member: string | undefined): boolean {
  if (elements === 'all') return true;
  if (member === undefined) return false;
  const name = member.startsWith('_') ? member.slice(1) : member;
  return alwaysReadable.has(name) || elements.has(`${type}.${name}`);
}
