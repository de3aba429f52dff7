/** The operations that are served: app.ts registers them, so that the engine imports none of the practice (docs/decisions/0267). */
import type { Operation } from './operation.ts';

let registered: readonly Operation[] = [];

/** Serves these operations, and no others. */
export function registerOperations(operations: readonly Operation[]): void {
  registered = operations;
}

/** Every operation that is served. */
export function registeredOperations(): readonly Operation[] {
  return registered;
}
