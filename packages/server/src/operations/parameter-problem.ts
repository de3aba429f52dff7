/**
 * The refusal of an operation's parameter.
 */
import { fail } from '../base/errors.ts';

/** Longest name of a caller's that is repeated to it. */
const nameLengthMax = 64;

/**
 * @param problem follows the parameter's name: what is wrong and what would be right
 * @throws PraxisError `operation-parameter-invalid`
 */
export function refuseParameter(name: string, problem: string): never {
  const shown = name.slice(0, nameLengthMax);
  return fail('operation-parameter-invalid', { diagnostics: `${shown} ${problem}`, expression: [shown] });
}
