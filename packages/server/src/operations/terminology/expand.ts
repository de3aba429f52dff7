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
import type { Operation, OperationInput, OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { buildOwnResourceResponse } from '../result.ts';
import { readTerminologySource, type SourceParameters } from './terminology-source.ts';

const source: SourceParameters = { kind: 'ValueSet', url: 'url', version: 'valueSetVersion', resource: 'valueSet' };

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
    { name: 'url', use: 'in', min: 0, max: 1, type: 'uri', documentation: 'Canonical URL of the value set.' },
    { name: 'valueSet', use: 'in', min: 0, max: 1, type: 'ValueSet', documentation: 'The value set itself.' },
    { name: 'valueSetVersion', use: 'in', min: 0, max: 1, type: 'string', documentation: 'Version of `url`.' },
    { name: 'filter', use: 'in', min: 0, max: 1, type: 'string', documentation: 'Words that displays or codes hold.' },
    { name: 'offset', use: 'in', min: 0, max: 1, type: 'integer', documentation: 'Codes to pass over.' },
    {
      name: 'count',
      use: 'in',
      min: 0,
      max: 1,
      type: 'integer',
      documentation: 'Codes to return at most; 0: how many.',
    },
    { name: 'includeDesignations', use: 'in', min: 0, max: 1, type: 'boolean', documentation: 'With designations.' },
    { name: 'includeDefinition', use: 'in', min: 0, max: 1, type: 'boolean', documentation: 'With the definition.' },
    { name: 'activeOnly', use: 'in', min: 0, max: 1, type: 'boolean', documentation: 'Without inactive codes.' },
    { name: 'excludeNested', use: 'in', min: 0, max: 1, type: 'boolean', documentation: 'The list is always flat.' },
    { name: 'excludeNotForUI', use: 'in', min: 0, max: 1, type: 'boolean', documentation: 'Without abstract codes.' },
    {
      name: 'exclude-system',
      use: 'in',
      min: 0,
      max: '*',
      type: 'canonical',
      documentation: 'Code systems to leave out.',
    },
    {
      name: 'return',
      use: 'out',
      min: 1,
      max: 1,
      type: 'ValueSet',
      documentation: 'The value set with its expansion.',
    },
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
  const paging = pagingOf(input);
  const asked = await readTerminologySource(context, request, source);
  if (asked === undefined) refuseParameter('url', 'is missing: url or valueSet says which value set to expand');
  const { valueSet, codings } = await openRequestTerminology(context).expand(asked, {
    activeOnly: readBooleanInput(input, 'activeOnly') ?? false,
    excludedSystems: new Set(readTextInputs(input, 'exclude-system').map((system) => system.split('|')[0] ?? system)),
  });
  const found = codings.filter(filterOf(context, input));
  const page = found.slice(paging.offset, paging.count === undefined ? undefined : paging.offset + paging.count);
  const expansion = {
    identifier: `urn:uuid:${makeUuid()}`,
    timestamp: toInstant(context.clock.now()),
    total: found.length,
    ...(readIntegerInput(input, 'offset') === undefined ? {} : { offset: paging.offset }),
    ...parametersOf(input),
    ...listOf(
      'contains',
      page.map((coding) => containsOf(coding, readBooleanInput(input, 'includeDesignations') ?? false)),
    ),
  };
  return buildOwnResourceResponse({
    ...headOf(valueSet, readBooleanInput(input, 'includeDefinition') ?? false),
    expansion,
  });
}

function pagingOf(input: OperationInput): { readonly offset: number; readonly count: number | undefined } {
  for (const name of ['offset', 'count']) {
    if ((readIntegerInput(input, name) ?? 0) < 0) refuseParameter(name, 'must be 0 or more');
  }
  return { offset: readIntegerInput(input, 'offset') ?? 0, count: readIntegerInput(input, 'count') };
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
  const told: JsonValue[] = [];
  for (const name of ['filter', 'exclude-system']) {
    for (const value of readTextInputs(input, name)) {
      told.push({ name, ...(name === 'filter' ? { valueString: value } : { valueUri: value }) });
    }
  }
  const count = readIntegerInput(input, 'count');
  if (count !== undefined) told.push({ name: 'count', valueInteger: count });
  for (const name of ['activeOnly', 'excludeNotForUI', 'includeDesignations']) {
    const value = readBooleanInput(input, name);
    if (value !== undefined) told.push({ name, valueBoolean: value });
  }
  return listOf('parameter', told);
}

/** R4 allows no empty array. */
function listOf(name: string, values: JsonValue[]): JsonObject {
  return values.length === 0 ? {} : { [name]: values };
}

function containsOf(
  { system, code, display, designations, isAbstract, isInactive }: ExpandedCoding,
  withDesignations: boolean,
) {
  return {
    system,
    ...(isAbstract ? { abstract: true } : {}),
    ...(isInactive ? { inactive: true } : {}),
    code,
    ...(display === undefined ? {} : { display }),
    ...(withDesignations ? listOf('designation', [...designations]) : {}),
  };
}

const headElements: readonly string[] = [
  'id',
  'url',
  'identifier',
  'version',
  'name',
  'title',
  'status',
  'experimental',
];

function headOf(valueSet: JsonObject, withDefinition: boolean): { readonly resourceType: 'ValueSet' } & JsonObject {
  const names = withDefinition ? [...headElements, 'compose'] : headElements;
  const head: JsonObject = {};
  for (const name of names) if (valueSet[name] !== undefined) head[name] = valueSet[name];
  return { resourceType: 'ValueSet', status: 'unknown', ...head };
}
