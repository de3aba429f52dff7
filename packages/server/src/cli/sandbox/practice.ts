/**
 * A synthetic practice, stored at a firm.
 */
import type { Platform } from '../../app.ts';
import { type PracticeOptions, syntheticPractice } from '../../synthetic/practice.ts';
import type { Firm } from '../../tenancy/firms.ts';
import { type LoadItem, loadResources } from '../loading.ts';

export type PracticeSize = Pick<PracticeOptions, 'seed' | 'patients' | 'todayMs'>;

/** Stores the practice; returns how many resources it has. Not validated one by one: a test validates whole practices. */
export async function loadPractice(
  platform: Platform,
  firm: Firm,
  size: PracticeSize,
  onProgress?: (stored: number) => void,
): Promise<number> {
  const options = { ...size, firm: firm.prefix, name: firm.name, timeZone: firm.timeZone };
  return await loadResources(platform, firm, items(options), {
    validate: false,
    ...(onProgress === undefined ? {} : { onProgress }),
    onProblem: ({ origin, diagnostics }) => {
      throw new Error(`${origin}: ${diagnostics}`);
    },
  });
}

function* items(options: PracticeOptions): Generator<LoadItem> {
  for (const resource of syntheticPractice(options))
    yield { resource, origin: `${options.firm} ${resource.resourceType}/${resource.id}` };
}
