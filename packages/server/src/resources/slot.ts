/** Slot (https://hl7.org/fhir/R4/slot.html): judged by its table of states. */
import type { Behaviour } from './behaviour.ts';
import { judgedBy } from './states/judging.ts';
import { slotStates } from './states/slot.ts';

export const slot: Behaviour = { type: 'Slot', ...judgedBy([slotStates]) };
