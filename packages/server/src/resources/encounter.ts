/** Encounter (https://hl7.org/fhir/R4/encounter.html): judged by its table of states. */
import type { Behaviour } from './behaviour.ts';
import { encounterStates } from './states/encounter.ts';
import { judgedBy } from './states/judging.ts';

export const encounter: Behaviour = { type: 'Encounter', ...judgedBy([encounterStates]) };
