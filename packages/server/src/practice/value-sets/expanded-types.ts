/**
 * The expansion of the appointment types, for applications that read types and their lengths from it (docs/decisions/0339). It is
 * added to what is read and found, never stored.
 */
import { type JsonObject, parseJsonObject, type ValueSet } from '@praxis/fhir';
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../../access/disclosure.ts';
import { withMember } from '../../access/json-members.ts';
import type { Permission } from '../../access/policy.ts';
import { toInstant } from '../../base/clock.ts';
import { makeUuid } from '../../base/ids.ts';
import type { InteractionContext } from '../../engine/context.ts';
import type { Decorate } from '../../engine/hooks.ts';
import { readScheduledCalendars } from '../calendars/scheduled-calendars.ts';
import { readSetCodes } from './codes.ts';
import { appointmentTypeSet } from './table.ts';

/** A code without its system means that of any, as in calendars. */
type Minutes = ReadonlyMap<string, number>;

/** undefined: the application has not asked for it. */
export function decorateTypes(context: InteractionContext): Decorate | undefined {
  if (!context.settings.expandedTypes) return undefined;
  return async (letter, { id }, shown, { elements, summary }) => {
    const isWanted = (elements === undefined || elements.has('expansion')) && summary === undefined;
    return id === appointmentTypeSet && isWanted && maySeeExpansion(context, letter)
      ? await expand(context, shown)
      : shown;
  };
}

function maySeeExpansion({ policy }: InteractionContext, letter: Permission): boolean {
  const grants = policy.grants('ValueSet', letter).filter(({ criteria }) => criteria.length === 0);
  return grants.some(({ elements }) => elements === 'all' || elements.has('ValueSet.expansion'));
}

/** Whether slots show the caller how long types take: all slots, and all of them. */
function maySeeMinutes({ policy }: InteractionContext): boolean {
  return policy.grants('Slot', 's').some(({ criteria, elements }) => criteria.length === 0 && elements === 'all');
}

/** With the codes that the caller sees listed, and how long each takes where it may search slots, which show that. */
async function expand(context: InteractionContext, shown: Disclosed<string>): Promise<Disclosed<string>> {
  const text = unwrapDisclosed(shown);
  const codes = readSetCodes(parseJsonObject(text) as ValueSet);
  if (codes === undefined) return shown;
  const minutes = maySeeMinutes(context) ? await readMinutes(context) : new Map<string, number>();
  const contains = codes.inUse.map(({ system, code, display }): JsonObject => {
    const takes = minutes.get(code);
    const property = takes === undefined ? {} : { property: [{ code: 'duration', valueInteger: takes }] };
    return { system, code, display, ...property };
  });
  const identifier = `urn:uuid:${makeUuid()}`;
  const expansion = { identifier, timestamp: toInstant(context.clock.now()), total: contains.length, contains };
  return markServerWritten(withMember(text, 'expansion', JSON.stringify(expansion))); // of what was disclosed, and of slots
}

/** The shortest that a type takes in any calendar that is in force. */
async function readMinutes({ store, scope }: InteractionContext): Promise<Minutes> {
  const minutes = new Map<string, number>();
  for (const { calendar } of await readScheduledCalendars(store, scope)) {
    if (!calendar.active) continue;
    for (const { code, minutes: takes } of calendar.appointmentTypes)
      minutes.set(code, Math.min(takes, minutes.get(code) ?? takes));
  }
  return minutes;
}
