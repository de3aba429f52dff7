/** The appointment types of a calendar's document, and what they need. */
import type { AppointmentTypeRule, Need } from './calendar.ts';
import {
  checkObject,
  type DocumentPlace,
  getMemberPlace,
  readGiven,
  readIntegerAt,
  readListAt,
  readMatchAt,
  readTextAt,
} from './document.ts';

const names = ['code', 'system', 'display', 'minutes', 'bufferBeforeMinutes', 'bufferAfterMinutes', 'needs'];

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
  if (!checkObject(place, names)) return undefined;
  const code = readCode(getMemberPlace(place, 'code'));
  const system = readGiven(place, 'system', (at) => readMatchAt(at, systemPattern, 'a URI without spaces'));
  const display = readGiven(place, 'display', (at) => readTextAt(at, displayLengthMax));
  return {
    code: code ?? '',
    ...(system === undefined ? {} : { system }),
    ...(display === undefined ? {} : { display }),
    minutes: readIntegerAt(getMemberPlace(place, 'minutes'), minutes) ?? minutes.min,
    bufferBeforeMinutes: readGiven(place, 'bufferBeforeMinutes', (at) => readIntegerAt(at, buffer)) ?? 0,
    bufferAfterMinutes: readGiven(place, 'bufferAfterMinutes', (at) => readIntegerAt(at, buffer)) ?? 0,
    needs: readGiven(place, 'needs', (at) => readListAt(at, { min: 0, max: needsMax }, readNeed)) ?? [],
  };
}

/** A code of FHIR (https://hl7.org/fhir/R4/datatypes.html#code): no spaces at its ends, none twice. */
export function readCode(place: DocumentPlace): string | undefined {
  if (readTextAt(place, codeLengthMax) === undefined) return undefined;
  return readMatchAt(place, /^\S+(?: \S+)*$/, 'a code: no spaces at its ends, and no two together');
}

const systemPattern = new RegExp(`^[!-~]{1,${systemLengthMax}}$`);

function readNeed(place: DocumentPlace): Need | undefined {
  if (!checkObject(place, ['anyOf'])) return undefined;
  const resource = /^(?:Location|Device)\/[A-Za-z0-9.-]{1,64}$/;
  const anyOf = readListAt(getMemberPlace(place, 'anyOf'), { min: 1, max: alternativesMax }, (item) =>
    readMatchAt(item, resource, 'Location/<id> of a room or Device/<id> of equipment'),
  );
  return { anyOf };
}
