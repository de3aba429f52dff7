/**
 * The parameters of $validate-code that say what is to be judged, and the judgement on its display
 * (https://hl7.org/fhir/R4/valueset-operation-validate-code.html).
 */
import { isJsonObject, type JsonValue } from '@praxis/fhir';
import type { FhirResponse } from '../../engine/context.ts';
import { listElements } from '../../terminology/elements.ts';
import type { SystemCode } from '../../terminology/terminology.ts';
import { readObjectInput, readObjectInputs, readTextInput } from '../input.ts';
import { declareInput, declareOutput, type OperationInput, type OperationParameter } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { buildParametersResponse, type OutputParameter } from '../result.ts';

export const codingParameters: readonly OperationParameter[] = [
  declareInput('code', 'code', 'The code.'),
  declareInput('display', 'string', 'The display of the code to check.'),
  declareInput('coding', 'Coding', 'A coding.'),
  declareInput('codeableConcept', 'CodeableConcept', 'One coding must be valid.'),
  declareInput('abstract', 'boolean', 'Whether codes that only group others are valid.'),
  declareOutput('result', 'boolean', 'Whether the code is valid.'),
  declareOutput('message', 'string', 'Why the code is not valid.', { min: 0 }),
  declareOutput('display', 'string', 'The display to show for the code.', { min: 0 }),
];

export interface AskedCoding extends SystemCode {
  readonly display?: string;
}

export interface Judgement {
  readonly result: boolean;
  readonly message?: string;
  readonly display?: string;
}

/**
 * The codings that `code`, `coding` or `codeableConcept` give: at least one, of which one has to be valid.
 * @param systemOfCode the system of `code`, if it is said
 * @throws PraxisError `operation-parameter-invalid`
 */
export function readCodings(input: OperationInput, systemOfCode: string | undefined): readonly AskedCoding[] {
  const sent: Readonly<Record<string, readonly SentCoding[]>> = {
    code: [{ code: readTextInput(input, 'code'), system: systemOfCode, display: readTextInput(input, 'display') }],
    coding: readObjectInputs(input, 'coding'),
    codeableConcept: listElements(readObjectInput(input, 'codeableConcept')?.['coding']),
  };
  const [name, second] = Object.keys(sent).filter((each) => input.has(each));
  if (name === undefined) refuseParameter('code', 'is missing: code, coding or codeableConcept says what to validate');
  if (second !== undefined) refuseParameter(second, `cannot be given together with ${name}`);
  const codings = (sent[name] ?? []).flatMap(askedCoding);
  return codings.length > 0 ? codings : refuseParameter(name, 'holds no code');
}

interface SentCoding {
  readonly code?: JsonValue | undefined;
  readonly system?: JsonValue | undefined;
  readonly display?: JsonValue | undefined;
}

function askedCoding({ code, system, display }: SentCoding): readonly AskedCoding[] {
  if (typeof code !== 'string') return [];
  const ofSystem = typeof system === 'string' ? { system } : {};
  return [{ code, ...ofSystem, ...(typeof display === 'string' ? { display } : {}) }];
}

/** What is said about a code that is valid but for its display: false where another display was given. */
export function judgeDisplay(
  asked: AskedCoding,
  known: { readonly display?: string; readonly designations: readonly JsonValue[] },
): Judgement {
  const shown = known.display === undefined ? {} : { display: known.display };
  const values = known.designations.filter(isJsonObject).map(({ value }) => value);
  const allowed = [known.display, ...values].filter((value) => typeof value === 'string').map(folded);
  if (asked.display === undefined || allowed.length === 0 || allowed.includes(folded(asked.display))) {
    return { result: true, ...shown };
  }
  return { result: false, message: 'The code is valid, the display is not the one of the code', ...shown };
}

/** The first judgement that is true, else the first. */
export function buildJudgementResponse(judgements: readonly Judgement[]): FhirResponse {
  const best = judgements.find(({ result }) => result) ?? judgements[0] ?? { result: false };
  const output: OutputParameter[] = [{ name: 'result', type: 'boolean', value: best.result }];
  if (best.message !== undefined) output.push({ name: 'message', type: 'string', value: best.message });
  if (best.display !== undefined) output.push({ name: 'display', type: 'string', value: best.display });
  return buildParametersResponse(output);
}

function folded(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}
