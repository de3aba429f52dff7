/**
 * Appointments that make the days around today as full as those of a practice at work: synthetic practices have few a day. They lie
 * where the practitioners are free.
 */
import { closesAtMinutes, opensAtMinutes } from '../../packages/server/src/synthetic/calendar.ts';
import { ids, type PracticePlan, planPractice } from '../../packages/server/src/synthetic/plan.ts';
import { generatePractice, type PracticeOptions } from '../../packages/server/src/synthetic/practice.ts';
import { openRandom } from '../../packages/server/src/synthetic/random.ts';
import { reference, resource, type SyntheticResource } from '../../packages/server/src/synthetic/resource.ts';
import { appointmentMinutes, appointmentTypes, concept } from '../../packages/server/src/synthetic/vocabulary.ts';
import { type Day, formatDate, toWeekday } from '../../packages/server/src/synthetic/zoned-time.ts';

/** Days before and after today. */
const firstDay = -7;
const lastDay = 14;
/** Of the free time of a day, what is booked: of a day that is over or today, and two weeks from now. */
const fullShare = 0.8;
const laterShare = 0.3;
const stepMinutes = 15;

/** Working days around today, the days that are filled: `YYYY-MM-DD`. */
export function listBusyDays(today: number): readonly string[] {
  return listDays(today).map(formatDate);
}

/** The appointments that `options` lack, each at a time at which its practitioner has no other. */
export function* generateBusyDays(options: PracticeOptions): Generator<SyntheticResource> {
  const plan = planPractice(options);
  const taken = listTaken(options);
  for (const day of listDays(plan.today)) {
    for (let practitioner = 0; practitioner < plan.practitioners; practitioner += 1)
      yield* generateDay(plan, day, practitioner, taken);
  }
}

function* generateDay(
  plan: PracticePlan,
  day: Day,
  practitioner: number,
  taken: readonly Taken[],
): Generator<SyntheticResource> {
  const share = fullShare + (laterShare - fullShare) * Math.max(0, (day - plan.today) / lastDay);
  const random = openRandom(plan.seed, plan.firm, 'busy', day, practitioner);
  const id = ids.practitioner(practitioner);
  const isFree = (from: number, until: number): boolean =>
    !taken.some((each) => each.practitioner === id && each.from < until && from < each.until);
  for (let minute = opensAtMinutes; minute < closesAtMinutes; ) {
    const kind = random.integer(0, appointmentTypes.length - 1);
    const [type, minutes] = [appointmentTypes[kind], appointmentMinutes[kind]];
    if (type === undefined || minutes === undefined) return;
    const end = minute + minutes;
    if (end > closesAtMinutes || !isFree(plan.zone.toMs(day, minute), plan.zone.toMs(day, end))) {
      minute += stepMinutes;
      continue;
    }
    if (random.chance(share)) {
      const patient = ids.patient(random.integer(0, plan.patients - 1));
      yield resource('Appointment', `busy-${day}-${practitioner}-${minute}`, {
        status: day < plan.today ? 'fulfilled' : 'booked',
        appointmentType: concept(type),
        start: plan.zone.toText(day, minute),
        end: plan.zone.toText(day, end),
        minutesDuration: minutes,
        participant: [
          { actor: reference('Patient', patient), status: 'accepted' },
          { actor: reference('Practitioner', id), status: 'accepted' },
        ],
      });
    }
    minute = end;
  }
}

function listDays(today: number): readonly number[] {
  const days = Array.from({ length: lastDay - firstDay + 1 }, (_, index) => today + firstDay + index);
  return days.filter((day) => toWeekday(day) !== 0 && toWeekday(day) !== 6);
}

interface Taken {
  readonly practitioner: string;
  readonly from: number;
  readonly until: number;
}

/** What the synthetic practice has booked on the days around today. */
function listTaken(options: PracticeOptions): readonly Taken[] {
  const { zone, today } = planPractice(options);
  const [from, until] = [zone.toMs(today + firstDay, 0), zone.toMs(today + lastDay + 1, 0)];
  const taken: Taken[] = [];
  for (const each of generatePractice(options)) {
    if (each.resourceType !== 'Appointment') continue;
    const { start, end, participant } = each as unknown as AppointmentTimes;
    const [startMs, endMs] = [Date.parse(start), Date.parse(end)];
    if (endMs <= from || startMs >= until) continue;
    const practitioner = participant.map(({ actor }) => actor.reference).find((to) => to.startsWith('Practitioner/'));
    if (practitioner !== undefined)
      taken.push({ practitioner: practitioner.slice('Practitioner/'.length), from: startMs, until: endMs });
  }
  return taken;
}

interface AppointmentTimes {
  readonly start: string;
  readonly end: string;
  readonly participant: readonly { readonly actor: { readonly reference: string } }[];
}
