/** What operators learn of search parameters that have failed: a line in the log, and a count. */
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { FailedParameter } from '../search/index/costly-parameters.ts';

/** @param firm number of the firm that has defined them */
export function noteFailedParameters(
  { log, metrics }: { readonly log: Log; readonly metrics: Pick<Metrics, 'searchParametersFailed'> },
  firm: number,
  failed: readonly FailedParameter[],
): void {
  metrics.searchParametersFailed.inc(failed.length);
  for (const { id, reason } of failed)
    log.warn({ firm, searchParameter: id, reason }, 'a search parameter of a firm has failed');
}
