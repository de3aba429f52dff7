/** Which operations a policy opens: each asked by its own check of access. */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import type { AccessPolicy } from '../access/policy.ts';
import { catchRefusal } from '../engine/rights/effective-access.ts';
import type { Operation, OperationLevel, OperationPlace } from './operation.ts';

export interface OpenOperation {
  /** Without the `$`. */
  readonly name: string;
  readonly level: OperationLevel;
  /** Resource types; none at system level. */
  readonly types: readonly string[];
}

/** The operations that may be asked for, by level. */
export function openOperations(operations: readonly Operation[], policy: AccessPolicy): readonly OpenOperation[] {
  return operations.flatMap((operation) =>
    operation.levels.flatMap((level) => {
      const open = placesAt(operation, level).filter((place) => isOpen(operation, policy, place));
      if (open.length === 0) return [];
      return [{ name: operation.name, level, types: open.flatMap((place) => ('type' in place ? [place.type] : [])) }];
    }),
  );
}

/** One place of each type, where access is what is asked about: it does not depend on the id. */
function placesAt({ types }: Operation, level: OperationLevel): readonly OperationPlace[] {
  if (level === 'system') return [{ level }];
  const all = types === 'all' ? resourceTypesWithEndpoint : types;
  return all.map((type) => (level === 'type' ? { level, type } : { level, type, id: 'id' }));
}

function isOpen(operation: Operation, policy: AccessPolicy, place: OperationPlace): boolean {
  return catchRefusal(() => operation.authorize({ policy }, place)) === undefined;
}
