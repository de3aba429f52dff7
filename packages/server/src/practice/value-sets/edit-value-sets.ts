/**
 * Changing the value sets that a firm keeps: each change is the next version of a ValueSet, by whoever has seen the version
 * before. A code that is left out is retired, never forgotten (docs/decisions/0204).
 */
import { fail } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildWrite } from '../../engine/write/build-write.ts';
import { readCode } from '../calendars/calendar-types.ts';
import {
  checkObject,
  type DocumentPlace,
  getMemberPlace,
  readDocument,
  readFlagAt,
  readGiven,
  readListAt,
  readMatchAt,
  readTextAt,
} from '../calendars/document.ts';
import { type Editor, requireOffered, requireSeen } from '../calendars/edit-calendars.ts';
import { toScheduledCalendars } from '../calendars/scheduled-calendars.ts';
import { readCalendars } from '../calendars/store.ts';
import {
  type FirmSetCode,
  type FirmSetCodes,
  isAmong,
  isSameCode,
  readSetCodes,
  toFirmSetCode,
  withCodes,
} from './codes.ts';
import { readStoredValueSet } from './store.ts';
import { appointmentTypeSet, type FirmCode, type FirmValueSet, findFirmValueSet, firmValueSets } from './table.ts';

export interface ShownValueSet extends FirmSetCodes {
  readonly set: FirmValueSet;
  /** undefined: the firm does not keep it. */
  readonly version: number | undefined;
}

/** Limits of a document. */
const codesMax = 500;
const displayLengthMax = 120;
const systemPattern = /^[!-~]{1,255}$/;

const nothingKept: FirmSetCodes = { active: false, inUse: [], retired: [] };

type Place = Pick<Editor, 'store' | 'scope'>;

/** Every set that there is, also those that the firm does not keep. */
export async function listValueSets(place: Place): Promise<readonly ShownValueSet[]> {
  return await Promise.all(firmValueSets.map((set) => shown(place, set)));
}

/** @throws PraxisError `resource-not-found` for an id that is none of a firm's sets */
export async function getValueSet(place: Place, id: string): Promise<ShownValueSet> {
  return await shown(place, requireSet(id));
}

/**
 * Makes the set, or its next version.
 * @param document parsed JSON: `{ "codes": [ { "code": "NEW", "display": "New patient", "system"?: "…" } ], "active"?: false }`;
 *   without codes those that the set begins with
 * @param seen the version that it was made from; undefined: there is none yet
 * @throws PraxisError `input-invalid`, `rule-broken` (codes that occur twice, or that calendars need), `precondition-failed`
 *   when there is another version than was seen, `resource-not-found` for an id that is none of a firm's sets
 */
export async function setValueSet(
  editor: Editor,
  id: string,
  document: unknown,
  seen: number | undefined,
): Promise<ShownValueSet> {
  const set = requireSet(id);
  const content = parseDocument(set, document);
  return await alone(editor, async (inside) => {
    const before = await shown(inside, set);
    requireSeen('value set', before.version, seen);
    const known = [...before.inUse, ...before.retired];
    const retired = known.filter((old) => !content.inUse.some((code) => isSameCode(code, old)));
    return await put(inside, set, { ...content, retired });
  });
}

/**
 * Retires a code: no new use of it is taken, and what has it keeps it.
 * @throws PraxisError `rule-broken` for a code that is not in use, is the last one, or that a calendar needs;
 *   `resource-not-found` for a set that the firm does not keep
 */
export async function retireCode(
  editor: Editor,
  id: string,
  asked: { readonly code: string; readonly system?: string },
): Promise<ShownValueSet> {
  const set = requireSet(id);
  return await alone(editor, async (inside) => {
    const { version, active, inUse, retired } = await shown(inside, set);
    if (version === undefined)
      fail('resource-not-found', {
        diagnostics: `The firm does not keep ${id}: set it first`,
        expression: ['valueSet'],
      });
    const [code, second] = inUse.filter((each) => isAmong([each], asked));
    if (code === undefined || second !== undefined) {
      const problem = code === undefined ? 'is not a code in use' : 'is in use in several systems: name the system';
      fail('rule-broken', { diagnostics: `code ${problem}`, expression: ['code'] });
    }
    const left = inUse.filter((each) => each !== code);
    if (left.length === 0)
      fail('rule-broken', { diagnostics: 'code is the last one in use: set the others first', expression: ['code'] });
    return await put(inside, set, { active, inUse: left, retired: [...retired, code] });
  });
}

/** @throws PraxisError `resource-not-found` */
function requireSet(id: string): FirmValueSet {
  const known = firmValueSets.map((each) => each.id).join(', ');
  return (
    findFirmValueSet(id) ??
    fail('resource-not-found', { diagnostics: `The value sets of a firm are ${known}`, expression: ['valueSet'] })
  );
}

async function shown({ store, scope }: Place, set: FirmValueSet): Promise<ShownValueSet> {
  const stored = await readStoredValueSet(store, scope, set.id);
  if (stored?.resource === undefined) return { set, version: undefined, ...nothingKept };
  return { set, version: stored.version, ...(readSetCodes(stored.resource) ?? nothingKept) };
}

/** Alone among those who change the firm's calendars and sets: each depends on the other. */
function alone<T>(editor: Editor, work: (inside: Editor) => Promise<T>): Promise<T> {
  return editor.store.exclusively(editor.scope, 'calendars', (store) => work({ ...editor, store }));
}

async function put(inside: Editor, set: FirmValueSet, codes: FirmSetCodes): Promise<ShownValueSet> {
  const { store, scope, clock, changedBy, budget } = inside;
  if (set.id === appointmentTypeSet && codes.active) await requireCalendarsFit(inside, codes.inUse);
  const stored = await readStoredValueSet(store, scope, set.id);
  const caller = { flow: 'client', tokenId: makeUuid(), subject: changedBy, requestId: makeUuid() } as const;
  // No element of a ValueSet refers to a resource of the firm, so the address of the firm's resources is of no use.
  const context = { scope, clock, caller, budget, baseUrl: '' };
  const resource = withCodes(set, codes, stored?.resource);
  const interaction = stored === undefined ? 'create' : 'update';
  const write = await buildWrite(context, interaction, 'ValueSet', set.id, resource, stored?.version ?? 0);
  const outcome = await store.write(scope, write);
  if (outcome.outcome === 'conflict')
    return fail('conflict', { diagnostics: `ValueSet/${set.id} is being changed by others: try again` });
  return { set, version: outcome.versionId, ...codes };
}

/** Else slots would be offered that cannot be booked. @throws PraxisError `rule-broken` naming the calendars */
async function requireCalendarsFit({ store, scope }: Place, inUse: readonly FirmSetCode[]): Promise<void> {
  for (const { calendar } of toScheduledCalendars(scope, await readCalendars(store, scope)))
    if (calendar.active)
      requireOffered(inUse, calendar.appointmentTypes, {
        element: 'codes',
        offering: `calendar ${calendar.number} offers`,
      });
}

function parseDocument(set: FirmValueSet, document: unknown): FirmSetCodes {
  const { codes, active } = readDocument(document, (place) => {
    checkObject(place, ['codes', 'active']);
    const given = getMemberPlace(place, 'codes');
    const isGiven = given.value !== undefined || set.defaults.length === 0;
    return {
      codes: isGiven ? readListAt(given, { min: 1, max: codesMax }, readFirmCode) : set.defaults,
      active: readGiven(place, 'active', readFlagAt) ?? true,
    };
  });
  const inUse = codes.map((code) => toFirmSetCode(set, code));
  const twice = inUse.findIndex((code, index) => inUse.findIndex((other) => isSameCode(code, other)) < index);
  if (twice >= 0) {
    const path = `codes[${twice}].code`;
    fail('rule-broken', { diagnostics: `${path} occurs twice in its system`, expression: [path] });
  }
  return { active, inUse, retired: [] };
}

function readFirmCode(place: DocumentPlace): FirmCode | undefined {
  if (!checkObject(place, ['code', 'display', 'system'])) return undefined;
  const code = readCode(getMemberPlace(place, 'code'));
  const display = readTextAt(getMemberPlace(place, 'display'), displayLengthMax);
  const system = readGiven(place, 'system', (at) => readMatchAt(at, systemPattern, 'a URI without spaces'));
  if (code === undefined || display === undefined) return undefined;
  return { code, display, ...(system === undefined ? {} : { system }) };
}
