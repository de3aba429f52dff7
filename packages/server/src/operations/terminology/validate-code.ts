/**
 * $validate-code: whether a code is in a value set (https://hl7.org/fhir/R4/valueset-operation-validate-code.html), or in
 * a code system (https://hl7.org/fhir/R4/codesystem-operation-validate-code.html).
 */

import { buildGetRequest, buildOperationRequest } from '../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../engine/context.ts';
import { requireGrants } from '../../engine/rights/denials.ts';
import { openRequestTerminology } from '../../engine/search/own-terminology.ts';
import { type CodeSystem, findConcept, openCodeSystemEffort, readCodeSystem } from '../../terminology/terminology.ts';
import { readBooleanInput, readTextInput } from '../input.ts';
import { declareInput, type Operation, type OperationRequest } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { costlyValueSet } from './expand.ts';
import { readTerminologySource, type SourceParameters, valueSetSource } from './terminology-source.ts';
import {
  type AskedCoding,
  buildJudgementResponse,
  codingParameters,
  type Judgement,
  judgeDisplay,
  readCodings,
} from './validated-coding.ts';

export const validateCodeInValueSet: Operation = {
  name: 'validate-code',
  url: 'http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code',
  worstCase: {
    because: 'as $expand, for one code',
    request: () =>
      buildOperationRequest('ValueSet/$validate-code', [
        { name: 'valueSet', resource: costlyValueSet },
        { name: 'system', valueUri: 'http://hl7.org/fhir/administrative-gender' },
        { name: 'code', valueCode: 'male' },
      ]),
  },
  rateUnits: 1,
  levels: ['type', 'instance'],
  types: ['ValueSet'],
  affectsState: false,
  parameters: [
    declareInput('url', 'uri', 'Canonical URL of the value set.'),
    declareInput('valueSet', 'ValueSet', 'The value set itself.'),
    declareInput('valueSetVersion', 'string', 'Version of `url`.'),
    declareInput('system', 'uri', 'Code system of `code`. The default is any.'),
    ...codingParameters,
  ],
  authorize: (context, { level }) => requireGrants(context, 'ValueSet', level === 'instance' ? 'r' : 's'),
  answer: answerForValueSet,
};

const codeSystemSource: SourceParameters = {
  kind: 'CodeSystem',
  url: 'url',
  version: 'version',
  resource: 'codeSystem',
};

export const validateCodeInCodeSystem: Operation = {
  name: 'validate-code',
  url: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-validate-code',
  worstCase: {
    because: 'a system that has to be gone through',
    request: () => buildGetRequest('CodeSystem/$validate-code?url=http://hl7.org/fhir/resource-types&code=Patient'),
  },
  rateUnits: 1,
  levels: ['type', 'instance'],
  types: ['CodeSystem'],
  affectsState: false,
  parameters: [
    declareInput('url', 'uri', 'Canonical URL of the code system.'),
    declareInput('codeSystem', 'CodeSystem', 'The code system itself.'),
    declareInput('version', 'string', 'Version of `url`.'),
    ...codingParameters,
  ],
  authorize: (context, { level }) => requireGrants(context, 'CodeSystem', level === 'instance' ? 'r' : 's'),
  answer: answerForCodeSystem,
};

/**
 * 200 with `result`, and `message` where it is false.
 * @throws PraxisError `operation-parameter-invalid`, `value-set-unknown`, `value-set-invalid`, `resource-not-found`,
 *   `resource-deleted`
 */
async function answerForValueSet(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const codings = readCodings(request.input, readTextInput(request.input, 'system'));
  const valueSet = await readTerminologySource(context, request, valueSetSource);
  if (valueSet === undefined) refuseParameter('url', 'is missing: url or valueSet says which value set is meant');
  const terminology = openRequestTerminology(context);
  const abstractAllowed = readBooleanInput(request.input, 'abstract') ?? false;
  const judge = async (coding: AskedCoding): Promise<Judgement> => {
    const membership = await terminology.contains(valueSet, coding);
    if (membership.is === 'not-member') return { result: false, message: 'The code is not in the value set' };
    if (membership.is === 'undecided') {
      return { result: false, message: `It cannot be said: ${membership.system} is not loaded here, or only in part` };
    }
    if (membership.isAbstract && !abstractAllowed) return abstractCode;
    context.budget.spend(membership.designations.length, judging);
    return judgeDisplay(coding, membership);
  };
  return buildJudgementResponse(await Array.fromAsync(codings, judge));
}

const judging = { what: 'The comparison of displays', cheaper: 'ask about fewer codings' };

const abstractCode: Judgement = {
  result: false,
  message: 'The code is abstract: it groups others (abstract=true allows it)',
};

/**
 * As for value sets.
 * @throws PraxisError `operation-parameter-invalid`, `code-system-unknown`, `resource-not-found`, `resource-deleted`
 */
async function answerForCodeSystem(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const codings = readCodings(request.input, undefined);
  const source = await readTerminologySource(context, request, codeSystemSource);
  const { budget } = context;
  const sent =
    typeof source === 'object'
      ? readCodeSystem(source, openCodeSystemEffort(budget, 'that was sent, or that the path names'))
      : undefined;
  const terminology = openRequestTerminology(context);
  const abstractAllowed = readBooleanInput(request.input, 'abstract') ?? false;
  const judge = async (coding: AskedCoding): Promise<Judgement> => {
    const asked = typeof source === 'string' ? source : coding.system;
    const system = sent ?? (asked === undefined ? undefined : await terminology.requireCodeSystem(asked));
    if (system === undefined) {
      refuseParameter('url', 'is missing: url, codeSystem or coding.system says which is meant');
    }
    budget.spend(1 + (findConcept(system, coding.code)?.designations.length ?? 0), judging);
    await budget.breathe(judging);
    return inCodeSystem(system, coding, abstractAllowed);
  };
  return buildJudgementResponse(await Array.fromAsync(codings, judge));
}

function inCodeSystem(system: CodeSystem, coding: AskedCoding, abstractAllowed: boolean): Judgement {
  if (coding.system !== undefined && coding.system !== system.url) {
    return { result: false, message: 'The coding is of another code system' };
  }
  const concept = findConcept(system, coding.code);
  if (concept !== undefined) {
    return concept.isAbstract && !abstractAllowed ? abstractCode : judgeDisplay(coding, concept);
  }
  const message = system.isComplete
    ? 'The code is not in the code system'
    : 'The code is not in the part of the code system that is loaded here';
  return { result: false, message };
}
