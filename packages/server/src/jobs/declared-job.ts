/** A job as its module or feature declares it; practice/features.ts lists all of them. */
import type { Harmless, WorstCase } from '../base/worst-case.ts';
import type { Job } from './jobs.ts';

export interface DeclaredJob<Services> {
  /** The name by which operators know it, of a job that works firm by firm: its failures are counted (firm-work.ts). */
  readonly firmJob?: string;
  /** What a caller can do to make it dear (docs/decisions/0219, 0257). */
  readonly worstCase: WorstCase | Harmless;
  /** undefined: the settings switch it off. */
  readonly open: (services: Services) => Job | undefined;
}
