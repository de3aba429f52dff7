import type { PracticeFeature } from '../feature.ts';
import { contentFlagHooks } from './content-flags.ts';

/** Content flags: what an answer tells about elements that the caller does not see. */
export const contentFlagsFeature: PracticeFeature = { hooks: [contentFlagHooks] };
