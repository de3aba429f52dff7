/** What the practice adds to the engine: one line a feature, in the order in which hooks are called. */

import { registerHooks } from '../engine/hooks.ts';
import { registerOperations } from '../operations/registry.ts';
import { behaviours } from './behaviours.ts';
import { slotHooks } from './calendars/slots/derived-slots.ts';
import { contentFlagHooks } from './content-flags/content-flags.ts';
import { contentHooks } from './documents/attach-content.ts';
import { uploadHooks } from './documents/upload-url.ts';
import { intakeHooks } from './intake/proposing.ts';
import { operations } from './operations.ts';
import { valueSetHooks } from './value-sets/hooks.ts';
import { transcriptionHooks } from './visits/route-transcription.ts';

/** Registers them; again changes nothing. */
export function registerPractice(): void {
  registerOperations(operations);
  registerHooks([
    ...behaviourHooks,
    slotHooks,
    transcriptionHooks,
    intakeHooks,
    valueSetHooks,
    uploadHooks,
    contentHooks,
    contentFlagHooks,
  ]);
}

const behaviourHooks = behaviours.map((behaviour) => ({ types: [behaviour.type], behaviour }));
