/**
 * Worst cases: for everything that a caller can ask for, the dearest request that is known. They stand in the lists of
 * interactions, operations, kinds of search parameters, body formats and jobs, so that whatever is added there brings its own;
 * `npm run siege` sends them at a service while others work.
 */
import type { JsonObject, JsonValue } from '@praxis/fhir';

/** What is stored at the firm that is asked. */
export interface WorstCaseWorld {
  /** Ids of resources there. */
  readonly patient: string;
  readonly encounter: string;
  /** Booked; another one each time that it is read. */
  readonly appointment: string;
  /** Of an appointment of a series that is as long as one may be. */
  readonly inSeries: string;
  readonly practitioner: string;
  /** Code of an appointment type. */
  readonly appointmentType: string;
  /** Id of a slot, which may be taken. */
  readonly slot: string;
  /** A different number at each call. */
  readonly next: () => number;
}

export interface WorstRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the firm's FHIR base, without a slash at its beginning. */
  readonly path: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WorstCase {
  /** What makes it dear. */
  readonly because: string;
  /** Resources with an id that are stored before, by updates. */
  readonly stored?: () => readonly JsonObject[];
  /** The request, made anew each time. */
  readonly request: (world: WorstCaseWorld) => WorstRequest;
}

/** For what no request can make dear: why. */
export interface Harmless {
  readonly harmless: string;
}

export const fhirJsonType = 'application/fhir+json';

/** A GET of `path`. */
export function getting(path: string): WorstRequest {
  return { method: 'GET', path };
}

/** A request with a JSON body. */
export function sending(
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body: JsonValue,
  contentType = fhirJsonType,
): WorstRequest {
  return { method, path, contentType, body: JSON.stringify(body) };
}

/** A POST of Parameters to an operation. */
export function invoking(path: string, parameter: readonly JsonObject[]): WorstRequest {
  const parameters = { resourceType: 'Parameters', ...(parameter.length === 0 ? {} : { parameter: [...parameter] }) };
  return sending('POST', path, parameters);
}

/** A search by POST, since it may be longer than a URL. */
export function searching(type: string, criteria: string): WorstRequest {
  const contentType = 'application/x-www-form-urlencoded';
  return { method: 'POST', path: `${type}/_search`, contentType, body: criteria };
}

/** `count` values, from `make` by number. */
export function manyOf<T>(count: number, make: (number: number) => T): T[] {
  return Array.from({ length: count }, (_, number) => make(number));
}

/** `code=` and as many values as one parameter takes, separated by commas, percent-encoded. */
export function manyValues(code: string, make: (number: number) => string, count = 500): string {
  return `${code}=${manyOf(count, (number) => encodeURIComponent(make(number))).join(',')}`;
}

/** A Patient that is as large as a resource is allowed to become by writing it honestly. */
export function largePatient(id: string, names: number): JsonObject {
  return {
    resourceType: 'Patient',
    id,
    active: true,
    name: manyOf(names, (number) => ({
      family: `Family${number}`,
      given: [`Given${number}`, `Second${number}`],
      text: `Given${number} Second${number} Family${number} of the long list of names`,
    })),
  };
}
