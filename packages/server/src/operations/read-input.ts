/**
 * The in-parameters of an operation (https://hl7.org/fhir/R4/operations.html#request): of a query, of a Parameters
 * resource, or of a bare resource where the operation has one parameter that is a resource.
 */
import {
  isJsonObject,
  isPrimitiveType,
  isSubtypeOf,
  type JsonObject,
  type JsonValue,
  type StepBudget,
  suggestName,
} from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import type { FhirRequest } from '../engine/context.ts';
import { requireResource } from '../engine/write/build-write.ts';
import { listElements } from '../terminology/elements.ts';
import type { InputValue, Operation, OperationInput, OperationParameter } from './operation.ts';
import { refuseParameter } from './parameter-problem.ts';
import { convertPrimitive, describeExample, parsePrimitive } from './primitive-input.ts';

/** Parameters of one request at most, those of the query and of the body counted apart, parts by their whole. */
const parametersMax = 1000;

/** Parameters of a query that are about the answer's form: they are read elsewhere. */
const formatParameters: ReadonlySet<string> = new Set(['_format', '_pretty']);

/**
 * The checked in-parameters of a request.
 * @throws PraxisError `operation-parameter-invalid` naming the parameter and the rule; as `requireResource` for a body
 *   that is no valid resource
 */
export async function readInput(
  operation: Operation,
  method: string,
  request: FhirRequest,
  budget: StepBudget,
): Promise<OperationInput> {
  const declared = operation.parameters.filter(({ use }) => use === 'in');
  const input = new Map<string, InputValue[]>();
  readQuery(operation, declared, request.parameters, input);
  if (method === 'POST') readBody(declared, await request.body(), { input, budget });
  requireCardinality(declared, input, '');
  return input;
}

function readQuery(
  operation: Operation,
  declared: readonly OperationParameter[],
  parameters: FhirRequest['parameters'],
  input: Map<string, InputValue[]>,
): void {
  requireFew(parameters.length);
  for (const [name, text] of parameters) {
    if (formatParameters.has(name)) continue;
    const parameter = declared.find((each) => each.name === name);
    if (parameter === undefined) {
      if (operation.further === 'search') continue;
      return refuseUnknown(name, declared);
    }
    const { type } = parameter;
    if (type === undefined || !isPrimitiveType(type)) {
      return refuseParameter(name, 'is no primitive value: send it in a Parameters resource by POST');
    }
    add(input, name, { type, value: parsePrimitive(name, type, text), parts: new Map() });
  }
}

/** Where parameters are read to. */
interface Reading {
  readonly input: Map<string, InputValue[]>;
  /** Spent by the validation of what is sent. */
  readonly budget: StepBudget;
}

function readBody(declared: readonly OperationParameter[], body: JsonValue, to: Reading): void {
  if (!isJsonObject(body) || typeof body.resourceType !== 'string') {
    return void requireResource(body, 'Parameters', to.budget); // says what is wrong with it
  }
  if (body.resourceType === 'Parameters') {
    const parameters = requireResource(withPlaceholders(body, declared), 'Parameters', to.budget);
    const sent = listElements(body.parameter);
    requireFew(sent.length);
    return readParameters(declared, listElements(parameters.parameter), sent, to, '');
  }
  const [single, ...others] = declared.filter(({ type }) => type !== undefined && isSubtypeOf(type, 'Resource'));
  if (single === undefined || others.length > 0) {
    fail('resource-type-mismatch', {
      diagnostics: 'resourceType must be Parameters: the operation has no single parameter that is a resource',
      expression: ['resourceType'],
    });
  }
  add(to.input, single.name, resourceValue(single, single.name, body, to.budget));
}

/**
 * The Parameters with a small valid resource in the place of those that the operation judges itself, so that the rest can
 * be checked.
 */
function withPlaceholders(body: JsonObject, declared: readonly OperationParameter[]): JsonObject {
  const unchecked = new Set(declared.filter((each) => each.unchecked === true).map(({ name }) => name));
  if (unchecked.size === 0 || !Array.isArray(body.parameter)) return body;
  const parameter = body.parameter.map((each) =>
    isJsonObject(each) && typeof each.name === 'string' && unchecked.has(each.name) && isJsonObject(each.resource)
      ? { ...each, resource: { resourceType: 'Basic', code: { text: 'parameter' } } }
      : each,
  );
  return { ...body, parameter };
}

/** Adds the parameters of a valid Parameters resource, or the parts of one; `sent` has them as they came. */
function readParameters(
  declared: readonly OperationParameter[],
  parameters: readonly JsonObject[],
  sent: readonly JsonObject[],
  to: Reading,
  whole: string,
): void {
  for (const [index, each] of parameters.entries()) {
    const name = String(each.name); // Parameters are valid, so it is there
    const parameter = declared.find((candidate) => candidate.name === name);
    if (parameter === undefined) return refuseUnknown(name, declared, whole);
    add(to.input, name, inputValue(parameter, sent[index] ?? each, `${whole}${name}`, to.budget));
  }
}

function inputValue(parameter: OperationParameter, sent: JsonObject, name: string, budget: StepBudget): InputValue {
  if (parameter.parts !== undefined) {
    const parts = new Map<string, InputValue[]>();
    const list = listElements(sent.part);
    readParameters(parameter.parts, list, list, { input: parts, budget }, `${name}.`);
    requireCardinality(parameter.parts, parts, `${name}.`);
    return { type: '', value: null, parts };
  }
  if (isJsonObject(sent.resource)) return resourceValue(parameter, name, sent.resource, budget);
  const key = Object.keys(sent).find((member) => member.startsWith('value'));
  if (key === undefined)
    return refuseParameter(name, `has no value: it takes ${parameter.type}${describeExample(parameter.type ?? '')}`);
  return dataValue(parameter, name, key.slice('value'.length), sent[key] ?? null);
}

function resourceValue(
  { type = '', unchecked }: OperationParameter,
  name: string,
  resource: JsonObject,
  budget: StepBudget,
): InputValue {
  const actual = String(resource.resourceType);
  if (unchecked === true && (type === 'Resource' || type === actual)) {
    return { type: actual, value: resource, parts: new Map() };
  }
  if (!isSubtypeOf(actual, type)) refuseParameter(name, `takes ${type === 'Resource' ? 'a resource' : type}`);
  return { type: actual, value: requireResource(resource, actual, budget), parts: new Map() };
}

/** `suffix` is what follows `value`: `String`, `CodeableConcept`. */
function dataValue({ type = '' }: OperationParameter, name: string, suffix: string, value: JsonValue): InputValue {
  if (isPrimitiveType(type)) {
    const sent = suffix.charAt(0).toLowerCase() + suffix.slice(1);
    const read = convertPrimitive(type, sent, value);
    if (read === undefined) {
      const member = `value${type.charAt(0).toUpperCase()}${type.slice(1)}`;
      refuseParameter(name, `takes ${member}${describeExample(type)}`);
    }
    return { type: sent, value: read, parts: new Map() };
  }
  if (type !== 'Element' && !isSubtypeOf(suffix, type)) {
    refuseParameter(name, `takes ${isSubtypeOf(type, 'Resource') ? `resource (${type})` : `value${type}`}`);
  }
  return { type: suffix, value, parts: new Map() };
}

function requireCardinality(declared: readonly OperationParameter[], input: OperationInput, whole: string): void {
  for (const { name, min, max } of declared) {
    const count = input.get(name)?.length ?? 0;
    if (count < min) refuseParameter(`${whole}${name}`, count === 0 ? 'is missing' : `must occur ${min} times or more`);
    if (max !== '*' && count > max) {
      refuseParameter(`${whole}${name}`, `occurs ${count} times: at most ${max} ${max === 1 ? 'is' : 'are'} taken`);
    }
  }
}

function refuseUnknown(name: string, declared: readonly OperationParameter[], whole = ''): never {
  const names = declared.map((each) => each.name);
  const hint = suggestName(name, names) || ';';
  const known = declared.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`;
  return refuseParameter(`${whole}${name}`, `is no parameter of the operation${hint} ${known}`);
}

function requireFew(count: number): void {
  if (count > parametersMax)
    refuseParameter('Parameters', `has ${count} parameters: at most ${parametersMax} are taken`);
}

function add(input: Map<string, InputValue[]>, name: string, value: InputValue): void {
  input.set(name, [...(input.get(name) ?? []), value]);
}
