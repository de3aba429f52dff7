/**
 * The OpenAPI document of the administration API (https://spec.openapis.org/oas/v3.1.1.html), derived from the list of its
 * actions.
 */
import type { Action } from '../actions/action.ts';
import { type Field, type Fields, type Member, type Output, roles, type Shape } from '../actions/schema.ts';
import { signInAnswer } from '../admin/actions/account.ts';
import { actions } from '../admin/actions/list.ts';
import { sessionsPath, signInFields } from '../admin/administration.ts';
import { type ErrorCode, errorTable } from '../base/errors.ts';
import {
  type Answer,
  buildComponentRef,
  buildPathParameter,
  buildSchemaRef,
  type OperationObject,
  type PathItem,
  type Paths,
  type ReferenceObject,
  type RequestBody,
  type Schema,
  toCamelCase,
} from './openapi.ts';

export interface AdministrationDocument {
  readonly openapi: string;
  readonly paths: Paths;
  readonly tags: readonly { readonly name: string }[];
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [member: string]: unknown;
}

const root = '/admin/api';

/** The document. */
export function buildAdministrationDocument(softwareVersion: string): AdministrationDocument {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Praxis administration',
      version: softwareVersion,
      summary: 'Firms, applications, credentials and authorisations.',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: root }],
    security: [{ bearer: [] }],
    tags: [...new Set(['sign-in', ...actions.map(tagOf)])].map((name) => ({ name })),
    paths: { [sessionsPath]: { post: signIn() }, ...actionPaths() },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A session or an API token of an administrator.' },
      },
      responses: refusalAnswers(),
      schemas: { Problem: problem },
    },
  };
}

const description = `Sign in at \`POST ${root}/sessions\`, then send \`Authorization: Bearer …\`. An operator may do all of it, a
practice administrator what lies below its firm, a vendor what lies below its application; what a role may not see is
answered like what does not exist. Names in paths are percent-encoded.`;

const problem: Schema = {
  type: 'object',
  description: 'Problem details, https://www.rfc-editor.org/rfc/rfc9457',
  required: ['type', 'title', 'status', 'detail', 'code', 'errors'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'The cause and the remedy.' },
    code: { type: 'string', description: 'An error code of the documentation.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['field', 'detail'],
        properties: { field: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
};

/** Refusals that an action may be answered with. */
const refusals = {
  400: ['input-invalid', 'json-malformed', 'request-malformed'],
  401: ['credentials-missing', 'credentials-invalid'],
  403: ['role-missing'],
  404: ['path-unknown', 'resource-not-found'],
  405: ['method-not-allowed'],
  409: ['duplicate'],
  413: ['body-too-large'],
  415: ['media-type-unsupported'],
  422: ['rule-broken'],
  429: ['rate-exceeded'],
  500: ['internal'],
  503: ['unavailable', 'statement-timeout'],
} as const satisfies Readonly<Record<number, readonly ErrorCode[]>>;

function refusalAnswers(): Readonly<Record<string, Answer>> {
  return Object.fromEntries(
    Object.entries(refusals).map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errorTable[code].meaning}`).join('\n\n'),
        content: { 'application/problem+json': { schema: buildSchemaRef('Problem') } },
      },
    ]),
  );
}

function refusalRefs(): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(Object.keys(refusals).map((status) => [status, buildComponentRef('responses', status)]));
}

/** `legacy sunset set` → `legacy` */
function tagOf({ name }: Pick<Action, 'name'>): string {
  return name.split(' ')[0] ?? name;
}

function signIn(): OperationObject {
  return {
    operationId: 'signIn',
    summary: 'Sign in with username and password and get a session',
    tags: ['sign-in'],
    security: [],
    requestBody: bodyOf(signInFields),
    responses: { 201: answer('A session.', { kind: 'one', shape: signInAnswer }), ...refusalRefs() },
  };
}

function actionPaths(): Paths {
  const paths = new Map<string, PathItem>();
  for (const action of actions) {
    const parameters = [...action.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) =>
      buildPathParameter(name, 'As its list shows it, percent-encoded.', { type: 'string' }),
    );
    const shared = parameters.length === 0 ? {} : { parameters };
    const method = action.method.toLowerCase();
    paths.set(action.path, { ...paths.get(action.path), ...shared, [method]: operationOf(action) });
  }
  return Object.fromEntries(paths);
}

function operationOf(action: Action): OperationObject {
  const { name, summary, fields, output, creates, sessionOnly } = action;
  const who = action.roles.length === roles.length ? 'everybody who is signed in' : action.roles.join(', ');
  const own = sessionOnly === true ? ' Not by an API token.' : '';
  const status = output.kind === 'nothing' ? 204 : creates === true ? 201 : 200;
  return {
    operationId: toCamelCase(name.replaceAll(' ', '-')),
    summary,
    description: [`For ${who}.${own}`, action.description, action.requestNote].filter(Boolean).join(' '),
    tags: [tagOf(action)],
    ...(Object.keys(fields).length === 0 ? {} : { requestBody: bodyOf(fields) }),
    responses: {
      [status]: answer(output.kind === 'nothing' ? 'It is done.' : 'What there is now.', output),
      ...refusalRefs(),
    },
  };
}

function bodyOf(fields: Fields): RequestBody {
  const required = Object.keys(fields).filter((name) => fields[name]?.required === true);
  const properties = Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)] as const);
  const schema = objectSchema(required, properties);
  return { required: required.length > 0, content: { 'application/json': { schema } } };
}

/** Of these properties, and no others. */
function objectSchema(required: readonly string[], properties: readonly (readonly [string, Schema])[]): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(properties),
  };
}

function fieldSchema(field: Field): Schema {
  const who = field.roles === undefined ? '' : ` Only by the role ${field.roles.join(' or ')}.`;
  return { ...fieldType(field), description: `${field.description}${who}` };
}

function fieldType(field: Field): Schema {
  switch (field.kind) {
    case 'text':
      return { type: 'string', minLength: 1, maxLength: field.lengthMax };
    case 'integer':
      return { type: 'integer', minimum: field.min, maximum: field.max };
    case 'texts':
      return {
        type: 'array',
        maxItems: field.itemsMax,
        items: { type: 'string', minLength: 1, maxLength: field.lengthMax },
      };
    case 'flags':
      return {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(field.names.map((name) => [name, { type: 'boolean' }])),
      };
    case 'object':
      return { type: 'object' };
    default:
      return memberType(field);
  }
}

function answer(text: string, output: Output): Answer {
  if (output.kind === 'nothing') return { description: text };
  const one = shapeSchema(output.shape);
  const schema: Schema =
    output.kind === 'one'
      ? one
      : {
          type: 'object',
          required: ['items', 'more'],
          properties: {
            items: { type: 'array', items: one },
            more: { type: 'boolean', description: 'Whether there are more than listed.' },
          },
        };
  return { description: text, content: { 'application/json': { schema } } };
}

function shapeSchema(shape: Shape): Schema {
  const required = Object.keys(shape).filter((name) => shape[name]?.optional !== true);
  return objectSchema(
    required,
    Object.entries(shape).map(([name, member]) => [name, memberSchema(member)]),
  );
}

function memberSchema(member: Member): Schema {
  const { type, ...rest } = memberType(member);
  return { type: member.nullable === true ? [type, 'null'] : type, ...rest, description: member.description };
}

function memberType(member: Member): Schema {
  switch (member.kind) {
    case 'text':
      return { type: 'string' };
    case 'choice':
      return { type: 'string', enum: member.values };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'integer':
      return { type: 'integer' };
    case 'flag':
      return { type: 'boolean' };
    case 'texts':
      return { type: 'array', items: { type: 'string' } };
    case 'flags':
      return { type: 'object', additionalProperties: { type: 'boolean' } };
    case 'document':
      return { type: 'object' };
    case 'object':
      return shapeSchema(member.shape);
    case 'list':
      return { type: 'array', items: shapeSchema(member.shape) };
  }
}
