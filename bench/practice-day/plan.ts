/**
 * The practices of a practice day and the applications that work in them. Sizes follow Zipf's law
 * (https://en.wikipedia.org/wiki/Zipf%27s_law): the second practice is half as large as the first, the third a third. So is its
 * traffic.
 */

/** What an application does in a practice. */
export type Role = 'desk' | 'chart' | 'sync';

export interface PracticePlan {
  readonly prefix: string;
  readonly name: string;
  readonly patients: number;
  /** Of all arrivals. */
  readonly share: number;
  /** Names of the applications that work there. */
  readonly applications: Readonly<Record<Role, string>>;
}

export interface ApplicationPlan {
  readonly name: string;
  readonly acl: readonly string[];
}

export interface DayPlan {
  readonly practices: readonly PracticePlan[];
  readonly applications: readonly ApplicationPlan[];
}

export const environment = 'sandbox';
/** All practices keep the same clock, so that 8 o'clock comes to all of them at once. */
export const timeZone = 'America/New_York';
export const seed = 'practice-day';

const practices = 20;
/** A practice has at least so many. */
const patientsMin = 10;
/** Vendors of each role; the practices choose in turns. */
const vendors = 2;

/** Access of the roles: what they need and no more, as vendors ask for it. */
const access: Readonly<Record<Role, readonly string[]>> = {
  desk: [
    'system/Patient.crus',
    'system/Appointment.crus',
    'system/Slot.rs',
    'system/Schedule.rs',
    'system/Practitioner.rs',
    'system/Location.rs',
  ],
  chart: [
    'system/Patient.rs',
    'system/Appointment.rs',
    'system/Encounter.rs',
    'system/Observation.crs',
    'system/Condition.crs',
    'system/Practitioner.rs',
  ],
  sync: ['system/*.rs'],
};

/** The plan of a day. @param patients of all practices together, about */
export function planDay(patients: number): DayPlan {
  const weights = Array.from({ length: practices }, (_, index) => 1 / (index + 1));
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  const roles: readonly Role[] = ['desk', 'chart', 'sync'];
  return {
    practices: weights.map((weight, index) => {
      const share = weight / whole;
      const nameOf = (role: Role): string => nameApplication(role, index % vendors);
      return {
        prefix: `day${index + 1}`,
        name: `Practice ${index + 1}`,
        patients: Math.max(patientsMin, Math.round(patients * share)),
        share,
        applications: { desk: nameOf('desk'), chart: nameOf('chart'), sync: nameOf('sync') },
      };
    }),
    applications: roles.flatMap((role) =>
      Array.from({ length: vendors }, (_, vendor) => ({ name: nameApplication(role, vendor), acl: access[role] })),
    ),
  };
}

function nameApplication(role: Role, vendor: number): string {
  return `${role.charAt(0).toUpperCase()}${role.slice(1)} ${vendor + 1}`;
}
