/**
 * What a request costs beside the one unit that every request costs: those that make the database read more than one page
 * count more than once against the rate limits (limits/rate-limit.ts). Decisions 0168 and 0209.
 */
import type { JsonObject, JsonValue } from '@praxis/fhir';
import { PraxisError } from '../base/errors.ts';
import type { BundleRate, Charging } from '../bundle/bundle-rate.ts';
import { isObject } from '../bundle/links.ts';
import type { FhirRequest } from '../engine/context.ts';
import type { RateLimit, RateSubject } from '../limits/rate-limit.ts';
import { pageRowsMaxOf } from '../search/query/page-limits.ts';
import { type Parameter, parseParameters } from '../search/query/query-string.ts';

/** What is known when the call is opened, of a request or of an entry of a Bundle. */
type Asked = Pick<FhirRequest, 'type' | 'id' | 'parameters' | 'ifNoneExist' | 'contentFlags'>;

type Units = (asked: Asked) => number;

/**
 * By interaction, or operation with its $; others cost nothing beside. Operations that are not here read a few rows by their
 * keys, or tables that every process has in memory.
 */
const units: Readonly<Record<string, number | Units>> = {
  'search-system': 4,
  'history-system': 4,
  $changes: 4, // a page over all types, and looks for more while it waits
  $document: 4,
  '$effective-access': ({ parameters }) => (parameters.some(([name]) => name === 'type') ? 0 : 9), // else all types
  $everything: 9,
  $expand: 4,
  $find: 9, // up to 90 days of every calendar
  $lastn: 9, // up to 5,000 observations
  $meta: ({ type, id }) => (type === '' ? 9 : id === '' ? 4 : 0), // the labels of all that is stored
  $validate: 1,
  '$validate-code': 1,
};

/** By the same names, once the body is read. */
const unitsOfBody: Readonly<Record<string, (body: JsonValue) => number>> = {
  bundle: (body) => unitsOfParts(listIn(body, 'entry').length),
  $book: (body) => (parameterIn(body, 'recurrence') === undefined ? 0 : seriesUnits),
  $cancel: (body) => ((parameterIn(body, 'scope')?.valueCode ?? 'one') === 'one' ? 0 : seriesUnits),
};

/** Of what is done to all appointments of a series, which may be a hundred. */
const seriesUnits = 9;

/** Parts of a Bundle that cost a unit. */
const partsPerUnit = 10;

/** Rows before the page that `page=N` asks for that cost a unit: the database passes over them. */
const passedRowsPerUnit = 500;

/** What passing over rows costs at most; where the limit of `page=N` is higher, it is by the will of the operator. */
const passedUnitsMax = 20;

/** Names of search parameters that each cost a unit, wherever they stand. */
const costly: readonly RegExp[] = [/^_(?:rev)?include(?::|$)/, /^_has:/, /\./, /^_(?:filter|text|content)$/];

/** A call that tells `charge` what it costs as soon as that is known. */
export function chargingTo(charge: (units: number) => void): Charging {
  return (call, name) => ({
    ...call,
    open: async () => {
      const request = await call.open();
      charge(unitsOf(name, request));
      const ofBody = unitsOfBody[name];
      if (ofBody === undefined) return request;
      const body = async (): Promise<JsonValue> => {
        const read = await request.body();
        charge(ofBody(read));
        return read;
      };
      return { ...request, body };
    },
  });
}

/** What the parts of the subject's Bundle count. */
export function bundleRate(rateLimit: RateLimit, subject: RateSubject): BundleRate {
  const charge = (cost: number): void => rateLimit.charge(subject, cost);
  return {
    ofTransaction: chargingTo(charge),
    ofBatch: chargingTo((cost) => {
      if (cost > 0) rateLimit.requireRest(subject);
      charge(cost);
    }),
    searches(criteria) {
      const costs = criteria.map((text) => costlyOf(parametersIn(text)));
      charge(costs.reduce((sum, cost) => sum + cost, unitsOfParts(criteria.length)));
    },
  };
}

function unitsOf(name: string, asked: Asked): number {
  const own = units[name] ?? 0;
  const ofSearch = name.startsWith('search-') ? unitsOfSearch(asked) : 0;
  const criteria = [...asked.parameters, ...parametersIn(asked.ifNoneExist ?? '')];
  return (typeof own === 'number' ? own : own(asked)) + ofSearch + costlyOf(criteria);
}

/** What a search costs by what it wants to be told beside a page. */
function unitsOfSearch({ type, parameters, contentFlags }: Asked): number {
  const given = new Map(parameters);
  const isCounted =
    given.get('_total') === 'accurate' ||
    given.get('_summary') === 'count' ||
    Number(given.get('_count')) === 0 ||
    contentFlags?.has('Pagination_optimization_disabled') === true;
  const follows = contentFlags?.has('Referral') === true && followed.has(type);
  return Number(isCounted) + Number(follows) + unitsOfPassing(type, given);
}

/** Types to whose resources the Content-flag Referral adds what others say, as an include does. */
const followed: ReadonlySet<string> = new Set(['Patient', 'Appointment']);

/** With a cursor beside it, the number of a page is not what it is found by. */
function unitsOfPassing(type: string, given: ReadonlyMap<string, string>): number {
  const page = Number(given.get('page') ?? 1);
  if (given.has('_cursor') || !(page > 1)) return 0;
  const rowsMax = pageRowsMaxOf(type);
  const rows = Math.min(Number(given.get('_count') ?? rowsMax) || rowsMax, rowsMax);
  return Math.min(Math.floor(((page - 1) * rows) / passedRowsPerUnit), passedUnitsMax);
}

function costlyOf(parameters: readonly Parameter[]): number {
  return parameters.filter(([name]) => costly.some((pattern) => pattern.test(name))).length;
}

/** Criteria inside of a request; what cannot be read is refused where it is used. */
function parametersIn(criteria: string): readonly Parameter[] {
  try {
    return parseParameters(criteria);
  } catch (error) {
    if (error instanceof PraxisError) return [];
    throw error;
  }
}

function unitsOfParts(parts: number): number {
  return Math.floor(parts / partsPerUnit);
}

function parameterIn(body: JsonValue, wanted: string): JsonObject | undefined {
  return listIn(body, 'parameter').find(({ name }) => name === wanted);
}

/** The objects of a list in a body that nobody has checked yet. */
function listIn(body: JsonValue, member: string): readonly JsonObject[] {
  const list = isObject(body) ? body[member] : undefined;
  return Array.isArray(list) ? list.filter(isObject) : [];
}
