/** Slot (https://hl7.org/fhir/R4/slot.html): judged by its table of states. */
import type { Behaviour } from '../../../resources/behaviour.ts';
import { buildJudge } from '../../../resources/states/judging.ts';
import { slotStates } from './slot-states.ts';

export const slot: Behaviour<'Slot'> = { type: 'Slot', ...buildJudge([slotStates]) };
