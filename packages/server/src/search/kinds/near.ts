/**
 * `near` of Location: within a distance of a place, on a sphere. https://hl7.org/fhir/R4/location.html#search
 *
 * A position leaves one row of `index_number`: its latitude as `lo` and its longitude as `hi`. A search reads the rows
 * between two latitudes and computes the distance of what lies in the box.
 */

import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { findProperty } from '../json-values.ts';
import { noSystem } from '../numbers.ts';
import { refuseValue, splitUnescaped, unescapeValue } from '../query/search-values.ts';
import { readBy, type SearchKind, selectivities, type Test, type ValueContext } from './kind.ts';
import { toNumberPoint } from './number.ts';
import { findCanonicalUnit } from './ucum.ts';

/** Mean radius of the earth. */
const earthMetres = 6_371_008.8;

/** How far is near when the search does not say: R4 leaves it to the server. */
const nearMetres = 50_000;

/** Words for miles that callers use; the units of UCUM are `[mi_i]` and `[mi_us]`. */
const miles: Readonly<Record<string, string>> = { mi: '[mi_i]', mile: '[mi_i]', miles: '[mi_i]' };

const decimal = /^[+-]?\d{1,9}(?:\.\d{1,20})?$/;

export const near: SearchKind = {
  worstCase: {
    because: 'as many circles as one parameter takes, each around the world',
    request: () => buildManyValuesSearch('Location', 'near', (n) => `${n % 90}|${n % 180}|20000|km`),
  },
  ...readBy('number', { '': parseNear }),
  sortable: false,
  index({ value }, { number }, _context, rows) {
    const latitude = toNumberPoint(findProperty(value, 'latitude'));
    const longitude = toNumberPoint(findProperty(value, 'longitude'));
    if (latitude === undefined || longitude === undefined) return;
    rows.number(number, { lo: latitude.lo, hi: longitude.lo }, noSystem, '');
  },
};

/** `latitude|longitude|distance|units`; units are kilometres when they are omitted. */
function parseNear(text: string, { name }: ValueContext): Test {
  const parts = splitUnescaped(text, '|').map((part) => unescapeValue(part, name).trim());
  const [north = '', east = '', distance = '', unit = '', ...more] = parts;
  const latitude = degrees(north, 90);
  const longitude = degrees(east, 180);
  if (latitude === undefined || longitude === undefined || more.length > 0) {
    refuseValue(
      name,
      'takes latitude|longitude|distance|units in degrees of WGS84, for instance 42.2565|-83.6948|11.2|km; latitudes are from -90 to 90, longitudes from -180 to 180',
    );
  }
  const metres = distance === '' ? nearMetres : metresOf(distance, unit, name);
  return { where: within(latitude, longitude, metres), order: 'gathered', selectivity: selectivities.part };
}

function degrees(text: string, most: number): number | undefined {
  const value = decimal.test(text) ? Number(text) : Number.NaN;
  return Math.abs(value) <= most ? value : undefined;
}

function metresOf(distance: string, unit: string, name: string): number {
  const value = decimal.test(distance) ? Number(distance) : Number.NaN;
  const known = findCanonicalUnit(Object.hasOwn(miles, unit) ? (miles[unit] ?? unit) : unit === '' ? 'km' : unit);
  if (!(value >= 0)) refuseValue(name, 'takes a distance of 0 or more');
  if (known?.base !== 'm')
    refuseValue(name, 'takes a unit of length of UCUM after the distance, such as km, m or [mi_i]');
  return value * known.factor;
}

/** The condition on a row that its place is within the distance: latitude first, which the index is ordered by. */
function within(latitude: number, longitude: number, metres: number): Sql {
  const reach = (metres / earthMetres) * (180 / Math.PI);
  const from = Math.max(latitude - reach, -90);
  const to = Math.min(latitude + reach, 90);
  const belt = sql`lo >= ${from}::float8 AND lo <= ${to}::float8`;
  const sine = sql`power(sin(radians(lo - ${latitude}::float8) / 2), 2) + cos(radians(${latitude}::float8)) * cos(radians(lo)) * power(sin(radians(hi - ${longitude}::float8) / 2), 2)`;
  const distance = sql`2 * ${earthMetres}::float8 * asin(least(1, sqrt(${sine})))`;
  return sql`${belt}${longitudes(latitude, longitude, reach)} AND ${distance} <= ${metres}::float8`;
}

/** The longitudes in reach; all of them where the circle holds a pole. Beyond the 180th meridian they go on at -180. */
function longitudes(latitude: number, longitude: number, reach: number): Sql {
  if (Math.abs(latitude) + reach >= 90) return sql.empty;
  const radians = Math.PI / 180;
  const width = Math.asin(Math.sin(reach * radians) / Math.cos(latitude * radians)) / radians;
  const west = longitude - width;
  const east = longitude + width;
  if (west < -180) return sql` AND (hi >= ${west + 360}::float8 OR hi <= ${east}::float8)`;
  if (east > 180) return sql` AND (hi >= ${west}::float8 OR hi <= ${east - 360}::float8)`;
  return sql` AND hi >= ${west}::float8 AND hi <= ${east}::float8`;
}
