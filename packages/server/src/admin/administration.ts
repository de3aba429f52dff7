/**
 * The administration API: from the pieces of a request to an answer. Order of checks: path → credentials → method → rate →
 * role and place → body → the action itself.
 */

import type { Action, Fields } from '../actions/action.ts';
import { firmOf } from '../actions/targets.ts';
import { firmsOfApplication } from '../audit/administration.ts';
import { type ErrorCode, fail, PraxisError } from '../base/errors.ts';
import type { SharedCounters } from '../limits/shared-counters.ts';
import { CostlyParameters } from '../search/index/costly-parameters.ts';
import { openOperatorScope } from '../tenancy/operator.ts';
import { requireAccess, requireFieldRoles, type Segments, verifyActions } from './access.ts';
import { signInAnswer } from './actions/account.ts';
import { actions } from './actions/list.ts';
import { type AdminAct, type AuditSink, noteChange, noteChangeAtFirms, noteRefusal } from './audit-actions.ts';
import type { SessionContext } from './context.ts';
import { readBody } from './input.ts';
import { answerOf } from './output.ts';
import { passwordLengthMax } from './password-rules.ts';
import { openRoutes } from './routes.ts';
import { type Caller, findCaller } from './sessions.ts';
import { type SignInContext, signIn } from './sign-in.ts';

/** A request as it was received: every value of each header, in order. */
export interface AdminRequest {
  readonly method: string;
  /** Below /admin/api, without the query, as it was sent. */
  readonly path: string;
  readonly query: string;
  readonly authorization: readonly string[];
  readonly contentType: readonly string[];
  readonly address: string;
  readonly id: string;
  readonly readBody: () => Promise<string>;
}

export interface AdminReply {
  readonly status: 200 | 201 | 204;
  readonly body?: object | undefined;
}

/** What the actions work with, made once. */
export interface AdministrationOptions extends Omit<SessionContext, 'address' | 'caller'>, Omit<AuditSink, 'clock'> {
  readonly counters: SharedCounters;
}

export interface Administration {
  /** @throws PraxisError for what is refused */
  answer(request: AdminRequest): Promise<AdminReply>;
}

/** Requests a minute of one administrator, by all sessions and API tokens together. */
export const requestsPerMinuteMax = 600;

export const sessionsPath = '/sessions';

export const signInFields = {
  username: { kind: 'text', lengthMax: 63, required: true, description: 'The username.' },
  password: { kind: 'text', lengthMax: passwordLengthMax, required: true, description: 'The password.' },
} as const satisfies Fields;

const challenge = { 'www-authenticate': 'Bearer realm="praxis administration"' };

/** The administration API over the functions that the command line calls, too. */
export function openAdministration(options: AdministrationOptions): Administration {
  verifyActions(actions);
  const find = openRoutes(actions);
  return {
    async answer(request) {
      if (request.path === sessionsPath) return await answerSignIn(options, request);
      const match = find(request.path) ?? unknownPath();
      const { segments } = match;
      const stranger = { action: 'authenticate', segments, requestId: request.id };
      const caller = await refusalNoted(options, stranger, () => authenticate(options, request));
      const action = match.actions.get(request.method) ?? methodNotAllowed([...match.actions.keys()]);
      return await act(options, action, segments, request, caller);
    },
  };
}

async function answerSignIn(options: AdministrationOptions, request: AdminRequest): Promise<AdminReply> {
  if (request.method !== 'POST') methodNotAllowed(['POST']);
  requireNoQuery(request);
  const body = readBody(signInFields, request.contentType, await request.readBody());
  const { username, password } = { username: String(body['username']), password: String(body['password']) };
  const context: SignInContext = { ...options, address: request.address };
  // What was typed for a username may be a password: a refusal does not repeat it.
  const about = { action: 'sign-in', segments: {}, requestId: request.id };
  const issued = await refusalNoted(options, about, () => signIn(context, username, password));
  await noteChange(options, { ...about, caller: issued }, undefined);
  return { status: 201, body: answerOf({ kind: 'one', shape: signInAnswer }, issued) };
}

async function act(
  options: AdministrationOptions,
  action: Action<string, Fields, SessionContext>,
  segments: Segments,
  request: AdminRequest,
  caller: Caller,
): Promise<AdminReply> {
  const about = { action: action.name, segments, requestId: request.id, caller };
  const context: SessionContext = { ...options, address: request.address, caller };
  const input = await refusalNoted(options, about, async () => {
    count(options, caller);
    requireAccess(action, caller, segments);
    requireNoQuery(request);
    const body = readBody(action.fields, request.contentType, await request.readBody());
    requireFieldRoles(action, caller, body);
    return { path: segments, body };
  });
  const result = await changeNoted(context, options, action, about, () =>
    whenFresh(context, segments, () => action.run(context, input)),
  );
  const body = answerOf(action.output, result);
  if (body === undefined) return { status: 204 };
  return { status: action.creates === true ? 201 : 200, body };
}

/** Times that an action is begun again because rights at the firm changed while it ran; nothing was written then. */
const freshMax = 3;

/** An action acts as the operator at the firm, whose rights become old with those of everybody there. */
async function whenFresh<T>(context: SessionContext, segments: Segments, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof CostlyParameters) await failCostly(context, segments, error);
      if (codeOf(error) !== 'stale-access' || attempt === freshMax) throw error;
    }
  }
}

/** The action is not refused for definitions of the firm's that cost too much: they are marked as failed. */
async function failCostly(
  context: SessionContext,
  { environment = '', firm: prefix = '' }: Segments,
  { failed }: CostlyParameters,
): Promise<void> {
  const { database, clock, store } = context;
  const scope = await openOperatorScope(database, clock, await firmOf(context, { environment, firm: prefix }));
  await store.failParameters(scope, failed);
}

/** Runs `work`; notes a refusal before it goes on. */
async function refusalNoted<T>(options: AdministrationOptions, about: AdminAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await noteRefusal(options, about, codeOf(error));
    throw error;
  }
}

/**
 * Runs `work`; what may change something is noted before, and again when it failed. A change of an application as a whole
 * is noted at the firms for which it counts once it was made, and answered when that is written.
 */
async function changeNoted<T>(
  context: SessionContext,
  options: AdministrationOptions,
  { method }: Action,
  about: AdminAct & Required<Pick<AdminAct, 'caller'>>,
  work: () => Promise<T>,
): Promise<T> {
  if (method === 'GET') return await work();
  const { environment, firm, application } = about.segments;
  const concerned =
    environment === undefined || firm === undefined
      ? undefined
      : (await refusalNoted(options, about, () => firmOf(context, { environment, firm }))).id;
  const isWhole = environment !== undefined && application !== undefined && firm === undefined;
  const firms = isWhole ? await firmsOfApplication(options, { environment, application }) : [];
  await noteChange(options, about, concerned);
  const result = await failureNoted(options, about, concerned, work);
  await noteChangeAtFirms(options, about, firms);
  return result;
}

async function failureNoted<T>(
  options: AdministrationOptions,
  about: AdminAct & Required<Pick<AdminAct, 'caller'>>,
  firm: number | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await noteChange(options, about, firm, codeOf(error));
    throw error;
  }
}

function codeOf(error: unknown): ErrorCode {
  return error instanceof PraxisError ? error.code : 'internal';
}

async function authenticate(options: AdministrationOptions, { authorization }: AdminRequest): Promise<Caller> {
  const [header, ...others] = authorization;
  if (header === undefined) {
    return fail('credentials-missing', {
      diagnostics:
        'Bearer token is missing: sign in at POST /admin/api/sessions, then send Authorization: Bearer <token>',
      headers: challenge,
    });
  }
  const token = others.length === 0 ? /^Bearer +(\S+)$/i.exec(header)?.[1] : undefined;
  const caller = token === undefined ? undefined : await findCaller(options, token);
  return (
    caller ??
    fail('credentials-invalid', {
      diagnostics: 'Bearer token is not that of a live session or API token of an administrator: sign in',
      headers: challenge,
    })
  );
}

function count({ counters, clock }: AdministrationOptions, { administrator }: Caller): void {
  if (counters.add(`administrator:${administrator}`, 1) <= requestsPerMinuteMax) return;
  const seconds = Math.max(1, Math.ceil((counters.endMs() - clock.now()) / 1000));
  fail('rate-exceeded', {
    diagnostics: `The ${requestsPerMinuteMax} requests a minute of this administrator are used up: wait ${seconds} s`,
    headers: { 'retry-after': String(seconds) },
  });
}

function requireNoQuery({ query }: AdminRequest): void {
  if (query !== '') fail('input-invalid', { diagnostics: 'Administration takes no query: fields go into the body' });
}

function methodNotAllowed(methods: readonly string[]): never {
  const allow = methods.join(', ');
  return fail('method-not-allowed', { diagnostics: `This path takes ${allow}`, headers: { allow } });
}

function unknownPath(): never {
  return fail('path-unknown', { diagnostics: 'No such path: GET /admin/openapi.json tells those that there are' });
}
