/**
 * Synthetic practices: valid R4, nobody booked twice, every reference leads somewhere, the same for the same seed.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import test from 'node:test';
import { type JsonValue, validateResource } from '@praxis/fhir';
import { findBreaches } from '../../src/engine/write/invariants.ts';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { parseHolidays } from '../../src/practice/calendars/holidays.ts';
import { parseCalendar } from '../../src/practice/calendars/parse-calendar.ts';
import {
  buildPracticeRules,
  generatePractice,
  type PracticeOptions,
  type SyntheticResource,
} from '../../src/synthetic/practice.ts';

const options: PracticeOptions = {
  seed: 'test',
  firm: 'maple',
  name: 'Maple Dermatology',
  timeZone: 'America/New_York',
  patients: 120,
  todayMs: Date.UTC(2026, 10, 20),
};

const practice = [...generatePractice(options)];
const ofType = (type: string): SyntheticResource[] => practice.filter(({ resourceType }) => resourceType === type);

test('every resource is valid R4', () => {
  const problems = practice.flatMap((resource) =>
    validateResource(resource).map(({ path, diagnostics }) => `${resource.id} ${path} ${diagnostics}`),
  );
  assert.deepEqual(problems, []);
});

test('no resource breaks an invariant of R4', async () => {
  const budget = openOperatorBudget();
  const broken = new Set<string>();
  for (const resource of practice)
    for (const { key, path } of await findBreaches({ ...resource }, budget)) broken.add(`${key} ${path}`);
  assert.deepEqual([...broken], []);
});

test('types and ids are unique, and every reference names a resource of the practice', () => {
  const names = new Set(practice.map(({ resourceType, id }) => `${resourceType}/${id}`));
  assert.equal(names.size, practice.length);
  const missing = practice.flatMap(referencesIn).filter((target) => !names.has(target));
  assert.deepEqual(missing, []);
});

function referencesIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'reference' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

test('the same seed, firm and day give the same resources; another seed or firm gives others', () => {
  const digest = (resources: Iterable<SyntheticResource>): string => hash('sha256', JSON.stringify([...resources]));
  const made = (changes: Partial<PracticeOptions>): string => digest(generatePractice({ ...options, ...changes }));
  assert.equal(made({}), digest(practice));
  assert.notEqual(made({ seed: 'other' }), digest(practice));
  assert.notEqual(made({ firm: 'cedar' }), digest(practice));
});

test('a patient is the same whatever the size of the practice', () => {
  const patient = (patients: number): object => {
    const found = [...generatePractice({ ...options, patients })].find(
      ({ id, resourceType }) => resourceType === 'Patient' && id === '450007',
    );
    // Referring practitioners are as many as the practice's size asks for.
    return { ...found, generalPractitioner: [] };
  };
  assert.deepEqual(patient(100), patient(300));
});

test('appointments cover two years in all states, and no practitioner has two at once', () => {
  const appointments = ofType('Appointment');
  const statuses = new Set(appointments.map(({ status }) => status));
  for (const status of ['booked', 'pending', 'fulfilled', 'cancelled', 'noshow'])
    assert.ok(statuses.has(status), status);
  const starts = appointments.map(({ start }) => Date.parse(String(start)));
  assert.ok(Math.max(...starts) - Math.min(...starts) > 2 * 365 * 86_400_000);
  const busy = new Map<string, [number, number][]>();
  for (const item of appointments) {
    const practitioner = JSON.stringify(item).match(/Practitioner\/(\d+)/)?.[1] ?? '';
    busy.set(practitioner, [
      ...(busy.get(practitioner) ?? []),
      [Date.parse(String(item.start)), Date.parse(String(item.end))],
    ]);
  }
  for (const times of busy.values()) {
    times.sort(([a], [b]) => a - b);
    for (const [index, [start]] of times.entries()) assert.ok(index === 0 || start >= (times[index - 1]?.[1] ?? 0));
  }
});

test('opening hours are those of the wall clock on both sides of a change of clocks', () => {
  const hours = new Set(ofType('Appointment').map(({ start }) => String(start).slice(11, 13)));
  assert.deepEqual([...hours].sort(), ['08', '09', '10', '11', '12', '13', '14', '15', '16']);
  const offsets = new Set(ofType('Appointment').map(({ start }) => String(start).slice(19)));
  assert.deepEqual([...offsets].sort(), ['-04:00', '-05:00']);
});

test('a practice streams: taking the first resources makes no others', () => {
  const stream = generatePractice({ ...options, patients: 5_000_000 });
  const first = Array.from({ length: 10_000 }, () => stream.next().value);
  assert.equal(first.filter((resource) => resource === undefined).length, 0);
  assert.equal(stream.return(undefined).done, true);
});

test('every practice-specific search parameter that R4 does not define has something to find', () => {
  const text = JSON.stringify(practice);
  for (const name of ['referral-source', 'practitioner-type', 'charge-item-type', 'sid/requisition', 'PMRECALL'])
    assert.ok(text.includes(name), name);
});

test('the rules can be kept as calendars, and name who and what the practice has', () => {
  const { calendars, holidays } = buildPracticeRules(options);
  const documents = [...calendars];
  assert.equal(documents.length, ofType('Schedule').length);
  const ids = (type: string): ReadonlySet<string> => new Set(ofType(type).map(({ id }) => id));
  const [practitioners, locations, schedules] = [ids('Practitioner'), ids('Location'), ids('Schedule')];
  for (const document of documents) {
    const { practitioner, location, schedule = '' } = parseCalendar(document);
    assert.deepEqual(
      [practitioners.has(practitioner), locations.has(location), schedules.has(schedule)],
      [true, true, true],
    );
  }
  assert.equal(parseHolidays(holidays).length, 4);
});
