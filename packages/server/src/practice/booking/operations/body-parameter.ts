/** What a Parameters body tells of the cost of an operation, before anything has checked it. */
import type { JsonObject, JsonValue } from '@praxis/fhir';
import { listObjects } from '../../../search/json-values.ts';

/** Rate units of what is done to all appointments of a series, which may be a hundred. */
export const seriesUnits = 9;

/** The first parameter of the name. */
export function findBodyParameter(body: JsonValue, name: string): JsonObject | undefined {
  return listObjects(body, 'parameter').find((each) => each['name'] === name);
}
