/** Searches that find more than some resources of one type: with what is linked, page after page, counted, whole records. */
import { type Caller, findNext, listFound } from '../caller.ts';
import { findEverything } from '../floor/everything.ts';
import { countOfPatient, findAfter, findChangedAfter, findDayWithPatients, findWithVisits } from '../floor/searches.ts';
import { type Asked, makeSearchRow, type Row } from './row.ts';
import { followPages, listPatients, type Samples } from './samples.ts';
import { searchStretch } from './search-rows.ts';

const everythingBar = 0.6;
const syncCount = 50;
const syncPages = 10;
const deepCount = 20;
/** The pages that are asked for, from 1. */
const deepFrom = 16;
const deepUntil = 25;
const typicalMax = 20;

/** The rows of pages. */
export async function listPageRows(caller: Caller, samples: Samples): Promise<readonly Row[]> {
  const patients = listPatients(samples);
  const visitors = await keepVisitors(caller, patients);
  return [
    makeSearchRow(
      caller,
      'patient with visits',
      visitors.map((id) => ({
        what: `Patient?_id=${id}&_revinclude=Encounter:patient`,
        statement: findWithVisits(id),
      })),
    ),
    makeSearchRow(
      caller,
      'day with patients',
      samples.days.map((day) => ({
        what: `${searchStretch(day)}&_sort=date&_include=Appointment:patient`,
        statement: findDayWithPatients(day),
      })),
    ),
    makeSearchRow(caller, 'sync page', await listSyncPages(caller)),
    makeSearchRow(caller, 'deep page', await listDeepPages(caller)),
    makeSearchRow(
      caller,
      'count',
      visitors.map((id) => ({
        what: `Encounter?patient=${id}&_summary=count`,
        statement: countOfPatient('Encounter', id),
      })),
    ),
    makeSearchRow(
      caller,
      'everything of a patient',
      (await keepTypical(caller, visitors)).map((id) => ({
        what: `Patient/${id}/$everything`,
        statement: findEverything(id),
      })),
      { bar: everythingBar },
    ),
  ];
}

async function keepVisitors(caller: Caller, patients: readonly string[]): Promise<readonly string[]> {
  const visitors: string[] = [];
  for (const id of patients) {
    const { total = 0 } = await caller.search(`Encounter?patient=${id}&_summary=count`);
    if (total > 0) visitors.push(id);
  }
  return visitors;
}

/** Pages of what has changed after a moment: moments at which pages of all encounters end. */
async function listSyncPages(caller: Caller): Promise<readonly Asked[]> {
  const all = await followPages(caller, `Encounter?_sort=_lastUpdated&_count=${syncCount}`, syncPages + 1);
  const last = all.at(-1)?.meta.lastUpdated;
  const moments = new Set(
    all.filter((_, place) => place % syncCount === syncCount - 1).map(({ meta }) => meta.lastUpdated),
  );
  return [...moments]
    .filter((moment) => moment !== last)
    .map((moment) => ({
      what: `Encounter?_lastUpdated=gt${moment}&_sort=_lastUpdated&_count=${syncCount}`,
      statement: findChangedAfter(Date.parse(moment), syncCount),
    }));
}

/** Pages far behind the first one, by the cursors that lead to them. */
async function listDeepPages(caller: Caller): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  let what: string | undefined = `Encounter?_count=${deepCount}`;
  for (let page = 1, lastId = ''; what !== undefined && page <= deepUntil; page += 1) {
    if (page >= deepFrom) asked.push({ what, statement: findAfter('Encounter', lastId, deepCount) });
    const bundle = await caller.search(what);
    lastId = listFound(bundle).at(-1)?.id ?? '';
    what = findNext(bundle);
  }
  return asked;
}

/** Those whose records are neither small nor large. */
async function keepTypical(caller: Caller, patients: readonly string[]): Promise<readonly string[]> {
  const sizes: { readonly id: string; readonly resources: number }[] = [];
  for (const id of patients)
    sizes.push({ id, resources: listFound(await caller.search(`Patient/${id}/$everything`)).length });
  const sorted = sizes.toSorted((a, b) => a.resources - b.resources);
  const from = Math.max(0, Math.floor((sorted.length - typicalMax) / 2));
  return sorted.slice(from, from + typicalMax).map(({ id }) => id);
}
