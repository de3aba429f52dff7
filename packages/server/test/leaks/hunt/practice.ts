/**
 * What a plot of a practice's work gets beside its records: calendars, a hold, files, and writes that wait. What that makes is
 * named for the requests (names.ts): the slots of Monday, in order, as `{slot-0}` and on.
 */
import assert from 'node:assert/strict';
import { addIntakeRule } from '../../../src/practice/intake/store.ts';
import { editorOf, keepCalendar } from '../../practice/calendars/world.ts';
import type { Caller, TestFirm, TestService } from '../../support/service.ts';
import type { Secret } from '../worlds.ts';
import type { CallerName } from './callers.ts';
import { bodyWithNames, type Names, namesIn } from './names.ts';
import type { PlotKind } from './planted.ts';
import { bookedInsteadOfHeld, monday, otherPractitioner, takenElsewhere } from './planted-practice.ts';

export interface Planting {
  readonly world: { readonly secret: Secret; readonly service: TestService };
  readonly firm: TestFirm;
  readonly kind: PlotKind;
  /** Plants, and may see everything. */
  readonly entitled: Caller;
  readonly callers: ReadonlyMap<CallerName, Caller>;
}

/** Letters and reports, each with bytes of its own. */
export const files = ['alpha', 'bravo', 'own'] as const;

export function fileOf(word: string): string {
  return `%PDF-1.7\n${word}\n%%EOF\n`;
}

export const pdf = 'application/pdf';

/** Before the records that need it. */
export async function preparePractice(planting: Planting): Promise<Names> {
  const { kind, firm, world, entitled } = planting;
  if (kind.group === 'documents') {
    const hidden = kind.secret === 'value' ? world.secret : 'alpha';
    return new Map([
      ['file-report', await uploaded(entitled, hidden)],
      ['file-other', await uploaded(entitled, 'bravo')],
    ]);
  }
  if (kind.group === 'calendar' || kind.group === 'slots') await keepCalendars(planting, firm);
  return new Map();
}

/** After the records. */
export async function finishPractice(planting: Planting, names: Names): Promise<Names> {
  const { group } = planting.kind;
  if (group === 'documents') return await withOwnFiles(planting, names);
  if (group === 'proposals') return await withProposal(planting);
  const slots = await slotNames(planting);
  return group === 'calendar' ? await withHold(planting, slots) : await withTaken(planting, slots);
}

async function keepCalendars({ kind, world: { service, secret } }: Planting, firm: TestFirm): Promise<void> {
  const mornings = [{ days: ['mon', 'tue'], from: '09:00', to: '12:00' }];
  const shared = { weekly: mornings };
  const first = { ...shared, practitioner: 'doctor', location: 'room' };
  await keepCalendar(service.platform, firm, { ...first, appointmentTypes: [{ code: 'FOLLOWUP', minutes: 30 }] });
  if (kind.group !== 'slots') return;
  const practitioner = otherPractitioner[kind.secret === 'link' ? secret : 'alpha'];
  const other = { ...shared, practitioner, location: 'ward' };
  await keepCalendar(service.platform, firm, { ...other, appointmentTypes: [{ code: 'NEW', minutes: 30 }] });
}

/** By start, then calendar. */
async function slotNames({ entitled }: Planting): Promise<Names> {
  const { status, text, json } = await entitled.get(`Slot?date=${monday}&status=free,busy`);
  assert.equal(status, 200, text);
  const ids: readonly string[] = json.entry.map(({ resource }: { resource: { id: string } }) => resource.id);
  return new Map(ids.map((id, at) => [`slot-${at}`, id]));
}

/** A time that a hold takes; in one world, of those that differ in what exists, an appointment takes it instead. */
async function withHold({ kind, world, entitled }: Planting, slots: Names): Promise<Names> {
  const held = await entitled.send('POST', `Slot/${slots.get('slot-4')}/$hold`);
  assert.equal(held.status, 200, held.text);
  const hold = new Map(namesIn(null, held.text)).get('held') ?? '';
  if (kind.secret === 'existence' && world.secret === 'alpha') {
    const parameter = [{ name: 'hold', valueId: hold }];
    const released = await entitled.send('POST', 'Slot/$release', { resourceType: 'Parameters', parameter });
    assert.equal(released.status, 204, released.text);
    await put(entitled, bookedInsteadOfHeld);
  }
  return new Map([...slots, ['hold', hold]]);
}

async function withTaken({ kind, world, entitled }: Planting, slots: Names): Promise<Names> {
  if (kind.secret === 'existence' && world.secret === 'alpha') await put(entitled, takenElsewhere);
  return slots;
}

/** Of the caller that files letters: one that it has filed, and files that no document holds yet. */
async function withOwnFiles({ callers }: Planting, names: Names): Promise<Names> {
  const filer = callers.get('filer');
  if (filer === undefined) return names;
  const own = new Map(names);
  for (const word of files) own.set(`file-${word}`, await uploaded(filer, word));
  const filed = await filer.send('POST', 'DocumentReference', bodyWithNames(letter('{file-own}', 'stone'), own));
  assert.equal(filed.status, 201, filed.text);
  for (const [name, value] of namesIn(filed.headers.get('location'), '')) own.set(name, value);
  const read = await filer.get(`DocumentReference/${own.get('made')}`);
  for (const [name, value] of namesIn(null, read.text)) own.set(name, value);
  own.set('letter', own.get('made') ?? '');
  assert.ok(own.has('link'), read.text);
  return own;
}

/** A document of those that are open to who files them. */
export function letter(url: string, patient: string, more: object = {}) {
  return {
    resourceType: 'DocumentReference',
    status: 'current',
    type: { coding: [{ code: 'LETTER' }] },
    subject: { reference: `Patient/${patient}` },
    content: [{ attachment: { contentType: pdf, url, ...more } }],
  };
}

/** Of the application that plants: a coverage that waits for the practice; in one world of those that differ in it, none. */
async function withProposal({ kind, world, entitled, firm }: Planting): Promise<Names> {
  const { store, scope } = await editorOf(world.service.platform, firm);
  await addIntakeRule(store, scope, { type: 'Coverage', application: undefined });
  const noProposal = '22222222-2222-4222-8222-222222222222';
  if (kind.secret === 'existence' && world.secret === 'bravo') return new Map([['proposal', noProposal]]);
  const more = kind.secret === 'value' && world.secret === 'bravo' ? { dependent: 'bravo' } : { subscriberId: 'alpha' };
  const { status, text, headers } = await entitled.send('POST', 'Coverage', {
    resourceType: 'Coverage',
    status: 'active',
    beneficiary: { reference: 'Patient/stone' },
    payor: [{ reference: 'Organization/alpha' }],
    ...more,
  });
  assert.equal(status, 202, text);
  return new Map([['proposal', new Map(namesIn(headers.get('location'), text)).get('proposed') ?? '']]);
}

async function put(caller: Caller, record: { readonly resourceType: string; readonly id: string }): Promise<void> {
  const { status, text } = await caller.send('PUT', `${record.resourceType}/${record.id}`, record);
  assert.equal(status, 201, text);
}

/** The URL that resources name the file by. */
async function uploaded(caller: Caller, word: string): Promise<string> {
  const asked = await caller.send('POST', 'Binary', { resourceType: 'Binary', contentType: pdf });
  const names = new Map(namesIn(null, asked.text));
  const sent = await fetch(names.get('upload') ?? '', {
    method: 'PUT',
    body: fileOf(word),
    headers: { 'content-type': pdf },
  });
  assert.equal(sent.status, 200, await sent.text());
  return names.get('content') ?? '';
}
