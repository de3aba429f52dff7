/**
 * A batch or transaction as a request: what it may cost and hold, and when its sender has left.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PraxisError } from '../base/errors.ts';
import { answerBundle } from '../bundle/answer-bundle.ts';
import type { ResponseBudget } from '../bundle/response-budget.ts';
import type { FhirCall, FhirResponse, InteractionContext } from '../engine/context.ts';
import type { RateSubject } from '../limits/rate-limit.ts';
import { findFormat } from './answer/answer-format.ts';
import { logFault, toPraxisError } from './answer/errors.ts';
import { makeBundleRate } from './rate-cost.ts';
import type { ServerServices } from './services.ts';

/** Of the room for an answer, where it is rewritten as XML, which takes more characters and much more memory. */
const partInXml = 1 / 4;

interface Asking {
  readonly subject: RateSubject & { readonly apiKey: number };
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Answers the Bundle that `call` opens. @throws PraxisError as `answerBundle` */
export async function answerBundleRequest(
  parts: ServerServices,
  context: InteractionContext,
  call: Pick<FhirCall, 'open'>,
  { subject, request, reply }: Asking,
): Promise<FhirResponse> {
  const { bundleAnswerBytesMax, bundleEntriesMax } = parts.config;
  const isInXml = findFormat(request.parsed.formats)?.kind === 'xml';
  const bytesMax = isInXml ? Math.floor(bundleAnswerBytesMax * partInXml) : bundleAnswerBytesMax;
  const responseBudget = parts.responseBudgets.open(subject.apiKey, bytesMax);
  closeAfter(reply, responseBudget);
  const told = new Set<PraxisError>();
  try {
    return await answerBundle(context, await call.open(), {
      entriesMax: bundleEntriesMax,
      faultOf(error) {
        const known = toPraxisError(error);
        if (!told.has(known)) logFault(known, parts.log, String(request.id)); // one without room is that of many entries
        told.add(known);
        return known;
      },
      rate: makeBundleRate(parts.rateLimit, subject),
      responseBudget,
      isAbandoned: () => request.raw.socket.destroyed,
    });
  } catch (error) {
    responseBudget.close(); // another attempt has a room of its own
    throw error;
  }
}

/** Closes the room when the answer has left, or nobody is there any longer to be answered. */
function closeAfter({ raw }: FastifyReply, responseBudget: ResponseBudget): void {
  const { socket } = raw.req;
  const end = (): void => {
    raw.off('finish', end);
    socket.off('close', end);
    responseBudget.close();
  };
  raw.once('finish', end);
  socket.once('close', end);
  if (socket.destroyed) end();
}
