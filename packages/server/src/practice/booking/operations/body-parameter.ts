/** What a Parameters body tells of the cost of an operation, before anything has checked it. */
import type { JsonObject, JsonValue } from '@praxis/fhir';
import { objectsOf } from '../../../search/json-values.ts';

/** Rate units of what is done to all appointments of a series, which may be a hundred. */
export const seriesUnits = 9;

/** The first parameter of the name. */
export function bodyParameter(body: JsonValue, name: string): JsonObject | undefined {
  return objectsOf(body, 'parameter').find((each) => each['name'] === name);
}
