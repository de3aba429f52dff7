/**
 * The parameters of $validate-code that say what is to be judged, and the judgement on its display
 * (https://hl7.org/fhir/R4/valueset-operation-validate-code.html).
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import type { FhirResponse } from '../../engine/context.ts';
import type { SystemCode } from '../../terminology/terminology.ts';
import { readObjectInput, readTextInput } from '../input.ts';
import type { OperationInput, OperationParameter } from '../operation.ts';
import { refuseParameter } from '../parameter-problem.ts';
import { buildParametersResponse, type OutputParameter } from '../result.ts';

export const codingParameters: readonly OperationParameter[] = [
  { name: 'code', use: 'in', min: 0, max: 1, type: 'code', documentation: 'The code.' },
  {
    name: 'display',
    use: 'in',
    min: 0,
    max: 1,
    type: 'string',
    documentation: 'The display of the code, to be checked.',
  },
  { name: 'coding', use: 'in', min: 0, max: 1, type: 'Coding', documentation: 'A coding.' },
  {
    name: 'codeableConcept',
    use: 'in',
    min: 0,
    max: 1,
    type: 'CodeableConcept',
    documentation: 'One coding must be valid.',
  },
  {
    name: 'abstract',
    use: 'in',
    min: 0,
    max: 1,
    type: 'boolean',
    documentation: 'Whether codes that only group others are valid.',
  },
  { name: 'result', use: 'out', min: 1, max: 1, type: 'boolean', documentation: 'Whether it is valid.' },
  { name: 'message', use: 'out', min: 0, max: 1, type: 'string', documentation: 'Why it is not.' },
  { name: 'display', use: 'out', min: 0, max: 1, type: 'string', documentation: 'The display to show for the code.' },
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
  const given = ['code', 'coding', 'codeableConcept'].filter((name) => input.has(name));
  const [name, second] = given;
  if (name === undefined) refuseParameter('code', 'is missing: code, coding or codeableConcept says what to validate');
  if (second !== undefined) refuseParameter(second, `cannot be given together with ${name}`);
  if (name === 'code') {
    return [asked(readTextInput(input, 'code'), systemOfCode, readTextInput(input, 'display'))].flatMap(
      (each) => each ?? [],
    );
  }
  const list: readonly JsonValue[] =
    name === 'coding'
      ? [readObjectInput(input, 'coding') ?? null]
      : arrayOf(readObjectInput(input, 'codeableConcept')?.['coding']);
  const codings = list.filter(isJsonObject).flatMap((coding) => codingOf(coding) ?? []);
  return codings.length > 0 ? codings : refuseParameter(name, 'holds no code');
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

function codingOf({ code, system, display }: JsonObject): AskedCoding | undefined {
  return asked(textOf(code), textOf(system), textOf(display));
}

function asked(
  code: string | undefined,
  system: string | undefined,
  display: string | undefined,
): AskedCoding | undefined {
  if (code === undefined) return undefined;
  return { code, ...(system === undefined ? {} : { system }), ...(display === undefined ? {} : { display }) };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function arrayOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function folded(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}
