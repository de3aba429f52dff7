/**
 * The topics of the practice: what happens to which type, and by which search parameters an application narrows it. A topic
 * is told of a change to a version that the application may see; one that leaves what it may see is a deletion to it.
 */
import type { JsonObject } from '@praxis/fhir';
import { findText, listObjects, listTexts } from '../../search/json-values.ts';
import { intakeCoding } from '../intake/task-states.ts';

export type EventKind = 'create' | 'update' | 'delete';

/** A change as the application sees it. */
export interface SeenChange {
  readonly kind: EventKind;
  /** Absent: the version before is none that it may see. */
  readonly before: JsonObject | undefined;
  /** Absent: the version now is none that it may see. */
  readonly now: JsonObject | undefined;
}

export interface Topic {
  /** Canonical URL. */
  readonly url: string;
  readonly title: string;
  readonly type: string;
  /** Codes of the search parameters that filters may name: tokens and references. */
  readonly filters: readonly string[];
  /** Top-level elements that `isEvent` goes by: the topic is open to those who may search them. */
  readonly reads: readonly string[];
  readonly isEvent: (change: SeenChange) => boolean;
}

const base = 'https://praxis.health/fhir/SubscriptionTopic';

const appointmentFilters = ['actor', 'patient', 'practitioner', 'location', 'status', 'appointment-type'];

const taking: ReadonlySet<string> = new Set(['booked', 'arrived', 'checked-in', 'fulfilled']);
const given: ReadonlySet<string> = new Set(['cancelled', 'noshow', 'entered-in-error']);

export const topics: readonly Topic[] = [
  {
    url: `${base}/appointment-changed`,
    title: 'An appointment is made, changed or deleted',
    type: 'Appointment',
    filters: appointmentFilters,
    reads: [],
    isEvent: () => true,
  },
  {
    url: `${base}/appointment-booked`,
    title: 'An appointment is booked',
    type: 'Appointment',
    filters: appointmentFilters,
    reads: ['status'],
    isEvent: ({ before, now }) => taking.has(statusOf(now)) && !taking.has(statusOf(before)),
  },
  {
    url: `${base}/appointment-moved`,
    title: 'A booked appointment gets another time or other participants',
    type: 'Appointment',
    filters: appointmentFilters,
    reads: ['status', 'start', 'end', 'participant'],
    isEvent: ({ before, now }) =>
      taking.has(statusOf(now)) && taking.has(statusOf(before)) && placeOf(now) !== placeOf(before),
  },
  {
    url: `${base}/appointment-cancelled`,
    title: 'An appointment is cancelled, missed or deleted',
    type: 'Appointment',
    filters: appointmentFilters,
    reads: ['status'],
    isEvent: ({ kind, before, now }) => kind === 'delete' || (given.has(statusOf(now)) && !given.has(statusOf(before))),
  },
  {
    url: `${base}/patient-changed`,
    title: 'A patient is registered, changed or deleted',
    type: 'Patient',
    filters: ['_id', 'general-practitioner', 'organization', 'active'],
    reads: [],
    isEvent: () => true,
  },
  {
    url: `${base}/patient-linked`,
    title: 'A patient is linked to another one, or the link ends',
    type: 'Patient',
    filters: ['_id'],
    reads: ['link'],
    isEvent: ({ before, now }) => linksOf(before) !== linksOf(now),
  },
  {
    url: `${base}/document-filed`,
    title: 'A document is filed, changed or deleted',
    type: 'DocumentReference',
    filters: ['patient', 'type', 'category', 'status'],
    reads: [],
    isEvent: () => true,
  },
  {
    url: `${base}/proposal-decided`,
    title: 'The practice decides about a proposed change',
    type: 'Task',
    filters: ['patient', 'focus', 'identifier'],
    reads: ['status', 'code'],
    isEvent: ({ before, now }) =>
      now !== undefined && isProposal(now) && statusOf(now) !== 'requested' && statusOf(now) !== statusOf(before),
  },
  {
    url: `${base}/charge-changed`,
    title: 'A charge is made, changed or deleted',
    type: 'ChargeItem',
    filters: ['patient', 'code', 'type'],
    reads: [],
    isEvent: () => true,
  },
  {
    url: `${base}/waiting-list-offer`,
    title: 'A time is offered to a patient who waits for one',
    type: 'Appointment',
    filters: appointmentFilters,
    reads: ['status'],
    isEvent: ({ before, now }) => statusOf(now) === 'proposed' && statusOf(before) === 'waitlist',
  },
];

/** The topic of a canonical URL; undefined: there is none. */
export function findTopic(url: string): Topic | undefined {
  return topics.find((topic) => topic.url === url);
}

function statusOf(resource: JsonObject | undefined): string {
  return findText(resource, 'status') ?? '';
}

/** When it is and who takes part. */
function placeOf(resource: JsonObject | undefined): string {
  const actors = listObjects(resource, 'participant').flatMap(({ actor }) => listTexts(actor, 'reference'));
  return JSON.stringify([findText(resource, 'start'), findText(resource, 'end'), actors.toSorted()]);
}

function linksOf(resource: JsonObject | undefined): string {
  return JSON.stringify(resource?.link ?? []);
}

function isProposal({ code }: JsonObject): boolean {
  const codings = listObjects(code, 'coding');
  return codings.some((coding) => coding.system === intakeCoding.system && coding.code === intakeCoding.code);
}
