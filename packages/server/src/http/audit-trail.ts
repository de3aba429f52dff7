/**
 * From requests to the audit ledger: what an attempt left in its trail, who was turned away before any firm was entered,
 * and what the token endpoints did. Requests wait here when the ledger cannot keep up.
 */
import type { FastifyRequest } from 'fastify';
import { type AccessRow, serviceLedger } from '../audit/audit-row.ts';
import { buildRefusedRow, describeRefusal } from '../engine/audit-recorder.ts';
import type { InteractionContext } from '../engine/context.ts';
import type { ApiCredentials } from '../oauth/session/session.ts';
import type { TokenReply } from '../oauth/token-endpoint.ts';
import type { ServerServices } from './services.ts';

/** The attempt under way. */
export interface AnswerAttempt {
  readonly context: InteractionContext;
  /** What is asked for, for a refusal that comes before any interaction has begun. */
  readonly asked: { readonly interaction: string; readonly type: string; readonly id: string };
}

/** What one request leaves in the ledger, over all attempts to answer it. */
export interface RequestRecord {
  /** An attempt starts: the rows of the one before are forgotten. */
  begin(attempt: AnswerAttempt): void;
  /**
   * Waits for the answer, then hands the rows of the last attempt to the ledger of the firm, or says in the service's own that
   * the caller was turned away at the door.
   */
  settle<T>(answer: Promise<T>): Promise<T>;
}

export function openRequestRecord(
  parts: ServerServices,
  request: FastifyRequest,
  credentials: ApiCredentials,
): RequestRecord {
  let last: AnswerAttempt | undefined;
  return {
    begin(attempt) {
      last = attempt;
    },
    async settle(answer) {
      try {
        return await answer;
      } catch (error) {
        if (last === undefined)
          await parts.ledger.keep(serviceLedger, [turnedAway(parts, request, credentials, error)]);
        else if (!last.context.trail.some(({ reason }) => reason !== undefined)) noteRefusal(last, error);
        throw error;
      } finally {
        if (last !== undefined) {
          const { scope, trail } = last.context;
          parts.ledger.touch(scope.firm); // writes have left their rows by themselves
          const room = parts.ledger.keep(scope.firm, trail);
          if (room !== undefined) await room;
        }
      }
    },
  };
}

/** Of what was refused before an interaction began, such as a request beyond the limit. */
function noteRefusal({ context, asked }: AnswerAttempt, error: unknown): void {
  const row = buildRefusedRow(context, { ...asked, versionId: '' }, error);
  const { application, subject, interaction, reason } = row;
  context.trail.push({ ...row, repeats: JSON.stringify([application, subject, interaction, reason]) });
}

/** Who it was is not known, or not to be believed. */
function turnedAway(
  parts: ServerServices,
  request: FastifyRequest,
  { environment, firmPrefix }: ApiCredentials,
  error: unknown,
): AccessRow {
  const refusal = describeRefusal(error);
  const place = `${environment.name}/${firmPrefix}`;
  return {
    atMs: parts.clock.now(),
    application: 0,
    interaction: 'authenticate',
    id: place,
    requestId: String(request.id),
    ...refusal,
    repeats: JSON.stringify(['authenticate', place, refusal.reason]),
  };
}

/**
 * Keeps the row of a token request, an introspection or a revocation in the service's ledger, and in that of the firm where
 * the caller has proved to have an account; a firm that was only named learns nothing. The token itself is nowhere in it.
 * Undefined, or a promise of room to wait for, in the same cases wherever the row goes.
 * @param place the realm, or environment and firm of the legacy endpoint
 */
export function keepTokenRow(
  parts: Pick<ServerServices, 'clock' | 'ledger'>,
  request: FastifyRequest,
  action: 'token' | 'introspect' | 'revoke',
  place: string,
  { record, status }: TokenReply,
): Promise<void> | undefined {
  const { grantType, outcome, subject, application, tokenId, active, firm } = record;
  const flow = grantType ?? record.flow;
  const repeats = JSON.stringify([action, place, flow, outcome, subject, application, tokenId]);
  const row: AccessRow = {
    atMs: parts.clock.now(),
    application: application ?? 0,
    interaction: action,
    id: place,
    requestId: String(request.id),
    outcome: status === 200 ? 0 : status >= 500 ? 8 : 4,
    ...(flow === undefined ? {} : { flow }),
    ...(subject === undefined ? {} : { subject }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(active === true ? { shown: 1 } : {}),
    ...(status === 200 ? {} : { reason: outcome, repeats }),
  };
  const room = parts.ledger.keep(serviceLedger, [row]);
  return firm === undefined ? room : (parts.ledger.keep(firm, [row]) ?? room);
}
