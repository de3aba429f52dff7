/**
 * Search parameters of a firm's own whose expression costs more on a resource than it may. The firm is told, and nobody else
 * is refused for them: they are marked as failed, and what was under way is done again without them (docs/decisions/0216).
 */
import { PraxisError } from '../../base/errors.ts';

/** A parameter that cannot be indexed any longer. */
export interface FailedParameter {
  /** Of `FirmSearchParameter`. */
  readonly id: number;
  /** For whoever may read the SearchParameter; names no resource. */
  readonly reason: string;
}

/** Nothing was written: who catches it marks the parameters, reads the firm's parameters anew and begins again. */
export class CostlyParameters extends PraxisError {
  readonly failed: readonly FailedParameter[];

  constructor(failed: readonly FailedParameter[]) {
    super('stale-access', { diagnostics: 'The search parameters of the firm have changed: repeat the request' });
    this.failed = failed;
  }
}

/**
 * Steps that a parameter of a firm's own may take on one resource: what reads each element a few times passes, however large
 * the resource is; what compares every element with every other one does not.
 * @param characters of the JSON text of the resource
 */
export function computeStepsMax(characters: number): number {
  return Math.min(ownStepsBase + ownStepsPerCharacter * characters, ownStepsCeiling);
}

const ownStepsBase = 1_000;
const ownStepsPerCharacter = 2;
/** As one request may take. */
const ownStepsCeiling = 2_000_000;
