/** A firm with practitioners, locations and calendars, for tests of what is derived from them. */
import type { Platform } from '../../../src/app.ts';
import { openOperatorBudget } from '../../../src/limits/budgets.ts';
import { setCalendar, setHolidays } from '../../../src/practice/calendars/edit-calendars.ts';
import type { StoredCalendar } from '../../../src/practice/calendars/store.ts';
import type { Firm } from '../../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../../src/tenancy/operator.ts';
import type { Caller } from '../../support/service.ts';

/** A document of a calendar, as JSON. */
export type CalendarDocument = Readonly<Record<string, unknown>>;

/** Mondays to Fridays 09:00 to 12:00 with Practitioner/12 at Location/3, for two types. */
export const plainCalendar: CalendarDocument = {
  practitioner: '12',
  location: '3',
  appointmentTypes: [
    { code: 'NEW', display: 'New patient', minutes: 60 },
    { code: 'FOLLOWUP', minutes: 30 },
  ],
  weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '12:00' }],
};

/** Stores the Practitioners and Locations of these ids. @param caller with acl/* */
export async function putPlaces(caller: Caller, practitioners: readonly string[], locations: readonly string[]) {
  for (const id of practitioners)
    await put(caller, { resourceType: 'Practitioner', id, name: [{ family: `Practitioner ${id}` }] });
  for (const id of locations) await put(caller, { resourceType: 'Location', id, name: `Location ${id}` });
}

/** Any resource, as JSON. */
export interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly [element: string]: unknown;
}

export async function put(caller: Caller, resource: Resource) {
  const { status, text } = await caller.send('PUT', `${resource.resourceType}/${resource.id}`, resource);
  if (status !== 200 && status !== 201) throw new Error(`${status} ${text}`);
}

export async function keepCalendar(
  platform: Platform,
  firm: Firm,
  document: CalendarDocument,
  seen?: number,
): Promise<StoredCalendar> {
  return await setCalendar(await editorOf(platform, firm), document, seen);
}

export async function keepHolidays(platform: Platform, firm: Firm, location: string, document: unknown, seen?: number) {
  return await setHolidays(await editorOf(platform, firm), location, document, seen);
}

export async function editorOf({ store, database, clock }: Platform, firm: Firm) {
  return {
    store,
    clock,
    scope: await openOperatorScope(database, clock, firm),
    changedBy: 'test',
    budget: openOperatorBudget(),
  };
}
