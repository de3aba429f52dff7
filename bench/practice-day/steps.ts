/** The kinds of requests of a practice day. */
import type { Step } from './visit.ts';

const read = { isRead: true, method: 'GET', statuses: [200] } as const;
const post = { isRead: false, method: 'POST' } as const;

export const steps = {
  read: { ...read, name: 'read by id', role: 'chart' },
  /** 200 where it has changed meanwhile. */
  conditional: { ...read, name: 'conditional read', role: 'chart', statuses: [304, 200] },
  day: { ...read, name: "provider's day with patients", role: 'desk' },
  week: { ...read, name: "practice's days ahead", role: 'desk' },
  byName: { ...read, name: 'patient by name', role: 'desk' },
  byBirthDate: { ...read, name: 'patient by birth date', role: 'desk' },
  byIdentifier: { ...read, name: 'patient by identifier', role: 'desk' },
  encounters: { ...read, name: "patient's encounters", role: 'chart' },
  observations: { ...read, name: "patient's observations", role: 'chart' },
  appointments: { ...read, name: "patient's appointments", role: 'desk' },
  changes: { ...read, name: '$changes', role: 'sync' },
  lastUpdated: { ...read, name: 'search by _lastUpdated', role: 'sync' },
  find: { ...read, name: '$find', role: 'desk' },
  hold: { ...post, name: '$hold', role: 'desk', statuses: [200, 409] },
  book: { ...post, name: '$book', role: 'desk', statuses: [201] },
  reschedule: { ...post, name: '$reschedule', role: 'desk', statuses: [200, 409] },
  cancel: { ...post, name: '$cancel', role: 'desk', statuses: [200] },
  readBefore: { ...read, name: 'read before an update', role: 'desk' },
  update: { isRead: false, method: 'PUT', name: 'update', role: 'desk', statuses: [200] },
  create: { ...post, name: 'create', role: 'chart', statuses: [201] },
  token: { ...post, name: 'token', role: 'desk', statuses: [200] },
} as const satisfies Readonly<Record<string, Step>>;
