/**
 * Paths of operations, from their declarations (https://hl7.org/fhir/R4/operations.html): each level they are asked at,
 * by each method they take.
 */
import { isPrimitiveType, isSubtypeOf, resourceTypesWithEndpoint } from '@praxis/fhir';
import { listMethods } from '../operations/answer-operation.ts';
import type {
  Operation as Declaration,
  OperationAnswer,
  OperationLevel,
  OperationParameter,
} from '../operations/operation.ts';
import { operations } from '../practice/features.ts';
import { buildResourceContent, linesContent, plainJsonContent } from './content.ts';
import { buildAllRefusalRefs, buildHeaderRefs } from './error-answers.ts';
import { limitHeaders } from './headers.ts';
import { systemTag } from './interaction-paths.ts';
import {
  type Answer,
  buildParameter,
  buildParameterRefs,
  buildPathParameter,
  buildSchemaRef,
  type DescribedMethod,
  describedMethods,
  type OperationObject,
  type ParameterObject,
  type PathItem,
  type Paths,
  type ReferenceObject,
  type RequestBody,
  type Schema,
  toCamelCase,
} from './openapi.ts';
import { listInputExamples } from './operation-examples.ts';
import { buildHeaderParameterRefs, buildPathParameterRefs } from './request-parameters.ts';
import { buildCriterionRefs, formatOfLists } from './search-parameters.ts';
import { buildSuccessRef } from './success-answers.ts';

/** A level, or a version of an instance. */
type Level = OperationLevel | 'version';

/** Where a level is asked, and what ends its operationIds; `{Type}` stands for a type. */
const levels: Readonly<Record<Level, { readonly path: string; readonly suffix: string; readonly words: string }>> = {
  system: { path: '/', suffix: '', words: '' },
  type: { path: '/{Type}/', suffix: 'OfType', words: 'of the type' },
  instance: { path: '/{Type}/{id}/', suffix: '', words: 'of a resource' },
  version: { path: '/{Type}/{id}/_history/{versionId}/', suffix: 'OfVersion', words: 'of a version' },
};

/** Stands in paths of operations that all types have. */
const everyType = '{type}';

/** Tag of those operations. */
export const everyTypeTag = 'Every type';

/** The parameter of those paths. */
export const typeParameter: Readonly<Record<string, ParameterObject>> = {
  type: buildPathParameter('type', 'The resource type.', { type: 'string', enum: resourceTypesWithEndpoint }),
};

/** Statuses that operations refuse with beside those that any request may get. */
const refusedAlso = [405, 409, 410, 412, 413, 415, 422];

/** What ends operationIds of methods other than POST. */
const nameEnds: Readonly<Partial<Record<DescribedMethod, string>>> = { get: 'ByQuery', delete: 'ByDelete' };

const belowTypes: readonly Level[] = ['type', 'instance', 'version'];

/** The operations of the base, and those of all types, whose paths have the type as a parameter. */
export function buildGeneralOperationPaths(): Paths {
  const ofAll = operations.filter(({ types }) => types === 'all');
  return { ...pathsOf(operations, '', ['system']), ...pathsOf(ofAll, everyType, belowTypes) };
}

/** The operations of a single type, its instances and their versions. */
export function buildTypeOperationPaths(type: string): Paths {
  const own = operations.filter(({ types }) => types !== 'all' && types.includes(type));
  return pathsOf(own, type, belowTypes);
}

function pathsOf(declared: readonly Declaration[], type: string, asked: readonly Level[]): Paths {
  const paths = asked.flatMap((level) =>
    declared
      .filter((operation) => isAsked(operation, level))
      .map((operation): [string, PathItem] => {
        const path = `${levels[level].path.replace('{Type}', type)}$${operation.name}`;
        return [path, pathItem(operation, level, type, path)];
      }),
  );
  // Several operations of one name take different methods.
  const merged = new Map<string, PathItem>();
  for (const [path, item] of paths) merged.set(path, { ...merged.get(path), ...item });
  return Object.fromEntries(merged);
}

function isAsked({ levels: declared, ofVersions }: Declaration, level: Level): boolean {
  return level === 'version' ? ofVersions === true && declared.includes('instance') : declared.includes(level);
}

function pathItem(declaration: Declaration, level: Level, type: string, path: string): PathItem {
  const parameters = buildPathParameterRefs(path);
  const taken = listMethods(declaration);
  const described = describedMethods.filter((method) => taken.includes(method.toUpperCase()));
  return {
    ...(parameters.length > 0 ? { parameters } : {}),
    ...Object.fromEntries(described.map((method) => [method, operationOf(declaration, level, type, method)])),
  };
}

function operationOf(declaration: Declaration, level: Level, type: string, method: DescribedMethod): OperationObject {
  const { name, url } = declaration;
  const isOfEvery = type === everyType;
  const tag = type === '' ? systemTag : isOfEvery ? everyTypeTag : type;
  return {
    operationId: `${toCamelCase(name)}${isOfEvery ? '' : tag}${levels[level].suffix}${nameEnds[method] ?? ''}`,
    summary: `$${name} ${levels[level].words}`.trim(),
    description: `${url}\n\n${parameterTable(declaration)}`,
    tags: [tag],
    parameters: [
      ...(method === 'post' ? [] : queryParameters(declaration, type)),
      ...buildParameterRefs([declaration.isList === true ? formatOfLists : '_format', '_pretty']),
      // What changes something can be sent with a key.
      ...(declaration.affectsState ? buildHeaderParameterRefs(['idempotencyKey']) : []),
      ...(declaration.creates === undefined ? [] : buildHeaderParameterRefs(['preferReturn'])),
    ],
    ...(method === 'post' ? { requestBody: body(declaration) } : {}),
    responses: { ...answersOf(declaration), ...buildAllRefusalRefs(refusedAlso) },
  };
}

/** What is created is answered as by a create; other results beside it as a result. */
function answersOf(declaration: Declaration): Readonly<Record<string, Answer | ReferenceObject>> {
  const { creates, answers } = declaration;
  if (answers !== undefined)
    return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, declaredAnswer(answer)]));
  const created = creates === undefined ? {} : { 201: buildSuccessRef('written', creates) };
  return creates !== undefined && isResourceAlone(declaration)
    ? created
    : { 200: resultAnswer(declaration), ...created };
}

function declaredAnswer({ description, headers, body: kind }: OperationAnswer): Answer {
  const content = kind === undefined ? {} : { content: kind === 'lines' ? linesContent : plainJsonContent };
  return { description, headers: buildHeaderRefs([...headers, ...limitHeaders]), ...content };
}

function resultAnswer(declaration: Declaration): Answer {
  return {
    description: 'The result.',
    headers: buildHeaderRefs([...ownHeaders(declaration), ...limitHeaders]),
    content: { ...buildResourceContent(resultOf(declaration)), ...(declaration.isList ? linesContent : {}) },
  };
}

function ownHeaders({ affectsState, isList }: Declaration): readonly string[] {
  return [...(affectsState ? ['Idempotent-Replayed'] : []), ...(isList ? ['Link', 'X-Complete-Until'] : [])];
}

/** For people: what it takes and returns. */
function parameterTable({ parameters }: Declaration): string {
  const rows = parameters.map(
    ({ name, use, min, max, type, documentation }) =>
      `| \`${name}\` | ${use} | ${min}..${max} | ${type ?? 'parts'} | ${documentation} |`,
  );
  return ['| Parameter | Use | Times | Type | |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

/** In-parameters that are primitive values; others are sent in a body. */
function queryParameters(declaration: Declaration, type: string): readonly (ParameterObject | ReferenceObject)[] {
  const own = inParameters(declaration).flatMap(({ name, type: datatype, min, max, documentation }) => {
    if (datatype === undefined || !isPrimitiveType(datatype)) return [];
    const schema = buildSchemaRef(datatype);
    const parameter = buildParameter(
      'query',
      name,
      documentation,
      max === 1 ? schema : { type: 'array', items: schema },
    );
    return [min > 0 ? { ...parameter, required: true as const } : parameter];
  });
  return declaration.further === 'search' ? [...own, ...buildCriterionRefs(type)] : own;
}

function inParameters({ parameters }: Declaration): readonly OperationParameter[] {
  return parameters.filter(({ use }) => use === 'in');
}

/** Parameters, or the resource itself where a single in-parameter is one. */
function body(declaration: Declaration): RequestBody {
  const [single, ...others] = inParameters(declaration).filter((each) => isResource(each));
  const parameters = buildSchemaRef(inputSchemaName(declaration));
  const schema =
    single?.type === undefined || others.length > 0 ? parameters : { anyOf: [parameters, buildSchemaRef(single.type)] };
  const content = buildResourceContent(schema, listInputExamples(lastOfUrl(declaration)));
  return { required: inParameters(declaration).some(({ min }) => min > 0), content };
}

function isResource({ type }: OperationParameter): boolean {
  return type !== undefined && isSubtypeOf(type, 'Resource');
}

/** A single out-parameter `return` that is a resource is the answer itself (https://hl7.org/fhir/R4/operations.html#response). */
function resultOf(declaration: Declaration): Schema {
  const [first] = declaration.parameters.filter(({ use }) => use === 'out');
  return buildSchemaRef(isResourceAlone(declaration) ? (first?.type ?? 'Parameters') : 'Parameters');
}

function isResourceAlone({ parameters }: Declaration): boolean {
  const [first, ...others] = parameters.filter(({ use }) => use === 'out');
  return first?.name === 'return' && others.length === 0 && isResource(first);
}

/** The Parameters that each operation takes, by name of the schema. */
export function buildOperationInputSchemas(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    operations.map((declaration) => [inputSchemaName(declaration), inputSchema(inParameters(declaration))]),
  );
}

/** Operations of one name are told apart by the last part of their canonical URL: `ValueSet-validate-code`. */
function inputSchemaName(declaration: Declaration): string {
  return `in.${lastOfUrl(declaration)}`;
}

function lastOfUrl({ url }: Declaration): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

function inputSchema(parameters: readonly OperationParameter[]): Schema {
  const isRequired = parameters.some(({ min }) => min > 0);
  return {
    allOf: [buildSchemaRef('Parameters')],
    properties: { parameter: { type: 'array', ...itemsOf(parameters) } },
    ...(isRequired ? { required: ['parameter'] } : {}),
  };
}

/** Any of the parameters, and those that have to be there. */
function itemsOf(parameters: readonly OperationParameter[]): Schema {
  if (parameters.length === 0) return { maxItems: 0 };
  const required = parameters.filter(({ min }) => min > 0);
  const contained = required.map(({ name, min }) => ({
    contains: { type: 'object', properties: { name: { const: name } }, required: ['name'] },
    minContains: min,
  }));
  return {
    items: { anyOf: parameters.map(occurrence) },
    ...(required.length > 0 ? { minItems: required.reduce((sum, { min }) => sum + min, 0), allOf: contained } : {}),
  };
}

function occurrence({ name, type, parts, documentation }: OperationParameter): Schema {
  const member = parts === undefined ? valueMember(type ?? '') : { part: { type: 'array', ...itemsOf(parts) } };
  return {
    description: documentation,
    type: 'object',
    properties: { name: { const: name }, ...member },
    required: ['name'],
  };
}

function valueMember(type: string): Schema {
  if (isSubtypeOf(type, 'Resource')) return { resource: buildSchemaRef(type) };
  return type === 'Element' ? {} : { [`value${type.charAt(0).toUpperCase()}${type.slice(1)}`]: buildSchemaRef(type) };
}
