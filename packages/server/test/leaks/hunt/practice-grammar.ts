/**
 * Requests as applications send them that work with a practice: they search slots by type and date, hold, book, move and
 * cancel, upload files and follow their links, and ask what came of what they proposed. What each world has made for itself
 * they name as `{name}` (names.ts).
 */
import fc, { type Arbitrary } from 'fast-check';
import { monday, type PracticeGroup, timeOfSlot } from './planted-practice.ts';
import { fileOf, letter, pdf } from './practice.ts';
import type { Request } from './request.ts';

/** The ways of the group's requests, of which some are also others'. */
export const practiceWays: Readonly<Record<PracticeGroup, RegExp>> = {
  calendar: /^(slots|operation \$|create)/,
  slots: /^(slots|operation \$|create)/,
  documents: /^(upload|content|create|operation \$reconciliation|update|read)/,
  proposals: /^(operation \$reconciliation|create|update|patch|search)/,
};

export function practiceRequests(group: PracticeGroup): Arbitrary<Request> {
  if (group === 'documents') return fc.oneof(askedUpload, uploads, filed, refiled, shown, followed);
  if (group === 'proposals') return fc.oneof(reconciliations, proposed);
  return fc.oneof(
    { arbitrary: slotSearch, weight: 4 },
    { arbitrary: slotRead, weight: 1 },
    { arbitrary: found, weight: 3 },
    { arbitrary: holding, weight: 4 },
    { arbitrary: bookings, weight: 4 },
    { arbitrary: changes, weight: 3 },
    { arbitrary: created, weight: 3 },
  );
}

type Pairs = readonly (readonly [name: string, value: string])[];

function asking(way: string, path: string, pairs: Pairs): Request {
  const query = pairs.map(([name, value]) =>
    `${name}=${encodeURI(value)}`.replaceAll('%7B', '{').replaceAll('%7D', '}'),
  );
  return { way, method: 'GET', path: query.length === 0 ? path : `${path}?${query.join('&')}`, headers: {} };
}

function posted(way: string, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Request {
  return { way, method: 'POST', path, body, headers };
}

function given(...parameter: readonly object[]): object {
  return { resourceType: 'Parameters', parameter };
}

/** Slots of both calendars, where there are two; one that is none of these. */
const slotsMax = 11;
const slot = fc.nat({ max: slotsMax }).map((at) => `{slot-${at}}`);
const types = ['FOLLOWUP', 'NEW'] as const;
const tuesday = '2026-11-24';

const slotPairs = fc.oneof(
  fc.constantFrom(...types, 'FOLLOWUP,NEW', 'alpha').map((code) => ['appointment-type', code] as const),
  fc.constantFrom('free', 'busy', 'free,busy', 'busy-unavailable').map((status) => ['status', status] as const),
  fc.constantFrom('busy', 'free').map((status) => ['status:not', status] as const),
  fc.constantFrom('doctor', 'nurse', 'porter', 'room', 'ward').map((value) => ['identifier', value] as const),
  fc.constantFrom('1', '2', 'Schedule/1').map((value) => ['schedule:identifier', value] as const),
  slot.map((id) => ['_id', id] as const),
  fc.constantFrom('1', '2', '3').map((count) => ['_count', count] as const),
  fc.constantFrom('start', '-start', 'schedule').map((code) => ['_sort', code] as const),
  fc.constant(['_summary', 'count'] as const),
  fc.constantFrom('status', 'schedule,status', 'start').map((elements) => ['_elements', elements] as const),
);
const when = fc.constantFrom<Pairs[]>(
  [['date', monday]],
  [
    ['date', `ge${monday}`],
    ['date', `le${tuesday}`],
  ],
  [['start', `ge${monday}T14:00:00Z`]],
);
const slotSearch = fc
  .tuple(when, fc.array(slotPairs, { maxLength: 3 }))
  .map(([window, pairs]) => asking('slots', 'Slot', [...window, ...pairs]));
const slotRead = slot.map((id) => asking('slots', `Slot/${id}`, []));

const findPairs = fc.oneof(
  fc.constantFrom(monday, tuesday, `${monday}T15:00:00Z`).map((start) => ['start', start] as const),
  fc.constantFrom(monday, tuesday, `${tuesday}T17:00:00Z`).map((end) => ['end', end] as const),
  fc.constantFrom('doctor', 'nurse', 'porter').map((id) => ['practitioner', id] as const),
  fc.constantFrom('room', 'ward').map((id) => ['location', id] as const),
  fc
    .constantFrom('Practitioner/nurse', 'Practitioner/doctor', 'Location/ward')
    .map((actor) => ['with', actor] as const),
  fc.constantFrom('mon', 'tue').map((day) => ['day', day] as const),
  fc.constantFrom('09:00-10:00', '10:00-12:00').map((time) => ['time', time] as const),
  fc.constantFrom('true', 'false').map((others) => ['others', others] as const),
  fc.constant(['first-available', 'true'] as const),
  fc.constantFrom('1', '2', '5').map((count) => ['_count', count] as const),
);
const found = fc
  .tuple(fc.constantFrom(...types), fc.array(findPairs, { maxLength: 4 }))
  .map(([code, pairs]) => asking('operation $find', 'Slot/$find', [['appointment-type', code], ...pairs]));

/** One of the caller's own, one of another application, or none. */
const hold = fc.constantFrom('{held}', '{hold}', '{hold}', '{made}');
const holding = fc.oneof(
  slot.map((id) => posted('operation $hold', `Slot/${id}/$hold`, undefined)),
  fc
    .tuple(fc.constantFrom('renew', 'release'), hold)
    .map(([name, id]) => posted(`operation $${name}`, `Slot/$${name}`, given({ name: 'hold', valueId: id }))),
);

const patient = fc.constantFrom('stone', 'marble');
const place = fc.oneof(
  { arbitrary: slot.map((id) => ({ name: 'slot', valueString: `Slot/${id}` })), weight: 3 },
  { arbitrary: hold.map((id) => ({ name: 'hold', valueId: id })), weight: 2 },
);
const series = fc
  .tuple(fc.constantFrom('daily', 'weekly'), fc.constantFrom(2, 3), fc.constantFrom('refuse', 'skip'))
  .map(([frequency, count, taken]) => ({
    name: 'recurrence',
    part: [
      { name: 'frequency', valueCode: frequency },
      { name: 'count', valuePositiveInt: count },
      { name: 'taken', valueCode: taken },
    ],
  }));
const bookings = fc.tuple(place, patient, fc.option(series, { freq: 4 })).map(([at, who, recurrence]) => {
  const participant = [{ actor: { reference: `Patient/${who}` }, status: 'accepted' }];
  const appointment = { name: 'appointment', resource: { resourceType: 'Appointment', participant } };
  return posted(
    'operation $book',
    'Appointment/$book',
    given(appointment, at, ...(recurrence === null ? [] : [recurrence])),
  );
});

const appointment = fc
  .constantFrom('taken', 'kept', 'waiting', 'only', 'gone', '{made}')
  .map((id) => `Appointment/${id}`);
const changes = fc.oneof(
  fc.tuple(appointment, place).map(([name, at]) => posted('operation $reschedule', `${name}/$reschedule`, given(at))),
  fc.tuple(appointment, fc.constantFrom('one', 'following', 'all', undefined)).map(([name, scope]) => {
    const reason = { name: 'reason', valueCodeableConcept: { text: 'ill' } };
    const of = scope === undefined ? [] : [{ name: 'scope', valueCode: scope }];
    return posted('operation $cancel', `${name}/$cancel`, given(reason, ...of));
  }),
  fc
    .tuple(appointment, fc.constantFrom('check-in', 'no-show', 'accept-offer', 'decline-offer'))
    .map(([name, operation]) => posted(`operation $${operation}`, `${name}/$${operation}`, given())),
);

/**
 * By a plain create, at times that are taken in both worlds or in none: whoever may book a time learns whether it is taken by
 * booking it, whatever it may see.
 */
const created = fc
  .tuple(fc.constantFrom(...types), fc.constantFrom(0, 1, 5), patient, fc.constantFrom('booked', 'pending', 'waitlist'))
  .map(([code, number, who, status]) => {
    const [practitioner, location] = code === 'FOLLOWUP' ? ['doctor', 'room'] : ['nurse', 'ward'];
    const actors = [`Patient/${who}`, `Practitioner/${practitioner}`, `Location/${location}`];
    return posted('create', 'Appointment', {
      resourceType: 'Appointment',
      status,
      appointmentType: { coding: [{ code }] },
      ...timeOfSlot(number),
      participant: actors.map((reference) => ({ actor: { reference }, status: 'accepted' })),
    });
  });

const askedUpload = fc
  .constantFrom({ resourceType: 'Binary', contentType: pdf }, { resourceType: 'Binary' }, undefined)
  .map((body) => posted('upload', 'Binary', body));
const uploads = fc
  .tuple(fc.constantFrom('{upload}', '{upload}', '{file-report}', '{link}'), fc.constantFrom('alpha', 'bravo', 'own'))
  .map(([path, word]): Request => {
    return { way: 'upload', method: 'PUT', path, body: fileOf(word), headers: { 'content-type': pdf } };
  });

/** Files of its own, those of others, and one that is none. */
const file = fc.constantFrom(
  '{file-alpha}',
  '{file-alpha}',
  '{file-bravo}',
  '{content}',
  '{file-report}',
  '{file-other}',
);
const attachment = fc.constantFrom({}, {}, { size: 20 }, { hash: 'AAAA' }, { contentType: 'image/png' });
const filed = fc
  .tuple(file, patient, attachment)
  .map(([url, who, more]) => posted('create', 'DocumentReference', letter(url, who, more)));
const refiled = fc.tuple(file, fc.constantFrom('{letter}', '{made}', 'report', 'only')).map(([url, id]): Request => {
  const body = { ...letter(url, 'stone'), id };
  return { way: 'update', method: 'PUT', path: `DocumentReference/${id}`, body, headers: {} };
});
const shown = fc
  .constantFrom('{letter}', '{letter}', '{made}', 'report')
  .map((id) => asking('read', `DocumentReference/${id}`, []));

/** Links that the caller was given itself, as they are and altered: whoever was given one needs no other right. */
const followed = fc
  .tuple(
    fc.constantFrom(
      '{link}',
      '{file-report}?link={seal}',
      '{file-other}?link={seal}',
      '{link}x',
      '{file-report}',
      '{content}?link={seal}',
    ),
    fc.constantFrom('GET', 'GET', 'HEAD'),
    fc.constantFrom<Readonly<Record<string, string>>[]>({}, { range: 'bytes=0-9' }, { 'if-none-match': '*' }),
  )
  .map(([path, method, headers]): Request => ({ way: 'content link', method, path, headers }));

const proposal = fc.constantFrom('{proposal}', '{proposal}', '{proposed}', 'none');
const reconciliations = fc.oneof(
  proposal.map((id) => asking('operation $reconciliation', '$reconciliation', [['id', id]])),
  proposal.map((id) => asking('search', 'Coverage', [['reconciliationId', id]])),
);
const coverage = fc
  .record({ subscriberId: fc.constantFrom('alpha', 'bravo', 'own'), order: fc.constantFrom(1, 2) })
  .map((more) => ({
    resourceType: 'Coverage',
    status: 'active',
    beneficiary: { reference: 'Patient/stone' },
    payor: [{ reference: 'Organization/alpha' }],
    ...more,
  }));
const proposed = fc.oneof(
  coverage.map((body) => posted('create', 'Coverage', body)),
  coverage.map((body): Request => {
    return { way: 'update', method: 'PUT', path: 'Coverage/cover', body: { ...body, id: 'cover' }, headers: {} };
  }),
  proposal.map((id): Request => {
    const body = { resourceType: 'Task', id, status: 'cancelled', intent: 'proposal' };
    return { way: 'update', method: 'PUT', path: `Task/${id}`, body, headers: {} };
  }),
);
