/**
 * Practice days at a service: on schedule, whether or not others have been answered (an open loop), or as fast as the service
 * answers (a closed loop).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { openRandom, type Random } from '../../packages/server/src/synthetic/random.ts';
import { quantile } from '../cpu.ts';
import { scheduleArrivals } from './arrivals.ts';
import type { Contents } from './installations.ts';
import { type DayFigures, Journal } from './journal.ts';
import { drawErrand, drawWeighted, requestsPerArrival } from './mix.ts';
import { seed } from './plan.ts';
import { learnPractice, type Practice } from './practice.ts';
import { openVendor, type Vendor } from './vendor.ts';
import { Visit, VisitEnded } from './visit.ts';

/** All who work at one service. */
export interface Staff {
  readonly practices: readonly Practice[];
  readonly vendors: readonly Vendor[];
}

export interface DayOptions {
  readonly seconds: number;
  /** Requests a second, in the mean of the day. */
  readonly rate: number;
  /** Days of the same number are alike. */
  readonly number: number;
}

/** Figures of an open loop. */
export interface ScheduledFigures extends DayFigures {
  /** How much later than due arrivals began, since this process was busy or its timers are coarse: latencies hold it. */
  readonly late: { readonly p50Ms: number; readonly p99Ms: number };
}

/** Connections of each application, at most. */
const connectionsMax = 16;
/** After the last arrival, until the last answer. */
const drainMaxMs = 60_000;

/** Gets tokens and learns of all practices at `origin`. */
export async function openStaff(origin: string, contents: Contents): Promise<Staff> {
  const vendors = new Map<string, Vendor>();
  for (const [name, credentials] of contents.credentials) {
    const vendor = openVendor(origin, name, credentials, connectionsMax);
    const { status, body } = await vendor.renew();
    if (status !== 200) throw new Error(`no token for ${name}: ${status} ${body}`);
    vendors.set(name, vendor);
  }
  const vendorOf = (name: string): Vendor => {
    const vendor = vendors.get(name);
    if (vendor === undefined) throw new Error(`there is no application ${name}`);
    return vendor;
  };
  const practices: Practice[] = [];
  for (const plan of contents.plan.practices) practices.push(await learnPractice(plan, contents, vendorOf));
  return { practices, vendors: [...vendors.values()] };
}

/** Runs a day; resolves when the last request of it is answered. */
export async function runDay(staff: Staff, { seconds, rate, number }: DayOptions): Promise<ScheduledFigures> {
  const repeatedBefore = countRepeated(staff);
  const journal = new Journal(seconds);
  const under = new Set<Promise<void>>();
  const random = openRandom(seed, 'arrivals', number);
  const beganMs = performance.now();
  const lateMs: number[] = [];
  let count = 0;
  for (const dueMs of scheduleArrivals(seconds, rate / requestsPerArrival, random)) {
    const waitMs = beganMs + dueMs - performance.now();
    if (waitMs > 0) await delay(Math.ceil(waitMs));
    lateMs.push(performance.now() - beganMs - dueMs);
    const visiting = visit(staff, openRandom(seed, number, count), journal, beganMs, dueMs);
    count += 1;
    under.add(visiting);
    void visiting.finally(() => under.delete(visiting));
  }
  const waitMs = beganMs + seconds * 1000 - performance.now();
  if (waitMs > 0) await delay(waitMs);
  const isOver = await Promise.race([Promise.all(under).then(() => true), delay(drainMaxMs, false, { ref: false })]);
  if (!isOver) throw new Error(`${under.size} visits have not ended a minute after the day`);
  closeAll(staff);
  const late = { p50Ms: quantile(lateMs, 0.5), p99Ms: quantile(lateMs, 0.99) };
  return { ...journal.computeFigures(), late, repeated: countRepeated(staff) - repeatedBefore };
}

/** As many visits at once as `connections` says, each as soon as another has ended; returns what was answered in time. */
export async function runAtCapacity(
  staff: Staff,
  { seconds, connections, number }: { readonly seconds: number; readonly connections: number; readonly number: number },
): Promise<DayFigures> {
  const repeatedBefore = countRepeated(staff);
  const journal = new Journal(seconds);
  const beganMs = performance.now();
  let count = 0;
  const work = async (): Promise<void> => {
    for (let nowMs = 0; nowMs < seconds * 1000; nowMs = performance.now() - beganMs)
      await visit(staff, openRandom(seed, 'capacity', number, count++), journal, beganMs, nowMs);
  };
  await Promise.all(Array.from({ length: connections }, work));
  closeAll(staff);
  return { ...journal.computeFigures(), repeated: countRepeated(staff) - repeatedBefore };
}

async function visit(
  { practices }: Staff,
  random: Random,
  journal: Journal,
  beganMs: number,
  dueMs: number,
): Promise<void> {
  const practice = drawWeighted(practices, ({ plan }) => plan.share, random);
  try {
    await drawErrand(random).run(new Visit(practice, random, journal, beganMs, dueMs));
  } catch (error) {
    if (!(error instanceof VisitEnded)) throw error;
  }
}

/** Connections of a turn are not those of the next one, which comes much later. */
function closeAll({ vendors }: Staff): void {
  for (const vendor of vendors) vendor.close();
}

function countRepeated({ vendors }: Staff): number {
  return vendors.reduce((sum, vendor) => sum + vendor.repeated(), 0);
}
