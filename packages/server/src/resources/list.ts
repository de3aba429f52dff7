/** The types with behaviour of their own: one line each. */
import { appointment } from './appointment.ts';
import type { Behaviour } from './behaviour.ts';
import { chargeItem } from './charge-item.ts';
import { encounter } from './encounter.ts';
import { serviceRequest } from './service-request.ts';
import { slot } from './slot.ts';
import { task } from './task.ts';
import { valueSet } from './value-set.ts';

const behaviours: readonly Behaviour[] = [appointment, chargeItem, encounter, serviceRequest, slot, task, valueSet];

const byType: ReadonlyMap<string, Behaviour> = new Map(behaviours.map((behaviour) => [behaviour.type, behaviour]));

/** What the type does; undefined: it is stored, no more. */
export function behaviourOf(type: string): Behaviour | undefined {
  return byType.get(type);
}
