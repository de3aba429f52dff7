import type { PracticeFeature } from '../feature.ts';
import { encounter } from './encounter.ts';
import { encounterStates } from './encounter-states.ts';
import { checkIn, checkOut, fulfil, noShow } from './operations.ts';
import { transcriptionHooks } from './route-transcription.ts';

/** Visits: from checking in to checking out, and the transcriptions of what was said. */
export const visitsFeature: PracticeFeature = {
  behaviours: [encounter],
  states: [encounterStates],
  hooks: [transcriptionHooks],
  operations: [checkIn, checkOut, fulfil, noShow],
};
