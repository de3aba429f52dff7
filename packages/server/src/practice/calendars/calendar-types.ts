/** The appointment types of a calendar's document, and what they need. */
import type { AppointmentTypeRule, Need } from './calendar.ts';
import {
  type DocumentPlace,
  getMemberPlace,
  readIntegerAt,
  readListAt,
  readMatchAt,
  readObject,
  readTextAt,
} from './document.ts';

const names = ['code', 'system', 'display', 'minutes', 'bufferBeforeMinutes', 'bufferAfterMinutes', 'needs'] as const;

/** Limits of a document; durations in minutes. */
const typesMax = 50;
const minutes = { min: 5, max: 1440 } as const;
const buffer = { min: 0, max: 240 } as const;
const needsMax = 5;
const alternativesMax = 20;
const codeLengthMax = 64;
const systemLengthMax = 255;
const displayLengthMax = 120;

export function readTypes(place: DocumentPlace): readonly AppointmentTypeRule[] {
  return readListAt(place, { min: 1, max: typesMax }, readType);
}

function readType(place: DocumentPlace): AppointmentTypeRule | undefined {
  const members = readObject(place, names);
  if (members === undefined) return undefined;
  const member = (name: (typeof names)[number]): DocumentPlace => getMemberPlace(place, members, name);
  const given = <T>(name: (typeof names)[number], read: (at: DocumentPlace) => T | undefined): T | undefined =>
    members[name] === undefined ? undefined : read(member(name));
  const code = readCode(member('code'));
  const system = given('system', (at) => readMatchAt(at, systemPattern, 'a URI without spaces'));
  const display = given('display', (at) => readTextAt(at, displayLengthMax));
  return {
    code: code ?? '',
    ...(system === undefined ? {} : { system }),
    ...(display === undefined ? {} : { display }),
    minutes: readIntegerAt(member('minutes'), minutes) ?? minutes.min,
    bufferBeforeMinutes: given('bufferBeforeMinutes', (at) => readIntegerAt(at, buffer)) ?? 0,
    bufferAfterMinutes: given('bufferAfterMinutes', (at) => readIntegerAt(at, buffer)) ?? 0,
    needs: given('needs', (at) => readListAt(at, { min: 0, max: needsMax }, readNeed)) ?? [],
  };
}

/** A code of FHIR (https://hl7.org/fhir/R4/datatypes.html#code): no spaces at its ends, none twice. */
export function readCode(place: DocumentPlace): string | undefined {
  const code = readTextAt(place, codeLengthMax);
  if (code === undefined || /^\S+(?: \S+)*$/.test(code)) return code;
  return readMatchAt(place, /^\S+(?: \S+)*$/, 'a code: no spaces at its ends, and no two together');
}

const systemPattern = new RegExp(`^[!-~]{1,${systemLengthMax}}$`);

function readNeed(place: DocumentPlace): Need | undefined {
  const members = readObject(place, ['anyOf']);
  if (members === undefined) return undefined;
  const anyOf = readListAt(getMemberPlace(place, members, 'anyOf'), { min: 1, max: alternativesMax }, (item) =>
    readMatchAt(
      item,
      /^(?:Location|Device)\/[A-Za-z0-9.-]{1,64}$/,
      'Location/<id> of a room or Device/<id> of equipment',
    ),
  );
  return { anyOf };
}
