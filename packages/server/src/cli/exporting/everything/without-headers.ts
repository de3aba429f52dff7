/** Resources without the headers by which a server calls others: they hold credentials. */
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@praxis/fhir';

/** @param text a resource, as it is stored; it is given back as it is where it has no header */
export function withoutHeaders(text: string): string {
  // A name may be written with escapes in what was stored long ago.
  if (!/header"|\\u/.test(text)) return text;
  const resource = parseJson(text);
  return removeHeaders(resource) ? JSON.stringify(resource) : text;
}

/**
 * Removes `Subscription.channel.header` (https://hl7.org/fhir/R4/subscription.html) and `Endpoint.header`
 * (https://hl7.org/fhir/R4/endpoint.html) with their extensions, wherever the resource stands: in a Bundle, contained, in Parameters.
 * Whether there was any.
 */
function removeHeaders(value: JsonValue): boolean {
  let found = false;
  if (Array.isArray(value)) {
    for (const each of value) found = removeHeaders(each) || found;
    return found;
  }
  if (!isJsonObject(value)) return false;
  if (value['resourceType'] === 'Endpoint') found = removeFrom(value) || found;
  const { channel } = value;
  if (value['resourceType'] === 'Subscription' && isJsonObject(channel)) found = removeFrom(channel) || found;
  for (const each of Object.values(value)) found = removeHeaders(each) || found;
  return found;
}

function removeFrom(element: JsonObject): boolean {
  const found = 'header' in element || '_header' in element;
  delete element['header'];
  delete element['_header'];
  return found;
}
