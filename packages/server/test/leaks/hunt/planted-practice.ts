/**
 * What the firms hold of a practice's work: appointments on calendars, documents with files, and writes that wait for the
 * practice. What an application can only get by asking (a hold, the URL of a file, a proposal) is in practice.ts.
 */
import { buildSeriesIdentifier } from '../../../src/practice/booking/series.ts';
import type { Chosen, Planted } from './chosen.ts';
import { systemUrl } from './planted-terminology.ts';

/**
 * By what hides the secret. `calendar`: who has the taken times, and why; `slots`: whose calendar it is, and what is taken in
 * it; `documents`: files and what is said of them; `proposals`: what other applications have proposed.
 */
export const practiceGroups = ['calendar', 'slots', 'documents', 'proposals'] as const;
export type PracticeGroup = (typeof practiceGroups)[number];

/** What differs between the worlds where the group hides. */
export const practiceSecrets = {
  calendar: ['value', 'existence', 'link', 'tag', 'deletion'],
  slots: ['existence', 'link'],
  documents: ['value', 'existence', 'link', 'deletion'],
  proposals: ['value', 'existence'],
} as const;

/** The practitioner whose calendar the other one is, by what the link is. */
export const otherPractitioner = { alpha: 'nurse', bravo: 'porter' } as const;

/** Monday, 23 November 2026, 09:00 in New York: when both calendars begin. */
const openingMs = Date.UTC(2026, 10, 23, 14);
const slotMs = 30 * 60 * 1000;

export const monday = '2026-11-23';

/** From when until when the slot of the number is. */
export function timeOfSlot(number: number): { readonly start: string; readonly end: string } {
  const at = (slots: number): string => new Date(openingMs + slots * slotMs).toISOString();
  return { start: at(number), end: at(number + 1) };
}

const reference = (to: string) => ({ reference: to });

/** Records whose places and files have to be there before them. */
export function practiceRecords(group: PracticeGroup, chosen: Chosen): readonly Planted[] {
  if (group === 'calendar') return appointments(chosen);
  if (group === 'slots') return onTwoCalendars(chosen);
  return group === 'documents' ? documents(chosen) : [cover];
}

/** Of the group, what is deleted in one world. */
export function practiceGone(group: PracticeGroup, chosen: Chosen): readonly Planted[] {
  if (group === 'documents') return [documentOf('gone', 'REPORT', chosen)];
  if (group !== 'calendar') return [];
  return [{ ...booked('gone', 5, 'doctor'), ...said(chosen), status: 'cancelled' }];
}

/** Those at 09:00 and 10:00 are of the two appointments that there are in both worlds; 11:00 is held or booked. */
function appointments(chosen: Chosen): readonly Planted[] {
  return [
    { ...booked('taken', 0, 'doctor', chosen.link), ...said(chosen) },
    { ...booked('kept', 2, 'doctor', 'bravo'), comment: 'amber', identifier: [inSeries('alpha', 2)] },
    {
      // Those who keep the list see its tags.
      ...said({ ...chosen, tag: 'alpha' }),
      resourceType: 'Appointment',
      id: 'waiting',
      status: 'waitlist',
      priority: 1,
      // Nobody has a calendar there: nothing is ever offered.
      participant: [
        { actor: reference(patientOf(chosen.link)), status: 'accepted' },
        { actor: reference('Practitioner/nurse'), status: 'accepted' },
      ],
    },
  ];
}

/** The other calendar's taken time; what else is taken of it is planted where nobody names its time. */
function onTwoCalendars({ link }: Chosen): readonly Planted[] {
  return [booked('taken', 0, 'doctor'), booked('kept', 0, otherPractitioner[link])];
}

/** On the other calendar, in one world: a time that is taken. */
export const takenElsewhere: Planted = booked('only', 2, otherPractitioner.alpha);

/** Of the first calendar, in one world, the time that is held in the other. */
export const bookedInsteadOfHeld: Planted = { ...booked('only', 4, 'doctor'), comment: 'alpha' };

function booked(id: string, slot: number, practitioner: string, who: Chosen['link'] = 'alpha'): Planted {
  return {
    resourceType: 'Appointment',
    id,
    status: 'booked',
    appointmentType: { coding: [{ code: practitioner === 'doctor' ? 'FOLLOWUP' : 'NEW' }] },
    ...timeOfSlot(slot),
    participant: [
      { actor: reference(patientOf(who)), status: 'accepted' },
      { actor: reference(`Practitioner/${practitioner}`), status: 'accepted' },
      { actor: reference(practitioner === 'doctor' ? 'Location/room' : 'Location/ward'), status: 'accepted' },
    ],
  };
}

/** Of a series that is named by the value. */
function inSeries(value: string, slot: number): object {
  return buildSeriesIdentifier(value, timeOfSlot(slot).start);
}

function patientOf(link: Chosen['link']): string {
  return link === 'alpha' ? 'Patient/stone' : 'Patient/marble';
}

/** What an appointment says beside its time. */
function said({ value, tag }: Pick<Chosen, 'value' | 'tag'>) {
  const system = systemUrl;
  return {
    meta: { tag: [{ system, code: tag }] },
    identifier: [{ system: 'urn:example:mrn', value }, inSeries(value, 0)],
    reasonCode: [{ coding: [{ system, code: value }], text: value }],
    serviceType: [{ coding: [{ system, code: value }] }],
    description: value,
    comment: value,
    patientInstruction: value,
  };
}

/** Reports, which hold files of the application that plants them; letters are open to those who file them. */
function documents(chosen: Chosen): readonly Planted[] {
  return [documentOf('report', 'REPORT', chosen), ...(chosen.isThere ? [documentOf('only', 'REPORT', chosen)] : [])];
}

function documentOf(id: string, type: string, { value, link, tag }: Chosen): Planted {
  const url = id === 'report' ? '{file-report}' : '{file-other}';
  return {
    resourceType: 'DocumentReference',
    id,
    meta: { tag: [{ system: systemUrl, code: tag }] },
    status: 'current',
    type: { coding: [{ code: type }] },
    subject: reference(patientOf(link)),
    date: '2026-01-01T00:00:00Z',
    identifier: [{ system: 'urn:example:mrn', value }],
    description: value,
    author: [reference(link === 'alpha' ? 'Practitioner/doctor' : 'Practitioner/nurse')],
    content: [{ attachment: { contentType: 'application/pdf', title: value, url } }],
  };
}

/** What the practice has accepted before it wanted to be asked. */
const cover: Planted = {
  resourceType: 'Coverage',
  id: 'cover',
  status: 'active',
  beneficiary: reference('Patient/stone'),
  payor: [reference('Organization/alpha')],
};
