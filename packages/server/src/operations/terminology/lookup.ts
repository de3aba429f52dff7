/**
 * $lookup: what a code system says about one code (https://hl7.org/fhir/R4/codesystem-operation-lookup.html).
 */

import { isJsonObject, type JsonValue } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { buildGetRequest } from '../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { requireGrants } from '../../engine/rights/denials.ts';
import { openRequestTerminology } from '../../engine/search/own-terminology.ts';
import { findText } from '../../search/json-values.ts';
import { type Concept, findConcept } from '../../terminology/terminology.ts';
import { readObjectInput, readTextInput, readTextInputs } from '../input.ts';
import {
  declareInput,
  declareOutput,
  declareParts,
  type Operation,
  type OperationInput,
  type OperationRequest,
} from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { buildParametersResponse, type OutputParameter } from '../result.ts';

export const lookup: Operation = {
  name: 'lookup',
  url: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup',
  worstCase: {
    because: 'a code of a large system',
    request: () =>
      buildGetRequest('CodeSystem/$lookup?system=http://terminology.hl7.org/CodeSystem/v3-ActCode&code=AMB'),
  },
  levels: ['type'],
  types: ['CodeSystem'],
  affectsState: false,
  parameters: [
    declareInput('code', 'code', 'The code, with `system`.'),
    declareInput('system', 'uri', 'The code system of `code`.'),
    declareInput('version', 'string', 'The version of the system.'),
    declareInput('coding', 'Coding', 'Instead of code and system.'),
    declareInput('property', 'code', 'Properties to return. The default is all.', { max: '*' }),
    declareOutput('name', 'string', 'A name for the code system.'),
    declareOutput('version', 'string', 'The version of the system.', { min: 0 }),
    declareOutput('display', 'string', 'The display of the code.'),
    declareParts('designation', 'Further displays.', [
      declareOutput('language', 'code', 'Its language.', { min: 0 }),
      declareOutput('use', 'Coding', 'What it is for.', { min: 0 }),
      declareOutput('value', 'string', 'The display.'),
    ]),
    declareParts('property', 'The properties of the code.', [
      declareOutput('code', 'code', 'The property.'),
      declareOutput('value', 'string', 'Its value.', { min: 0 }),
    ]),
  ],
  authorize: (context) => requireGrants(context, 'CodeSystem', 's'),
  answer,
};

/**
 * 200 with name, display, designations and properties.
 * @throws PraxisError `operation-parameter-invalid`, `code-system-unknown`, `code-unknown`
 */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const { code, system: url, version } = asked(request.input);
  const canonical = version === undefined ? url : `${url}|${version}`;
  const system = await openRequestTerminology(context).requireCodeSystem(canonical);
  const concept = findConcept(system, code);
  if (concept === undefined) {
    const part = system.isComplete ? '' : ', as far as it is loaded here';
    return fail('code-unknown', { diagnostics: `The code is not in the code system ${system.url}${part}` });
  }
  return buildParametersResponse([
    { name: 'name', type: 'string', value: system.name },
    ...(system.version === undefined ? [] : [{ name: 'version', type: 'string', value: system.version }]),
    { name: 'display', type: 'string', value: concept.display ?? concept.code },
    ...concept.designations.flatMap(designationOf),
    ...propertiesOf(concept, new Set(readTextInputs(request.input, 'property'))),
  ]);
}

function asked(input: OperationInput): { code: string; system: string; version: string | undefined } {
  const coding = readObjectInput(input, 'coding');
  const given = readTextInput(input, 'code');
  if (coding !== undefined && given !== undefined) refuseParameter('coding', 'cannot be given together with code');
  const code = given ?? findText(coding, 'code');
  const system = readTextInput(input, 'system') ?? findText(coding, 'system');
  if (code === undefined) refuseParameter('code', 'is missing: code and system, or coding, say what to look up');
  if (system === undefined) refuseParameter('system', 'is missing: it says which code system the code is of');
  return { code, system, version: readTextInput(input, 'version') ?? findText(coding, 'version') };
}

function designationOf(designation: JsonValue): OutputParameter[] {
  if (!isJsonObject(designation)) return [];
  const { language, use, value } = designation;
  if (typeof value !== 'string') return [];
  const parts: OutputParameter[] = [];
  if (typeof language === 'string') parts.push({ name: 'language', type: 'code', value: language });
  if (use !== undefined) parts.push({ name: 'use', type: 'Coding', value: use });
  return [{ name: 'designation', parts: [...parts, { name: 'value', type: 'string', value }] }];
}

/** The properties that R4 defines for every system, then those of this one. */
function propertiesOf(concept: Concept, wanted: ReadonlySet<string>): OutputParameter[] {
  const all: [name: string, type: string, value: JsonValue][] = [
    ['inactive', 'boolean', concept.isInactive],
    ['abstract', 'boolean', concept.isAbstract],
    ...concept.parents.map((code): [string, string, string] => ['parent', 'code', code]),
    ...concept.children.map((code): [string, string, string] => ['child', 'code', code]),
  ];
  const told = new Set(all.map(([name]) => name));
  for (const [name, values] of concept.properties) {
    if (!told.has(name)) all.push(...values.map((value): [string, string, string] => [name, 'string', value]));
  }
  return all
    .filter(([name]) => wanted.size === 0 || wanted.has(name))
    .map(([name, type, value]) => ({
      name: 'property',
      parts: [
        { name: 'code', type: 'code', value: name },
        { name: 'value', type, value },
      ],
    }));
}
