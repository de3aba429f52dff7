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
  /** Others that are dear for another reason. */
  readonly also?: readonly WorstCase[];
}

/** For what no request can make dear: why. */
export interface Harmless {
  readonly harmless: string;
}

export const fhirJsonType = 'application/fhir+json';

/** A GET of `path`. */
export function buildGetRequest(path: string): WorstRequest {
  return { method: 'GET', path };
}

/** A request with a JSON body. */
export function buildJsonRequest(
  method: 'POST' | 'PUT' | 'PATCH',
  path: string,
  body: JsonValue,
  contentType = fhirJsonType,
): WorstRequest {
  return { method, path, contentType, body: JSON.stringify(body) };
}

/** A POST of Parameters to an operation. */
export function buildOperationRequest(path: string, parameter: readonly JsonObject[]): WorstRequest {
  const parameters = { resourceType: 'Parameters', ...(parameter.length === 0 ? {} : { parameter: [...parameter] }) };
  return buildJsonRequest('POST', path, parameters);
}

/** A search by POST, since it may be longer than a URL. */
export function buildSearchRequest(type: string, criteria: string): WorstRequest {
  const contentType = 'application/x-www-form-urlencoded';
  return { method: 'POST', path: `${type}/_search`, contentType, body: criteria };
}

/** `count` values, from `make` by number. */
export function makeMany<T>(count: number, make: (number: number) => T): T[] {
  return Array.from({ length: count }, (_, number) => make(number));
}

/** `code=` and as many values as one parameter takes, separated by commas, percent-encoded. */
export function makeManyValues(code: string, make: (number: number) => string, count = 500): string {
  return `${code}=${makeMany(count, (number) => encodeURIComponent(make(number))).join(',')}`;
}

/** A search with as many values of one parameter as it takes. */
export function buildManyValuesSearch(type: string, code: string, make: (n: number) => string, count?: number) {
  return buildSearchRequest(type, makeManyValues(code, make, count));
}

/** A Patient that is as large as a resource is allowed to become by writing it honestly. */
export function makeLargePatient(id: string, names: number): JsonObject {
  return {
    resourceType: 'Patient',
    id,
    active: true,
    name: makeMany(names, (number) => ({
      family: `Family${number}`,
      given: [`Given${number}`, `Second${number}`],
      text: `Given${number} Second${number} Family${number} of the long list of names`,
    })),
  };
}

/** An Observation of as many components as an array may have: few rows come of it, and much work. */
export function makeLargeObservation(id: string, last: number): JsonObject {
  const component = makeMany(19_900, (number) => ({
    code: { coding: [{ system: 'http://loinc.org', code: `c${number % 300}`, display: `Display of ${number % 300}` }] },
    valueQuantity: { value: number % 300, system: 'http://unitsofmeasure.org', code: 'mg' },
  }));
  return { resourceType: 'Observation', id, status: 'final', code: { text: `Large ${last}` }, component };
}

/** Bodies of some megabytes that are dear to check, index or quote, each in its way. */
export const largeCreates: readonly WorstCase[] = [
  {
    because: 'tuples of thousands of components, most of them the same',
    request: ({ next }) => buildJsonRequest('POST', 'Observation', makeLargeObservation('siege', next())),
  },
  {
    because: 'long names beyond ASCII are folded for several parameters',
    request: ({ next }) => {
      const name = makeMany(3, (number) => ({ text: `${'äöü'.charAt(number)} ø${next()} `.repeat(100_000) }));
      return buildJsonRequest('POST', 'Patient', { resourceType: 'Patient', name });
    },
  },
  {
    because: 'extensions inside extensions',
    request: () => {
      const nested = (depth: number): JsonObject =>
        depth === 0 ? { url: 'http://x.y', valueString: 'z' } : { url: 'http://x.y', extension: [nested(depth - 1)] };
      return buildJsonRequest('POST', 'Patient', {
        resourceType: 'Patient',
        extension: makeMany(3_700, () => nested(30)),
      });
    },
  },
  {
    because: 'base64 with white space, which JSON escapes and the statement escapes again',
    request: () => {
      const photo = [{ contentType: 'image/png', data: 'QUJD\n'.repeat(800_000) }];
      return buildJsonRequest('POST', 'Patient', { resourceType: 'Patient', photo });
    },
  },
  {
    because: 'a narrative as long as a body',
    request: () => {
      const div = `<div xmlns="http://www.w3.org/1999/xhtml">${'<p>A <b>text</b> &amp; more</p>'.repeat(150_000)}</div>`;
      return buildJsonRequest('POST', 'Patient', { resourceType: 'Patient', text: { status: 'generated', div } });
    },
  },
];
