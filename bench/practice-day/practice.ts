/**
 * A practice as its applications know it: what they have learned by searches before the day, and what they have done since.
 */
import type { WholeAnswer } from '../service/line.ts';
import { listBusyDays } from './busy-days.ts';
import type { Contents } from './installations.ts';
import { environment, type PracticePlan, type Role } from './plan.ts';
import type { Vendor } from './vendor.ts';

export interface KnownPatient {
  readonly id: string;
  readonly family: string;
  readonly birthDate: string;
  readonly identifier: string;
  /** Of the version that the application has. */
  etag: string;
  /** Somebody changes it just now. */
  isTaken: boolean;
}

export interface Practice {
  readonly plan: PracticePlan;
  /** Path of the FHIR base. */
  readonly base: string;
  readonly vendors: Readonly<Record<Role, Vendor>>;
  readonly patients: readonly KnownPatient[];
  readonly practitioners: readonly string[];
  /** Working days around today, and those that can be booked: `YYYY-MM-DD`. */
  readonly days: readonly string[];
  readonly bookableDays: readonly string[];
  /** Ids of appointments of today. */
  readonly appointments: readonly string[];
  /** Ids of appointments that were booked and not cancelled. */
  readonly booked: string[];
  /** Path and query of the next page of `$changes`. */
  feed: string | undefined;
  /** Up to when the application has all that has changed. */
  completeUntil: string;
}

const pageOf = 100;
const pagesMax = 10;
const dayMs = 86_400_000;

interface FoundBundle {
  readonly entry?: readonly { readonly resource: FoundResource }[];
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}

interface FoundResource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta?: { readonly versionId?: string };
  readonly name?: readonly { readonly family?: string }[];
  readonly birthDate?: string;
  readonly identifier?: readonly { readonly value?: string }[];
  readonly actor?: readonly { readonly reference: string }[];
}

/** Learns of a practice what its work needs. */
export async function learnPractice(
  plan: PracticePlan,
  { todayMs }: Contents,
  vendorOf: (name: string) => Vendor,
): Promise<Practice> {
  const { desk, chart, sync } = plan.applications;
  const vendors = { desk: vendorOf(desk), chart: vendorOf(chart), sync: vendorOf(sync) };
  const base = `/${environment}/firm/${plan.prefix}/pm/fhir/v2`;
  const search = (what: string) => searchAll(vendors.desk, base, what);
  const days = listBusyDays(todayMs / dayMs);
  const today = new Date(todayMs).toISOString().slice(0, 10);
  const current = days.find((day) => day >= today) ?? today;
  const patients = await search(`Patient?_count=${pageOf}`);
  const schedules = await search(`Schedule?_count=${pageOf}`);
  const appointments = await search(`Appointment?date=${current}&_count=${pageOf}&_elements=status`);
  return {
    plan,
    base,
    vendors,
    patients: patients.map(toKnownPatient),
    practitioners: schedules.flatMap(({ actor = [] }) =>
      actor.flatMap(({ reference }) => /^Practitioner\/(.*)$/.exec(reference)?.[1] ?? []),
    ),
    days: days.filter((day) => day >= current).slice(0, 5),
    bookableDays: days.filter((day) => day > today),
    appointments: appointments.map(({ id }) => id),
    booked: [],
    feed: undefined,
    completeUntil: new Date(Date.now()).toISOString(),
  };
}

/** Of an answer the value of a header; undefined: it has none. */
export function readHeader({ head }: WholeAnswer, name: string): string | undefined {
  const line = head.split('\r\n').find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}

/** Path and query of the page that follows. */
export function findNextPage(bundle: FoundBundle): string | undefined {
  const url = bundle.link?.find(({ relation }) => relation === 'next')?.url;
  if (url === undefined) return undefined;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

async function searchAll(vendor: Vendor, base: string, what: string): Promise<readonly FoundResource[]> {
  const found: FoundResource[] = [];
  for (let path: string | undefined = `${base}/${what}`, page = 0; path !== undefined && page < pagesMax; page += 1) {
    const { status, body } = await vendor.exchange({ method: 'GET', path, headers: vendor.headers() });
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    const bundle: FoundBundle = JSON.parse(body);
    found.push(...(bundle.entry ?? []).map(({ resource }) => resource));
    path = findNextPage(bundle);
  }
  return found;
}

function toKnownPatient({ id, meta, name, birthDate, identifier }: FoundResource): KnownPatient {
  return {
    id,
    family: name?.[0]?.family ?? '',
    birthDate: birthDate ?? '',
    identifier: identifier?.[0]?.value ?? '',
    etag: `W/"${meta?.versionId}"`,
    isTaken: false,
  };
}
