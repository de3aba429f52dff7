/**
 * Formats of date, dateTime, instant and time: digits, ranges and days that exist.
 *
 * https://hl7.org/fhir/R4/datatypes.html#date
 */

const year = '(?!0000)\\d{4}';
const month = '(?:0[1-9]|1[0-2])';
const day = '(?:0[1-9]|[12]\\d|3[01])';
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60)(?:\\.\\d+)?';
const zone = '(?:Z|[+-](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00))';

const datePattern = new RegExp(`^${year}(?:-${month}(?:-${day})?)?$`);
const dateTimePattern = new RegExp(`^${year}(?:-${month}(?:-${day}(?:T${clock}${zone})?)?)?$`);
const instantPattern = new RegExp(`^${year}-${month}-${day}T${clock}${zone}$`);
const timePattern = new RegExp(`^${clock}$`);

export function findDateProblem(text: string): string | undefined {
  if (!datePattern.test(text)) return 'must be a date as YYYY, YYYY-MM or YYYY-MM-DD';
  return dayProblem(text);
}

export function findDateTimeProblem(text: string): string | undefined {
  if (dateTimePattern.test(text)) return dayProblem(text);
  if (/^[\d-]+T[\d:.]+$/.test(text)) return 'must be a dateTime with a time zone (Z or ±hh:mm) after the time';
  return 'must be a dateTime as YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with Z or ±hh:mm';
}

export function findInstantProblem(text: string): string | undefined {
  if (!instantPattern.test(text)) return 'must be an instant as YYYY-MM-DDThh:mm:ss with Z or ±hh:mm';
  return dayProblem(text);
}

export function findTimeProblem(text: string): string | undefined {
  return timePattern.test(text) ? undefined : 'must be a time of day as hh:mm:ss, without time zone';
}

/** Of a text that has the right digits: whether its month has that day. */
function dayProblem(text: string): string | undefined {
  if (text.length < 10) return undefined;
  const dayOfMonth = Number(text.slice(8, 10));
  if (dayOfMonth <= 28) return undefined;
  // Day 0 is the last of the month before; the years 0 to 99 are those of 1900 here, with the same leap years.
  const days = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
  return dayOfMonth <= days ? undefined : `must be a day that exists: ${text.slice(0, 7)} has ${days} days`;
}
