/** Which operations a policy opens: each asked by its own check of access. */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import type { AccessPolicy } from '../access/policy.ts';
import { refusedWith } from '../engine/rights/effective-access.ts';
import type { Operation, OperationLevel } from './operation.ts';

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
      const types = level === 'system' ? [''] : operation.types === 'all' ? resourceTypesWithEndpoint : operation.types;
      const open = types.filter((type) => isOpen(operation, policy, level, type));
      if (open.length === 0) return [];
      return [{ name: operation.name, level, types: open.filter((type) => type !== '') }];
    }),
  );
}

function isOpen({ authorize }: Operation, policy: AccessPolicy, level: OperationLevel, type: string): boolean {
  const id = level === 'instance' ? 'id' : '';
  return refusedWith(() => authorize({ policy }, { level, type, id, versionId: '' })) === undefined;
}
