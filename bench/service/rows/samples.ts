/**
 * What the rows ask for, chosen from the practice that the server holds: the same of each server with the same practice.
 */
import { type Caller, type FoundResource, findNext, listFound } from '../caller.ts';
import { type Prepared, patientId } from '../prepare.ts';

export interface Samples {
  /** Places of patients, spread over all of them: patient `place` has the id `patientId(place)`. */
  readonly places: readonly number[];
  /** Family names of patients, each once. */
  readonly families: readonly string[];
  /** The days of a practitioner with most appointments. */
  readonly days: readonly Stretch[];
  /** The weeks with most. */
  readonly weeks: readonly Stretch[];
}

/** Days of one practitioner, in the time of the practice. */
export interface Stretch {
  readonly practitioner: string;
  /** The first one, `YYYY-MM-DD`, and the one after the last. */
  readonly from: string;
  readonly until: string;
  readonly appointments: number;
}

const placesMax = 100;
const familyPagesMax = 6;
/** The first two practitioners; every practice has them. */
const practitioners = ['100', '101'];
const stretchesOfEach = 25;
const pastDays = 300;
const dayMs = 86_400_000;

/** Looks for them. */
export async function openSamples(caller: Caller, { patients }: Prepared): Promise<Samples> {
  const count = Math.min(placesMax, patients);
  const found = await followPages(caller, 'Patient?_count=50', familyPagesMax);
  const names = found.flatMap(({ name = [] }) => name.map(({ family }) => family));
  const stretches = await Promise.all(practitioners.map((practitioner) => listStretches(caller, practitioner)));
  return {
    places: Array.from({ length: count }, (_, at) => Math.floor((at * patients) / count)),
    families: [...new Set(names.filter((name) => name !== 'Benchmark'))],
    days: stretches.flatMap(({ days }) => days),
    weeks: stretches.flatMap(({ weeks }) => weeks),
  };
}

/** The ids of the sampled patients. */
export function listPatients({ places }: Samples): readonly string[] {
  return places.map(patientId);
}

/** The resources of the pages from a search on. */
export async function followPages(caller: Caller, what: string, pagesMax: number): Promise<FoundResource[]> {
  const found: FoundResource[] = [];
  for (let next: string | undefined = what, page = 0; next !== undefined && page < pagesMax; page += 1) {
    const bundle = await caller.search(next);
    found.push(...listFound(bundle));
    next = findNext(bundle);
  }
  return found;
}

async function listStretches(caller: Caller, practitioner: string) {
  const today = Date.now();
  const [from, until] = [today - pastDays * dayMs, today - dayMs].map(formatDay);
  const what = `Appointment?practitioner=${practitioner}&date=ge${from}&date=lt${until}&_sort=date&_count=50`;
  const appointments = await followPages(caller, what, Number.POSITIVE_INFINITY);
  const days = appointments.flatMap(({ start }) => start?.slice(0, 10) ?? []);
  const monday = (day: string): string => {
    const ms = Date.parse(day);
    return formatDay(ms - ((new Date(ms).getUTCDay() + 6) % 7) * dayMs);
  };
  return {
    days: fullest(practitioner, days, 1),
    weeks: fullest(practitioner, days.map(monday), 7),
  };
}

/** Those with most appointments. */
function fullest(practitioner: string, firstDays: readonly string[], length: number): readonly Stretch[] {
  const all = [...Map.groupBy(firstDays, (day) => day)].map(([from, { length: appointments }]) => {
    return { practitioner, from, until: formatDay(Date.parse(from) + length * dayMs), appointments };
  });
  return all.toSorted((a, b) => b.appointments - a.appointments).slice(0, stretchesOfEach);
}

function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
