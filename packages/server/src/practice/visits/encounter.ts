/** Encounter (https://hl7.org/fhir/R4/encounter.html): judged by its table of states. */
import type { Behaviour } from '../../resources/behaviour.ts';
import { buildJudge } from '../../resources/states/judging.ts';
import { encounterStates } from './encounter-states.ts';

export const encounter: Behaviour<'Encounter'> = { type: 'Encounter', ...buildJudge([encounterStates]) };
