/** What the practice adds to the engine: one line a feature, in the order in which hooks are called. */
import { contentFlagHooks } from '../interactions/content-flags.ts';
import { slotHooks } from '../interactions/derived-slots.ts';
import { contentHooks } from '../interactions/holding-contents.ts';
import { registerHooks } from '../interactions/hooks.ts';
import { intakeHooks } from '../interactions/intake/proposing.ts';
import { valueSetHooks } from '../interactions/kept-codes.ts';
import { uploadHooks } from '../interactions/upload-url.ts';
import { transcriptionHooks } from '../interactions/visit-note.ts';
import { registerOperations } from '../operations/registry.ts';
import { behaviours } from '../resources/list.ts';
import { operations } from './operations.ts';

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
