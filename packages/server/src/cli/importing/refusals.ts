/** What an error of the database says of what was to be stored. */
import { PraxisError } from '../../base/errors.ts';
import { StatementError } from '../../database/sqlstate.ts';
import { isTakenOver } from './runs.ts';

/** Others were changing the same at the same time. */
export function isConflict(error: unknown): boolean {
  return error instanceof PraxisError && error.code === 'conflict';
}

/** The database is well and something about the values that it was sent is not. */
export function isRefusedValue(error: unknown): boolean {
  const isTooMuch = error instanceof PraxisError && (error.code === 'statement-timeout' || error.code === 'too-costly');
  return isTooMuch || (error instanceof StatementError && !isTakenOver(error));
}
