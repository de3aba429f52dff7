/**
 * Two years of appointments in all states and the next weeks' bookings: a walk over days and practitioners, so nobody is
 * booked twice and nothing has to be remembered. When more can be booked is said by the practice's rules (rules.ts).
 */
import { assignLocation, ids, type Place, type PracticePlan } from './plan.ts';
import { openRandom, type Random } from './random.ts';
import { reference, resource, type SyntheticResource } from './resource.ts';
import { visit } from './visit.ts';
import { appointmentMinutes, appointmentTypes, cancellationReasons, concept, reportableReasons } from './vocabulary.ts';
import { type Day, toWeekday } from './zoned-time.ts';

const pastDays = 730;
const bookedDays = 30;
const appointmentsPerPatient = 5;
/** Opening hours of every working day, in minutes after midnight. */
export const opensAtMinutes = 8 * 60;
export const closesAtMinutes = 17 * 60;

/** Appointments with their visits, day by day. */
export function* generateCalendar(plan: PracticePlan): Generator<SyntheticResource> {
  const openDays = (pastDays + bookedDays) * (5 / 7);
  const fillRate = (plan.patients * appointmentsPerPatient) / (openDays * plan.practitioners);
  for (let day = plan.today - pastDays; day <= plan.today + bookedDays; day += 1) {
    if (toWeekday(day) === 0 || toWeekday(day) === 6) continue;
    for (let practitioner = 0; practitioner < plan.practitioners; practitioner += 1)
      yield* practitionerDay(plan, day, practitioner, fillRate);
  }
}

/** The day of one practitioner: as many appointments as the practice's size asks for, spread over the opening hours. */
function* practitionerDay(
  plan: PracticePlan,
  day: Day,
  practitioner: number,
  fillRate: number,
): Generator<SyntheticResource> {
  const random = openRandom(plan.seed, plan.firm, 'day', day - plan.today, practitioner);
  const placesOfDay = (closesAtMinutes - opensAtMinutes) / 28; // 28 min: the mean length with its gap
  let number = 0;
  for (let minute = opensAtMinutes; minute < closesAtMinutes; number += 1) {
    const kind = random.integer(0, appointmentTypes.length - 1);
    const type = appointmentTypes[kind];
    const minutes = appointmentMinutes[kind];
    if (type === undefined || minutes === undefined) return;
    const id = `${(day + 100) * 100 + number}${String(practitioner).padStart(2, '0')}`;
    const place: Place = { id, day, practitioner, startMinutes: minute, minutes, type };
    if (random.chance(fillRate / placesOfDay)) yield* appointment(plan, random, place);
    minute += minutes + 5 * random.integer(0, 1);
  }
}

function* appointment(plan: PracticePlan, random: Random, place: Place): Generator<SyntheticResource> {
  const patient = random.integer(0, plan.patients - 1);
  const status = statusOf(plan, random, place.day);
  const practitioner = ids.practitioner(place.practitioner);
  const accepted = status === 'pending' ? 'needs-action' : 'accepted';
  yield resource('Appointment', place.id, {
    status,
    ...(status === 'cancelled' ? { cancelationReason: concept(random.pick(cancellationReasons)) } : {}),
    appointmentType: concept(place.type),
    reasonCode: [concept(random.pick(reportableReasons))],
    description: place.type.display,
    start: plan.zone.toText(place.day, place.startMinutes),
    end: plan.zone.toText(place.day, place.startMinutes + place.minutes),
    minutesDuration: place.minutes,
    created: plan.zone.toText(place.day - random.integer(1, 60), random.integer(480, 1000)),
    participant: [
      { actor: reference('Patient', ids.patient(patient)), status: accepted },
      { actor: reference('Practitioner', practitioner), status: 'accepted' },
      { actor: reference('Location', ids.location(assignLocation(plan, place.practitioner))), status: 'accepted' },
    ],
  });
  if (status === 'fulfilled' || status === 'checked-in')
    yield* visit(plan, random, place, patient, status === 'fulfilled');
}

function statusOf(plan: PracticePlan, random: Random, day: Day): string {
  const roll = random.next();
  if (day < plan.today) return roll < 0.84 ? 'fulfilled' : roll < 0.94 ? 'cancelled' : 'noshow';
  if (day === plan.today) return random.pick(['booked', 'arrived', 'checked-in', 'fulfilled']);
  return roll < 0.8 ? 'booked' : roll < 0.95 ? 'pending' : 'cancelled';
}
