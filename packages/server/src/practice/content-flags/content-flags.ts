/**
 * What the header Content-flag adds to resources that are read or found (docs/decisions/0207). It is added to the
 * answer, never stored, and only what the caller may read anyway: by the same grants, in elements that they open.
 */
import { hash } from 'node:crypto';
import { type JsonObject, parseJsonObject, practiceExtensions, type ResourceTypes } from '@praxis/fhir';
import { markServerWritten, unwrapDisclosed } from '../../access/disclosure.ts';
import { findMemberText, withMember } from '../../access/json-members.ts';
import type { ElementFilter } from '../../access/mask.ts';
import type { Permission } from '../../access/policy.ts';
import type { ContentFlag, FhirRequest, InteractionContext } from '../../engine/context.ts';
import type { Decorate, ResourceHooks } from '../../engine/hooks.ts';
import { compileCriterionTest, discloseReadable } from '../../engine/rights/disclosing.ts';
import type { StoredResource } from '../../storage/store.ts';

/** A member that repeats, and what is added to it. */
type Addition = readonly [member: string, values: readonly JsonObject[]];

/** @param shown the JSON text of the resource as the caller sees it */
type Adding = (look: Look, row: StoredResource, shown: string) => Promise<readonly Addition[]>;

/** A resource as the caller sees it: the field mask may have left out any element. */
type Shown<T extends keyof ResourceTypes> = Partial<ResourceTypes[T]>;

/** What the caller sees of another resource: `Practitioner`, id or reference. Remembered for one request. */
type Look = {
  readonly context: InteractionContext;
  readonly see: <T extends keyof ResourceTypes>(type: T, at: string | undefined) => Promise<Shown<T> | undefined>;
};

/** Flag → type → what it adds. */
const additions: Readonly<Partial<Record<ContentFlag, Readonly<Record<string, Adding>>>>> = {
  Universal_Id: { Patient: universalId },
  Referral: { Patient: referralContact, Appointment: referralOfPatient },
};

/** Referring practitioners of one patient, at most. */
const referrersMax = 5;

export const contentFlagHooks: ResourceHooks = {
  types: ['Patient', 'Appointment'],
  decorate: decorateByFlags,
  decorateUnits: ({ contentFlags }) => (contentFlags?.has('Referral') === true ? 1 : 0), // reads others, as an include
};

/** undefined: the request's flags add nothing to resources of its type. */
function decorateByFlags(context: InteractionContext, { type, contentFlags }: FhirRequest): Decorate | undefined {
  const adding = [...(contentFlags ?? [])].flatMap((flag) => additions[flag]?.[type] ?? []);
  if (adding.length === 0) return undefined;
  const look = lookFrom(context);
  return async (letter, row, shown, filter) => {
    const isOpen = opened(context, letter, row);
    let text = unwrapDisclosed(shown);
    for (const add of adding)
      for (const [member, values] of await add(look, row, unwrapDisclosed(shown)))
        if (isOpen(member) && isWanted(filter, member))
          text = values.reduce((all, value) => withValue(all, member, value), text);
    return markServerWritten(text); // what is added was disclosed to the caller, or is made of the id
  };
}

/** An identifier that no other patient of any firm has, the same for ever. */
async function universalId({ context }: Look, { id }: StoredResource): Promise<readonly Addition[]> {
  const { environment, firmPrefix } = context.scope;
  const value = `urn:uuid:${uuidOf(`${environment}/${firmPrefix}/Patient/${id}`)}`;
  return [['identifier', [{ system: 'urn:ietf:rfc:3986', value }]]];
}

/** UUID version 8 of a name (https://www.rfc-editor.org/rfc/rfc9562#section-5.8). */
function uuidOf(name: string): string {
  const digits = hash('sha256', name);
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}

/** Those of the patient's practitioners who refer patients to the practice, as contacts. */
async function referralContact(look: Look, _row: StoredResource, shown: string): Promise<readonly Addition[]> {
  const contacts = (await referrersOf(look, parseShown(shown, 'Patient'))).flatMap(({ practitioner }) => {
    const { name: [name] = [], telecom = [] } = practitioner;
    if (name === undefined && telecom.length === 0) return [];
    return [{ relationship: [{ text: 'Referral' }], ...(name && { name }), ...(telecom.length > 0 && { telecom }) }];
  });
  return [['contact', contacts]];
}

/** The referral source of the appointment's patient, and the practitioners who refer the patient. */
async function referralOfPatient(look: Look, _row: StoredResource, shown: string): Promise<readonly Addition[]> {
  const { participant = [] } = parseShown(shown, 'Appointment');
  const seen = await Promise.all(participant.map(({ actor }) => look.see('Patient', actor?.reference)));
  const patient = seen.find((each) => each !== undefined);
  if (patient === undefined) return [];
  const sources = (patient.extension ?? []).filter(({ url }) => url === practiceExtensions.referralSource);
  const referrers = (await referrersOf(look, patient)).map(({ reference }) => reference);
  return [
    ['extension', sources],
    ['supportingInformation', referrers],
  ];
}

async function referrersOf(look: Look, { generalPractitioner = [] }: Shown<'Patient'>) {
  const referrers = generalPractitioner.slice(0, referrersMax).map(async (reference) => {
    const practitioner = await look.see('Practitioner', reference.reference);
    return practitioner !== undefined && refers(practitioner) ? [{ reference, practitioner }] : [];
  });
  return (await Promise.all(referrers)).flat();
}

/** Whether the practice lists the practitioner as one who refers patients. */
function refers({ extension = [] }: Shown<'Practitioner'>): boolean {
  return extension
    .filter(({ url }) => url === practiceExtensions.practitionerType)
    .flatMap(({ valueCodeableConcept }) => valueCodeableConcept?.coding ?? [])
    .some(({ code }) => code === 'ref');
}

function lookFrom(context: InteractionContext): Look {
  const known = new Map<string, Promise<string | undefined>>();
  const read = async (type: string, id: string): Promise<string | undefined> => {
    const row = await context.store.read(context.scope, type, id);
    const shown = row === undefined || row.deleted ? undefined : discloseReadable(context, row);
    return shown && unwrapDisclosed(shown);
  };
  return {
    context,
    async see(type, at) {
      const text = typeof at === 'string' ? at : '';
      const local = text.startsWith(`${context.baseUrl}/`) ? text.slice(context.baseUrl.length + 1) : text;
      const [, of, id] = /^([A-Za-z]+)\/([A-Za-z0-9\-.]{1,64})$/.exec(local) ?? [];
      if (of !== type || id === undefined) return undefined;
      const key = `${type}/${id}`;
      const found = known.get(key) ?? read(type, id);
      known.set(key, found);
      const shown = await found;
      return shown === undefined ? undefined : parseShown(shown, type);
    },
  };
}

/** Whether the caller's grants of the letter open a top-level member of the row. */
function opened(
  context: InteractionContext,
  letter: Permission,
  { type, content }: StoredResource,
): (member: string) => boolean {
  const test = compileCriterionTest(context, type, content);
  const grants = context.policy.grants(type, letter).filter(({ criteria }) => criteria.every(test));
  return (member) => grants.some(({ elements }) => elements === 'all' || elements.has(`${type}.${member}`));
}

/** Whether `_elements` and `_summary` leave a member. Of those that are added only identifiers are part of a summary. */
function isWanted({ elements, summary }: ElementFilter, member: string): boolean {
  if (elements !== undefined && !elements.has(member)) return false;
  return summary === undefined || summary === 'data' || (summary === 'true' && member === 'identifier');
}

/** The JSON text with the value at the end of a member that repeats, unless it holds the same already. */
function withValue(text: string, member: string, value: JsonObject): string {
  const added = JSON.stringify(value);
  const before = findMemberText(text, member) ?? '[]';
  if (before.includes(added)) return text;
  const inner = before.slice(before.indexOf('[') + 1, before.lastIndexOf(']')).trim();
  return withMember(text, member, inner === '' ? `[${added}]` : `[${inner},${added}]`);
}

/** The disclosed text of a resource of the type, which was valid when it was written. */
function parseShown<T extends keyof ResourceTypes>(text: string, _type: T): Shown<T> {
  return parseJsonObject(text) as Shown<T>;
}
