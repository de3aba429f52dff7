/** A job as its module or feature declares it; practice/features.ts lists all of them. */
import type { Harmless, WorstCase } from '../base/worst-case.ts';
import { type Job, runWhile } from './jobs.ts';

export interface DeclaredJob<Services> {
  /** The name by which operators know it, of a job that works firm by firm: its failures are counted (firm-work.ts). */
  readonly firmJob?: string;
  /** What a caller can do to make it dear (docs/decisions/0219, 0257). */
  readonly worstCase: WorstCase | Harmless;
  /** Each process does it for itself; others are done by one process of a node. */
  readonly everywhere?: true;
  /** undefined: the settings switch it off. */
  readonly open: (services: Services) => Job | undefined;
}

/**
 * The jobs that the settings leave on.
 * @param isOurs whether this process does now what one process does for all; several that do it at once waste work and do no harm
 */
export function openDeclaredJobs<Services>(
  declared: readonly DeclaredJob<Services>[],
  services: Services,
  isOurs: () => boolean,
): readonly Job[] {
  return declared.flatMap(({ open, everywhere }) => {
    const job = open(services);
    if (job === undefined) return [];
    return everywhere === true ? [job] : [runWhile(isOurs, job)];
  });
}
