/**
 * $expand: the codes of a value set (https://hl7.org/fhir/R4/valueset-operation-expand.html). The list is flat, in the
 * order of the definition.
 */

import type { JsonObject, JsonValue } from '@praxis/fhir';
import { toInstant } from '../../base/clock.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildOperationRequest } from '../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { requireGrants } from '../../engine/rights/denials.ts';
import { openRequestTerminology } from '../../engine/search/own-terminology.ts';
import type { ExpandedCoding } from '../../terminology/terminology.ts';
import { readBooleanInput, readIntegerInput, readTextInput, readTextInputs } from '../input.ts';
import {
  declareInput,
  declareOutput,
  type Operation,
  type OperationInput,
  type OperationRequest,
} from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { buildOwnResourceResponse } from '../result.ts';
import { readTerminologySource, valueSetSource } from './terminology-source.ts';

/** Its filter means nothing, at great length. */
export const costlyValueSet: JsonObject = {
  resourceType: 'ValueSet',
  status: 'active',
  compose: {
    include: [
      {
        system: 'http://hl7.org/fhir/administrative-gender',
        filter: [{ property: 'code', op: 'regex', value: '(((){9999}){9999}){9999}' }],
      },
    ],
  },
};

export const expand: Operation = {
  name: 'expand',
  url: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
  worstCase: {
    because: 'a repetition of repetitions of nothing (F2)',
    request: () => buildOperationRequest('ValueSet/$expand', [{ name: 'valueSet', resource: costlyValueSet }]),
  },
  rateUnits: 4,
  levels: ['type', 'instance'],
  types: ['ValueSet'],
  affectsState: false,
  parameters: [
    declareInput('url', 'uri', 'Canonical URL of the value set.'),
    declareInput('valueSet', 'ValueSet', 'The value set itself.'),
    declareInput('valueSetVersion', 'string', 'Version of `url`.'),
    declareInput('filter', 'string', 'Text that displays or codes contain.'),
    declareInput('offset', 'integer', 'The number of codes to skip.'),
    declareInput('count', 'integer', 'The maximum number of codes. 0: only the total.'),
    declareInput('includeDesignations', 'boolean', 'Whether to include designations.'),
    declareInput('includeDefinition', 'boolean', 'Whether to include the definition.'),
    declareInput('activeOnly', 'boolean', 'Whether to omit inactive codes.'),
    declareInput('excludeNested', 'boolean', 'The list is always flat.'),
    declareInput('excludeNotForUI', 'boolean', 'Whether to omit abstract codes.'),
    declareInput('exclude-system', 'canonical', 'Code systems to omit.', { max: '*' }),
    declareOutput('return', 'ValueSet', 'The value set with its expansion.'),
  ],
  authorize: (context, { level }) => requireGrants(context, 'ValueSet', level === 'instance' ? 'r' : 's'),
  answer,
};

/**
 * 200 with a ValueSet whose `expansion` lists the codes.
 * @throws PraxisError `operation-parameter-invalid`, `value-set-unknown`, `code-system-unknown`, `value-set-invalid`,
 *   `expansion-too-costly`, `too-costly`, `resource-not-found`, `resource-deleted`
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const { input } = request;
  const offset = countOf(input, 'offset');
  const count = countOf(input, 'count');
  const asked = await readTerminologySource(context, request, valueSetSource);
  if (asked === undefined) refuseParameter('url', 'is missing: url or valueSet says which value set to expand');
  const { valueSet, codings } = await openRequestTerminology(context).expand(asked, {
    activeOnly: readBooleanInput(input, 'activeOnly') ?? false,
    excludedSystems: new Set(readTextInputs(input, 'exclude-system').map((system) => system.split('|')[0] ?? system)),
  });
  const found = codings.filter(filterOf(context, input));
  const page = found.slice(offset, count === undefined ? undefined : (offset ?? 0) + count);
  const designated = readBooleanInput(input, 'includeDesignations') ?? false;
  const expansion = {
    identifier: `urn:uuid:${makeUuid()}`,
    timestamp: toInstant(context.clock.now()),
    total: found.length,
    ...(offset === undefined ? {} : { offset }),
    ...parametersOf(input),
    ...listOf(
      'contains',
      page.map((coding) => containsOf(coding, designated)),
    ),
  };
  const head = headOf(valueSet, readBooleanInput(input, 'includeDefinition') ?? false);
  return buildOwnResourceResponse({ ...head, expansion });
}

function countOf(input: OperationInput, name: string): number | undefined {
  const count = readIntegerInput(input, name);
  return count === undefined || count >= 0 ? count : refuseParameter(name, 'must be 0 or more');
}

/** Every word of `filter` begins a word of the display, or the code begins with the filter; upper and lower case alike. */
function filterOf({ budget }: InteractionContext, input: OperationInput): (coding: ExpandedCoding) => boolean {
  const filter = readTextInput(input, 'filter')?.trim().toLowerCase() ?? '';
  const words = filter.split(/\s+/);
  const abstract = readBooleanInput(input, 'excludeNotForUI') !== true;
  return ({ code, display = '', isAbstract }) => {
    if (isAbstract && !abstract) return false;
    if (filter === '' || code.toLowerCase().startsWith(filter)) return true;
    const shown = display.toLowerCase().split(/[^\p{L}\p{N}]+/u);
    budget.spend(shown.length * words.length, filtering);
    return words.every((word) => shown.some((each) => each.startsWith(word)));
  };
}

const filtering = { what: 'The filter of the expansion', cheaper: 'use fewer words' };

/** The parameters that made the list what it is: https://hl7.org/fhir/R4/valueset-definitions.html#ValueSet.expansion.parameter */
function parametersOf(input: OperationInput): JsonObject {
  const count = readIntegerInput(input, 'count');
  return listOf('parameter', [
    ...readTextInputs(input, 'filter').map((value) => ({ name: 'filter', valueString: value })),
    ...readTextInputs(input, 'exclude-system').map((value) => ({ name: 'exclude-system', valueUri: value })),
    ...(count === undefined ? [] : [{ name: 'count', valueInteger: count }]),
    ...['activeOnly', 'excludeNotForUI', 'includeDesignations'].flatMap((name) => {
      const value = readBooleanInput(input, name);
      return value === undefined ? [] : [{ name, valueBoolean: value }];
    }),
  ]);
}

/** R4 allows no empty array. */
function listOf(name: string, values: JsonValue[]): JsonObject {
  return values.length === 0 ? {} : { [name]: values };
}

function containsOf(coding: ExpandedCoding, withDesignations: boolean): JsonObject {
  const { system, code, display, designations, isAbstract, isInactive } = coding;
  return {
    system,
    ...(isAbstract ? { abstract: true } : {}),
    ...(isInactive ? { inactive: true } : {}),
    code,
    ...(display === undefined ? {} : { display }),
    ...(withDesignations ? listOf('designation', [...designations]) : {}),
  };
}

const headElements = ['id', 'url', 'identifier', 'version', 'name', 'title', 'status', 'experimental'];

function headOf(valueSet: JsonObject, withDefinition: boolean): { readonly resourceType: 'ValueSet' } & JsonObject {
  const names = withDefinition ? [...headElements, 'compose'] : headElements;
  const head: JsonObject = {};
  for (const name of names) if (valueSet[name] !== undefined) head[name] = valueSet[name];
  return { resourceType: 'ValueSet', status: 'unknown', ...head };
}
