/** The operations that are served: app.ts registers them, so that the engine imports none of the practice (docs/decisions/0267). */
import type { RateCost } from '../engine/context.ts';
import type { Operation } from './operation.ts';

let registered: readonly Operation[] = [];

/** Serves these operations, and no others. */
export function registerOperations(operations: readonly Operation[]): void {
  registered = operations;
}

/** Every operation that is served. */
export function listOperations(): readonly Operation[] {
  return registered;
}

/** Whether the operation is defined on the type; at system level, where there is none, all are looked at. */
export function isDefinedOn({ types }: Operation, type: string): boolean {
  return type === '' || types === 'all' || types.includes(type);
}

/** What a request for an operation costs; nothing beside where there is none, which is refused. */
export function getOperationCost({ operation, type }: { readonly operation: string; readonly type: string }): RateCost {
  return registered.find((each) => each.name === operation && isDefinedOn(each, type)) ?? {};
}
