/** Searches that find some resources of one type. */
import { type Caller, listFound } from '../caller.ts';
import {
  findByChain,
  findByFamily,
  findByIdentifier,
  findOfPatient,
  findOfStretch,
  findSince,
} from '../floor/searches.ts';
import type { Asked, Row } from './row.ts';
import { makeSearchRow } from './row.ts';
import { listPatients, type Samples, type Stretch } from './samples.ts';

const bar = 0.7;
const pageOf = 10;
/** Without B: the patients that the bench creates are called Benchmark. */
const letters = [...'ACDEFGHKLMRSTW'];
const since = '2026-01-01';
const sincePages = 5;
const chainCount = 20;
const chainMin = 5;
const chainsMax = 30;

/** The rows of searches. */
export async function listSearchRows(caller: Caller, samples: Samples): Promise<readonly Row[]> {
  const mrns = samples.places.map((place) => `MM${String(place + 1).padStart(10, '0')}`);
  const stretch = (asked: Stretch) => ({ what: `${searchStretch(asked)}&_sort=date`, statement: findOfStretch(asked) });
  return [
    makeSearchRow(
      caller,
      'search by identifier',
      mrns.map((mrn) => ({ what: `Patient?identifier=${mrn}`, statement: findByIdentifier(mrn) })),
      { bar },
    ),
    makeSearchRow(caller, 'search by family name', await listFamilies(caller), { bar }),
    makeSearchRow(
      caller,
      'search by patient',
      listPatients(samples).map((id) => ({
        what: `Condition?patient=${id}`,
        statement: findOfPatient('Condition', id),
      })),
      { bar },
    ),
    makeSearchRow(caller, 'search of a day', samples.days.map(stretch), { bar }),
    makeSearchRow(caller, 'search of a week', samples.weeks.map(stretch), { bar }),
    makeSearchRow(
      caller,
      'search since',
      Array.from({ length: sincePages }, (_, before) => ({
        what: `Encounter?_lastUpdated=ge${since}&status=finished&_count=${pageOf}&page=${before + 1}`,
        statement: findSince(since, { limit: pageOf, offset: before * pageOf }),
      })),
      { bar },
    ),
    makeSearchRow(caller, 'chain', await listChains(caller, samples)),
  ];
}

/** The search for the appointments of a practitioner on those days. */
export function searchStretch({ practitioner, from, until }: Stretch): string {
  return `Appointment?practitioner=${practitioner}&date=ge${from}&date=lt${until}&_count=50`;
}

/** Beginnings of names that fill a page. */
async function listFamilies(caller: Caller): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const letter of letters) {
    const what = `Patient?family=${letter}&_count=${pageOf}`;
    if (listFound(await caller.search(what)).length < pageOf) continue;
    asked.push({ what, statement: findByFamily(letter, pageOf) });
  }
  return asked;
}

/** Names that lead to some encounters. */
async function listChains(caller: Caller, { families }: Samples): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const family of families) {
    if (asked.length === chainsMax) break;
    const what = `Encounter?patient.family=${encodeURIComponent(family)}&_count=${chainCount}`;
    if (listFound(await caller.search(what)).length < chainMin) continue;
    asked.push({ what, statement: findByChain(family, chainCount) });
  }
  return asked;
}
