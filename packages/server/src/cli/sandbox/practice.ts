/**
 * A synthetic practice, stored at a firm, with the rules by which it can be booked.
 */

import type { Platform } from '../../app.ts';
import { openOperatorBudget } from '../../limits/budgets.ts';
import { setCalendar, setHolidays } from '../../practice/calendars/edit-calendars.ts';
import { findHolidayVersions, readCalendars } from '../../practice/calendars/store.ts';
import { buildPracticeRules, generatePractice, type PracticeOptions } from '../../synthetic/practice.ts';
import type { Firm } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import type { ImportItem } from '../importing/plan-batch.ts';
import { listProblemLines } from '../importing/problem.ts';
import { loadResources } from '../loading.ts';

type PracticeSize = Pick<PracticeOptions, 'seed' | 'patients' | 'todayMs'>;

/** Stores the practice, then its calendars and holidays as their next versions; returns how many resources it has. Not validated one by one: a test validates whole practices. */
export async function loadPractice(
  platform: Platform,
  firm: Firm,
  size: PracticeSize,
  onProgress?: (stored: number) => void,
): Promise<number> {
  const options = { ...size, firm: firm.prefix, name: firm.name, timeZone: firm.timeZone };
  const stored = await loadResources(platform, firm, items(options), {
    validate: false,
    ...(onProgress === undefined ? {} : { onProgress }),
    onProblem: (problem) => {
      throw new Error(listProblemLines(problem).join('; '));
    },
  });
  const { store, database, clock } = platform;
  const { calendars, holidays } = buildPracticeRules(options);
  const scope = await openOperatorScope(database, clock, firm);
  const editor = { store, scope, clock, changedBy: 'command line', budget: openOperatorBudget() };
  const known = new Map((await readCalendars(store, scope)).calendars.map((each) => [placeOf(each), each.version]));
  for (const document of calendars) await setCalendar(editor, document, known.get(placeOf(document)));
  const [last] = await findHolidayVersions(store, scope, '');
  await setHolidays(editor, '', holidays, last?.version);
  return stored;
}

function placeOf({ practitioner, location }: { readonly practitioner?: unknown; readonly location?: unknown }): string {
  return `${practitioner} ${location}`;
}

function* items(options: PracticeOptions): Generator<ImportItem> {
  for (const resource of generatePractice(options))
    yield { resource, origin: `${options.firm} ${resource.resourceType}/${resource.id}` };
}
