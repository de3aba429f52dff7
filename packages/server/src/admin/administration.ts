/**
 * The administration API: from the pieces of a request to an answer. Order of checks: path → credentials → method → rate →
 * role and place → body → the action itself.
 */

import type { Action, ActionInput } from '../actions/action.ts';
import type { Fields } from '../actions/schema.ts';
import { getPlaceOfApplication, getTargetFirm } from '../actions/targets.ts';
import { fail } from '../base/errors.ts';
import type { SharedCounters } from '../limits/shared-counters.ts';
import { requireAccess, requireFieldRoles, type Segments, verifyActions } from './access.ts';
import { signInAnswer } from './actions/account.ts';
import { actions } from './actions/list.ts';
import { type AdminAct, type AuditSink, noteChange, noteRefusal, toErrorCode } from './audit-actions.ts';
import type { SessionContext } from './context.ts';
import { readBody } from './input.ts';
import { buildAnswer } from './output.ts';
import { passwordLengthMax } from './password-rules.ts';
import { openRoutes } from './routes.ts';
import { findConcerned, runAction } from './run-action.ts';
import { findSignedInCaller, type SignedInCaller } from './sessions.ts';
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
  /** Told the template of the path, once it is known, for the log. */
  readonly noteTemplate?: (template: string) => void;
  readonly readBody: () => Promise<string>;
}

export interface AdminReply {
  readonly status: 200 | 201 | 204;
  readonly body?: object | undefined;
}

/** What the actions work with, made once. */
export interface AdministrationOptions
  extends Omit<SessionContext, 'address' | 'caller' | 'rowsMax'>,
    Omit<AuditSink, 'clock'> {
  readonly counters: SharedCounters;
}

export interface Administration {
  /** @throws PraxisError for what is refused */
  answer(request: AdminRequest): Promise<AdminReply>;
}

/** Rows of one answer. */
const itemsMax = 10_000;

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
  const routes = openRoutes(actions);
  return {
    async answer(request) {
      if (request.path === sessionsPath) {
        request.noteTemplate?.(sessionsPath);
        return await answerSignIn(options, request);
      }
      const match =
        routes.find(request.path) ??
        fail('path-unknown', {
          diagnostics: `No such path${routes.suggest(request.path) || ':'} GET /admin/openapi.json lists the paths`,
        });
      const { segments, template } = match;
      request.noteTemplate?.(template);
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
  const [username, password] = [String(body['username']), String(body['password'])];
  const context: SignInContext = { ...options, address: request.address };
  // What was typed for a username may be a password: a refusal does not repeat it.
  const about = { action: 'sign-in', segments: {}, requestId: request.id };
  const issued = await refusalNoted(options, about, () => signIn(context, username, password));
  await noteChange(options, { ...about, caller: issued }, { firms: [] });
  return { status: 201, body: buildAnswer({ kind: 'one', shape: signInAnswer }, issued, itemsMax) };
}

async function act(
  options: AdministrationOptions,
  action: Action<string, Fields, SessionContext>,
  segments: Segments,
  request: AdminRequest,
  caller: SignedInCaller,
): Promise<AdminReply> {
  const about = { action: action.name, segments, requestId: request.id, caller };
  const context: SessionContext = { ...options, rowsMax: itemsMax, address: request.address, caller };
  const input = await refusalNoted(options, about, async () => {
    count(options, caller);
    requireAccess(action, caller, segments);
    requireNoQuery(request);
    const body = readBody(action.fields, request.contentType, await request.readBody());
    requireFieldRoles(action, caller, body);
    return { path: segments, body };
  });
  const result = await runNoted(context, options, action, about, input);
  const body = buildAnswer(action.output, result, itemsMax);
  if (body === undefined) return { status: 204 };
  return { status: action.creates === true ? 201 : 200, body };
}

/** Runs `work`; notes a refusal before it goes on. */
async function refusalNoted<T>(options: AdministrationOptions, about: AdminAct, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await noteRefusal(options, about, toErrorCode(error));
    throw error;
  }
}

/** Runs an action; what may change something is noted before, and again when it failed. */
async function runNoted(
  context: SessionContext,
  options: AdministrationOptions,
  action: Action<string, Fields, SessionContext>,
  about: AdminAct & Required<Pick<AdminAct, 'caller'>>,
  input: ActionInput<string, Fields>,
): Promise<unknown> {
  if (action.method === 'GET') return await runAction(action, context, input);
  const { environment, firm, application, at } = about.segments;
  if (environment !== undefined && firm !== undefined)
    await refusalNoted(options, about, () => getTargetFirm(context, { environment, firm }));
  if (environment !== undefined && application !== undefined && at !== undefined)
    await refusalNoted(options, about, () => getPlaceOfApplication(context, { environment, application, at }));
  const change = await noteChange(options, about, findConcerned(action, input));
  const result = await runAction(action, context, input).catch(async (error: unknown) => {
    await change.fail(error);
    throw error;
  });
  await change.done();
  return result;
}

async function authenticate(options: AdministrationOptions, { authorization }: AdminRequest): Promise<SignedInCaller> {
  const [header, ...others] = authorization;
  if (header === undefined) {
    return fail('credentials-missing', {
      diagnostics:
        'Bearer token is missing: sign in at POST /admin/api/sessions, then send Authorization: Bearer <token>',
      headers: challenge,
    });
  }
  const token = others.length === 0 ? /^Bearer +(\S+)$/i.exec(header)?.[1] : undefined;
  const caller = token === undefined ? undefined : await findSignedInCaller(options, token);
  return (
    caller ??
    fail('credentials-invalid', {
      diagnostics: 'Bearer token is not that of a live session or API token of an administrator: sign in',
      headers: challenge,
    })
  );
}

function count({ counters, clock }: AdministrationOptions, { administrator }: SignedInCaller): void {
  if (counters.add(`administrator:${administrator}`, 1) <= requestsPerMinuteMax) return;
  const seconds = Math.max(1, Math.ceil((counters.endMs() - clock.now()) / 1000));
  fail('rate-exceeded', {
    diagnostics: `The ${requestsPerMinuteMax} requests a minute of this administrator are used up: wait ${seconds} s`,
    headers: { 'retry-after': String(seconds) },
    limit: 'administrator',
  });
}

function requireNoQuery({ query }: AdminRequest): void {
  if (query !== '') fail('input-invalid', { diagnostics: 'Administration takes no query: fields go into the body' });
}

function methodNotAllowed(methods: readonly string[]): never {
  const allow = methods.join(', ');
  return fail('method-not-allowed', { diagnostics: `This path takes ${allow}`, headers: { allow } });
}
