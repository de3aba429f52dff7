/** What servers are asked: reads and searches of R4 that every server should know. */
import type { Loaded } from './data-set.ts';

export interface Question {
  readonly name: string;
  /** Below the FHIR base, in turns. */
  readonly asked: readonly string[];
  /** What the matches are sorted by; absent: in any order. */
  readonly sortedBy?: (resource: Resource) => string;
}

/** Members that are looked at. */
export interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly start?: string;
  readonly period?: { readonly start?: string };
  readonly name?: readonly { readonly family?: string }[];
  readonly birthDate?: string;
  readonly identifier?: readonly { readonly system?: string; readonly value?: string }[];
  readonly participant?: readonly { readonly actor?: { readonly reference?: string } }[];
  readonly subject?: { readonly reference?: string };
}

const argumentsMax = 20;
const pageOf = 50;
const dayMs = 86_400_000;

/** The questions, with arguments of what has been loaded. */
export function listQuestions(loaded: readonly Loaded[]): readonly Question[] {
  const all = loaded as readonly unknown[] as readonly Resource[];
  const ofType = (type: string): readonly Resource[] => all.filter(({ resourceType }) => resourceType === type);
  const patients = spread(ofType('Patient'));
  const visited = spread([...new Set(ofType('Encounter').flatMap(({ subject }) => subject?.reference ?? []))]);
  const ids = patients.map(({ id }) => id);
  const startOf = ({ start, period }: Resource): string => instantOf(start ?? period?.start ?? '');
  return [
    { name: 'read', asked: ids.map((id) => `Patient/${id}`) },
    {
      name: 'search by identifier',
      asked: patients.map(({ identifier }) => {
        const { system, value } = identifier?.[0] ?? {};
        return `Patient?identifier=${encodeURIComponent(`${system}|${value}`)}`;
      }),
    },
    {
      name: 'search by family name',
      asked: patients.map(
        ({ name }) => `Patient?family=${encodeURIComponent(name?.[0]?.family ?? '')}&_count=${pageOf}`,
      ),
    },
    {
      name: 'search by birth date',
      asked: patients.map(({ birthDate }) => `Patient?birthdate=${birthDate}&_count=${pageOf}`),
    },
    { name: 'search by patient', asked: ids.map((id) => `Condition?patient=${id}&_count=${pageOf}`) },
    {
      name: 'search by patient, sorted',
      asked: visited.map((patient) => `Encounter?patient=${patient}&_sort=-date&_count=${pageOf}`),
      sortedBy: startOf,
    },
    {
      name: 'search of days, with patients',
      asked: listDays(ofType('Appointment')).map((days) => `${days}&_sort=date&_include=Appointment:patient`),
      sortedBy: startOf,
    },
    {
      name: 'patient with visits',
      asked: visited.map((patient) => `Patient?_id=${patient.split('/')[1]}&_revinclude=Encounter:patient`),
    },
    {
      name: 'chain',
      asked: patients.map(
        ({ identifier }) => `Encounter?patient.identifier=${identifier?.[0]?.value}&_count=${pageOf}`,
      ),
    },
    { name: 'count', asked: visited.map((patient) => `Encounter?patient=${patient}&_summary=count`) },
  ];
}

/** Weeks of a practitioner with appointments. */
function listDays(appointments: readonly Resource[]): readonly string[] {
  return spread(appointments).map(({ start = '', participant = [] }) => {
    const practitioner = participant
      .map(({ actor }) => actor?.reference ?? '')
      .find((reference) => reference.startsWith('Practitioner/'));
    const [from, until] = [0, 7].map((days) => new Date(Date.parse(start) + days * dayMs).toISOString());
    const dates = `date=ge${from}&date=lt${until}`;
    return `Appointment?practitioner=${practitioner}&${dates}&_count=${pageOf}`;
  });
}

/** Some of the items, from all over them. */
function spread<T>(items: readonly T[]): readonly T[] {
  const every = Math.max(1, Math.floor(items.length / argumentsMax));
  return items.filter((_, index) => index % every === 0).slice(0, argumentsMax);
}

function instantOf(text: string): string {
  return text === '' ? '' : new Date(text).toISOString();
}
