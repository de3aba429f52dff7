/** Whether the service has kept what it promised: nothing is lost, and nothing took effect twice. */
import { buildGetRequest } from '../../packages/server/src/base/worst-case.ts';
import type { Caller } from './caller.ts';
import type { Follower } from './follower.ts';
import { countOf, judgeCreate } from './judgement.ts';
import { type Account, ask, type Chain, witnessSystem } from './witness.ts';

/** Judges all that the witness was promised. */
export async function brokenPromises(caller: Caller, account: Account, follower: Follower): Promise<string[]> {
  const { chains, created, bookings, revoked, versions } = account;
  const broken = [...account.broken];
  for (const chain of chains) broken.push(...(await brokenChain(caller, chain)));
  for (const value of created.keys())
    broken.push(...judgeCreate(value, await countOf(caller, witnessSystem, value), 1));
  broken.push(...(await brokenBookings(caller, account)));
  for (const token of revoked) {
    const { status } = await caller.sendAs(token, buildGetRequest('Patient?_count=1'));
    if (status !== 401) broken.push(`a token that was revoked is answered ${status} at the end`);
  }
  for (const version of versions) if (!follower.told.has(version)) broken.push(`$changes did not tell ${version}`);
  for (const [version, count] of follower.told) if (count > 1) broken.push(`$changes told ${version} ${count} times`);
  const updates = chains.reduce((sum, { acknowledged }) => sum + acknowledged.size - 1, 0);
  const uncertain = chains.reduce((sum, chain) => sum + chain.uncertain.length, 0);
  console.log(
    `promises: ${updates} updates (${uncertain} uncertain), ${created.size} creates with a key, ${bookings.length} bookings (${bookings.filter(({ status }) => status === 'cancelled').length} cancelled), ${revoked.length} revocations, ${versions.size} versions in $changes, which told ${follower.told.size}`,
  );
  return broken;
}

/** Versions follow each other without a gap, each acknowledged one is what was written, and no write is there twice. */
async function brokenChain(caller: Caller, { id, acknowledged, uncertain }: Chain): Promise<string[]> {
  const broken: string[] = [];
  const found = new Map<number, string>();
  for (let path: string | undefined = `Patient/${id}/_history?_count=200`; path !== undefined; ) {
    const { status, body } = await ask(caller, path);
    if (status !== 200) return [`the history of Patient/${id} is answered ${status}: ${body.slice(0, 300)}`];
    const page = JSON.parse(body);
    for (const { resource } of page.entry ?? [])
      found.set(Number(resource.meta.versionId), resource.identifier[0].value);
    path = nextOf(page);
  }
  for (let version = 1; version <= found.size; version++)
    if (!found.has(version)) broken.push(`Patient/${id} has ${found.size} versions, but no version ${version}`);
  for (const [version, marker] of acknowledged)
    if (found.get(version) !== marker) broken.push(`Patient/${id}/_history/${version} is not what was acknowledged`);
  const markers = [...found.values()];
  if (new Set(markers).size < markers.length) broken.push(`an update of Patient/${id} took effect twice`);
  const known = new Set([...acknowledged.values(), ...uncertain]);
  for (const marker of markers) if (!known.has(marker)) broken.push(`Patient/${id} holds what nobody wrote: ${marker}`);
  return broken;
}

interface Appointment {
  readonly id: string;
  readonly status: string;
  readonly start: string;
  readonly end: string;
  readonly participant: readonly { readonly actor?: { readonly reference?: string } }[];
}

/** What was booked is there as it was left, and no practitioner has two appointments at one time. */
async function brokenBookings(caller: Caller, { bookings }: Account): Promise<string[]> {
  const broken: string[] = [];
  const own = new Set(bookings.map(({ id }) => id));
  for (const { id, status } of bookings) {
    const answer = await ask(caller, `Appointment/${id}`);
    const found: string = answer.status === 200 ? JSON.parse(answer.body).status : String(answer.status);
    const isKept = status === 'perhaps cancelled' ? ['booked', 'cancelled'].includes(found) : found === status;
    if (!isKept) broken.push(`Appointment/${id} was left ${status} and is ${found}`);
  }
  const all = await listComing(caller);
  for (const { practitioner, first, second } of overlaps(all))
    if (own.has(first.id) || own.has(second.id))
      broken.push(`${practitioner} has Appointment/${first.id} and Appointment/${second.id} at ${second.start}`);
  return broken;
}

/** Appointments from today on that take time. */
async function listComing(caller: Caller): Promise<readonly Appointment[]> {
  const today = new Date().toISOString().slice(0, 10);
  const found: Appointment[] = [];
  for (let path: string | undefined = `Appointment?date=ge${today}&_count=200`; path !== undefined; ) {
    const { status, body } = await ask(caller, path);
    if (status !== 200) throw new Error(`appointments are answered ${status}: ${body.slice(0, 300)}`);
    const page = JSON.parse(body);
    for (const { resource } of page.entry ?? []) if (isActive(resource)) found.push(resource);
    path = nextOf(page);
  }
  return found;
}

function* overlaps(all: readonly Appointment[]) {
  const byPractitioner = Map.groupBy(all, ({ participant }) =>
    participant.map(({ actor }) => actor?.reference).find((reference) => reference?.includes('Practitioner/')),
  );
  for (const [practitioner, theirs] of byPractitioner) {
    const sorted = theirs.toSorted((left, right) => Date.parse(left.start) - Date.parse(right.start));
    for (const [at, second] of sorted.entries()) {
      const first = sorted[at - 1];
      if (first !== undefined && Date.parse(second.start) < Date.parse(first.end))
        yield { practitioner, first, second };
    }
  }
}

/** Path of the next page below the base. */
function nextOf(page: { readonly link: readonly { readonly relation: string; readonly url: string }[] }) {
  return page.link.find(({ relation }) => relation === 'next')?.url.split('/fhir/v2/')[1];
}

function isActive({ status, start }: Appointment): boolean {
  return start !== undefined && !['cancelled', 'noshow', 'entered-in-error'].includes(status);
}
