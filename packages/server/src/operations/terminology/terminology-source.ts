/**
 * Which value set or code system a terminology operation is asked about: the resource of the path, a canonical URL, or a
 * resource that was sent (https://hl7.org/fhir/R4/valueset-operation-expand.html).
 */
import type { JsonObject } from '@praxis/fhir';
import type { InteractionContext } from '../../engine/context.ts';
import { readOwn } from '../../engine/search/own-terminology.ts';
import type { TerminologyKind } from '../../terminology/terminology.ts';
import { readObjectInput, readTextInput } from '../input.ts';
import type { OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';

/** The names of the parameters that say it. */
export interface SourceParameters {
  readonly kind: TerminologyKind;
  /** A canonical URL. */
  readonly url: string;
  readonly version: string;
  /** A resource. */
  readonly resource: string;
}

/** Of operations on value sets. */
export const valueSetSource: SourceParameters = {
  kind: 'ValueSet',
  url: 'url',
  version: 'valueSetVersion',
  resource: 'valueSet',
};

/**
 * The canonical URL or the resource; undefined where nothing says it.
 * @throws PraxisError `operation-parameter-invalid` when more than one thing says it; `resource-not-found`,
 *   `resource-deleted` as `read`
 */
export async function readTerminologySource(
  context: InteractionContext,
  request: OperationRequest,
  names: SourceParameters,
): Promise<string | JsonObject | undefined> {
  const url = readTextInput(request.input, names.url);
  const version = readTextInput(request.input, names.version);
  const resource = readObjectInput(request.input, names.resource);
  if (request.place.level === 'instance') {
    const second = url !== undefined ? names.url : resource !== undefined ? names.resource : undefined;
    if (second !== undefined)
      refuseParameter(second, `cannot be given with an id: the path says which ${names.kind} is meant`);
    return readOwn(context, names.kind, request.place.id);
  }
  if (url !== undefined && resource !== undefined) {
    const problem = `cannot be given together with ${names.url}: one of them says which ${names.kind} is meant`;
    refuseParameter(names.resource, problem);
  }
  if (url === undefined) return resource;
  if (version !== undefined && url.includes('|'))
    refuseParameter(names.version, `cannot be given twice: ${names.url} ends with one`);
  return version === undefined ? url : `${url}|${version}`;
}
