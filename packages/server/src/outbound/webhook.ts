/**
 * Messages to endpoints that subscribers name, signed as Standard Webhooks says
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
 */
import { version } from '../version.ts';
import { runUntil } from './deadline.ts';
import { describeFailure } from './failures.ts';
import type { KeptConnections } from './kept-connections.ts';
import { refuseTarget } from './outbound-error.ts';
import { requestPinned } from './pinned-request.ts';
import { parseRetryAfter } from './retry-after.ts';
import { resolveTarget, type TargetOptions } from './target.ts';
import { findWebhookHeaderProblem } from './webhook-headers.ts';
import { type SignedContent, signWebhook } from './webhook-signature.ts';

export interface SignedMessage extends SignedContent {
  readonly url: string;
  /** Default POST. */
  readonly method?: 'POST' | 'PUT';
  /** `content-type` of the body, and what `parseWebhookHeaders` returned. */
  readonly headers: Readonly<Record<string, string>>;
  /** `whsec_…`; the message is signed by each. */
  readonly secrets: readonly string[];
  /** For all of it: name, connection, TLS, sending, headers and body of the answer. Default 15 s. */
  readonly timeoutMs?: number;
  /** Bytes of the answer that are read, its headers included. Default 64 KiB. */
  readonly responseBytesMax?: number;
}

export interface OutboundOptions extends TargetOptions {
  /** Connections that messages share, one after the other; without them each message has one of its own. */
  readonly connections?: KeptConnections;
  /** Gives the message up. */
  readonly signal?: AbortSignal;
}

export type MessageOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** What its Retry-After says, at most a day. A date is compared with the timestamp of the message. */
      readonly retryAfterSeconds?: number;
    }
  | {
      readonly kind: 'unreachable';
      /** Follows the name of the endpoint; nothing that the endpoint said. */
      readonly reason: string;
    };

const timeoutMsDefault = 15_000;
const responseBytesDefault = 65_536;

/**
 * Sends a message once, to an address that is checked now. Whatever URL, headers and endpoint are like is an outcome and no
 * error. An answer counts when it has come to its end, whatever its status.
 * @throws TypeError for an id or a timestamp that cannot be signed; OutboundError for what is no secret
 */
export async function postSigned(message: SignedMessage, options: OutboundOptions): Promise<MessageOutcome> {
  const signature = signWebhook(message, message.secrets);
  try {
    return await runUntil(message.timeoutMs ?? timeoutMsDefault, options.signal, async (signal) => {
      requireOwnHeaders(message.headers);
      const { status, headers } = await requestPinned(await resolveTarget(message.url, options, signal), {
        method: message.method ?? 'POST',
        headers: {
          'user-agent': `Praxis/${version}`,
          ...message.headers,
          ...signature,
          'content-length': String(message.body.length),
        },
        body: message.body,
        answerBytesMax: message.responseBytesMax ?? responseBytesDefault,
        connections: options.connections,
        signal,
      });
      const retryAfterSeconds = parseRetryAfter(headers['retry-after'], message.timestamp);
      return { kind: 'answered', status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
    });
  } catch (error) {
    return { kind: 'unreachable', reason: describeFailure(error) };
  }
}

/** What was stored under rules of an earlier version is judged by those of now. */
function requireOwnHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const problem = findWebhookHeaderProblem(name.toLowerCase(), value);
    if (problem !== undefined && !/^content-type$/i.test(name)) refuseTarget(`has a header that ${problem}`);
  }
}
