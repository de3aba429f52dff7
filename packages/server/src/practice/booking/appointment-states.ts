/** Appointment (https://hl7.org/fhir/R4/valueset-appointmentstatus.html). */
import type { AppointmentstatusCode } from '@praxis/fhir';
import type { StateTable } from '../../resources/states/state-table.ts';

const byWrite = { by: 'application', on: 'write' } as const;

export const appointmentStates: StateTable<AppointmentstatusCode> = {
  name: 'Appointment',
  type: 'Appointment',
  introduction:
    'Rescheduling keeps the state, or goes back to pending where all have to agree anew. What is over is changed by the practice alone; another visit is another appointment. A plain write changes the appointment only; the operations change its Encounter with it.',
  states: [
    { code: 'proposed', meaning: 'suggested, not settled', begins: ['application'] },
    { code: 'pending', meaning: 'asked for; not all have agreed', begins: ['application'] },
    { code: 'booked', meaning: 'confirmed', begins: ['application'] },
    { code: 'waitlist', meaning: 'waits for a time to become free', begins: ['application'] },
    { code: 'arrived', meaning: 'the patient is there', begins: ['application'] },
    { code: 'checked-in', meaning: 'the patient is there and all is ready for the visit', begins: ['application'] },
    { code: 'fulfilled', meaning: 'it took place: checked out', begins: ['application'] },
    { code: 'cancelled', meaning: 'called off before it took place' },
    { code: 'noshow', meaning: 'the patient did not come' },
    { code: 'entered-in-error', meaning: 'it should never have been recorded' },
  ],
  transitions: [
    { from: ['proposed'], to: ['pending', 'booked', 'waitlist', 'cancelled'], ...byWrite },
    {
      from: ['pending'],
      to: ['booked', 'waitlist', 'arrived', 'checked-in', 'fulfilled', 'cancelled', 'noshow'],
      ...byWrite,
    },
    {
      from: ['booked'],
      to: ['pending', 'waitlist', 'arrived', 'checked-in', 'fulfilled', 'cancelled', 'noshow'],
      ...byWrite,
    },
    { from: ['waitlist'], to: ['proposed', 'pending', 'booked', 'cancelled'], ...byWrite },
    {
      from: ['arrived'],
      to: ['booked', 'checked-in', 'fulfilled', 'cancelled'],
      ...byWrite,
      note: 'booked: the arrival was a mistake; cancelled: left before the visit',
    },
    {
      from: ['checked-in'],
      to: ['arrived', 'fulfilled', 'cancelled'],
      ...byWrite,
      note: 'arrived: the check-in was a mistake; cancelled: left before the visit',
    },
    { from: ['noshow'], to: ['arrived', 'checked-in'], ...byWrite, note: 'came late' },
    {
      from: ['pending', 'booked', 'arrived', 'noshow'],
      to: ['checked-in'],
      by: 'application',
      on: '$check-in',
      effects: ['opens-visit'],
    },
    {
      from: ['arrived', 'checked-in'],
      to: ['fulfilled'],
      by: 'application',
      on: '$check-out',
      effects: ['ends-visit'],
    },
    {
      from: ['pending', 'booked', 'arrived', 'checked-in'],
      to: ['fulfilled'],
      by: 'application',
      on: '$fulfil',
      effects: ['records-visit'],
      note: 'afterwards, where nobody was checked in or out',
    },
    { from: ['pending', 'booked'], to: ['noshow'], by: 'application', on: '$no-show', effects: ['cancels-visit'] },
    {
      from: ['waitlist'],
      to: ['proposed'],
      by: 'server',
      on: 'offer',
      note: 'a slot that became free is offered for a short time',
    },
    { from: ['proposed'], to: ['waitlist'], by: 'server', on: 'offer', note: 'the offer ended by itself' },
    { from: ['proposed'], to: ['booked'], by: 'application', on: '$accept-offer', condition: 'offer-stands' },
    {
      from: ['proposed'],
      to: ['waitlist'],
      by: 'application',
      on: '$decline-offer',
      condition: 'offer-stands',
      note: 'the slot is offered to the next one, and never again to this one',
    },
    { from: ['cancelled'], to: ['pending', 'booked'], by: 'practice', on: 'write', note: 'reinstated' },
    { from: ['noshow'], to: ['booked', 'fulfilled', 'cancelled'], by: 'practice', on: 'write', note: 'a correction' },
    { from: ['fulfilled'], to: ['checked-in', 'noshow'], by: 'practice', on: 'write', note: 'a correction' },
    {
      from: ['proposed', 'pending', 'booked', 'waitlist', 'arrived', 'checked-in', 'fulfilled', 'cancelled', 'noshow'],
      to: ['entered-in-error'],
      by: 'practice',
      on: 'write',
    },
  ],
};
