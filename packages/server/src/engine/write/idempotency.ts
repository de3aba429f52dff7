/**
 * Requests with an Idempotency-Key take effect once
 * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/): whoever repeats one gets the first answer,
 * under the rights of now. How, and what a failed one leaves: docs/decisions/0173.
 */
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../../access/disclosure.ts';
import { fail } from '../../base/errors.ts';
import type { AnswerToKeep, KeptAnswer, KeyClaim } from '../../storage/store.ts';
import { openAudit } from '../audit-recorder.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from '../context.ts';
import { buildWithheldOutcome } from '../outcome.ts';

/** Bodies longer than this are not kept, in UTF-8 bytes: their replay tells what was done, and the body can be read. */
const bodyBytesMax = 1_048_576;

/** The hash that a key of the caller is kept by. */
export function hashIdempotencyKey(
  { secrets, scope }: Pick<InteractionContext, 'secrets' | 'scope'>,
  key: string,
): Buffer {
  return secrets.hash('idempotency-key', JSON.stringify(['key', scope.firm, scope.application, key]));
}

/**
 * The answer of `work`, run in one transaction with the key of the request; or the first answer to it. Without a key,
 * `work` is just run. Nothing of the first answer is told to rights other than those that it was given under.
 * @throws PraxisError `key-reused`, `conflict` (the first request is still under way), and what `work` throws
 */
export async function withIdempotency(
  context: InteractionContext,
  request: FhirRequest,
  work: (inside: InteractionContext) => Promise<FhirResponse>,
): Promise<FhirResponse> {
  const { idempotency } = request;
  if (idempotency === undefined) return await work(context);
  const asked = JSON.stringify(['request', await idempotency.asked()]);
  const claim: KeyClaim = {
    key: hashIdempotencyKey(context, idempotency.key),
    request: context.secrets.hash('idempotency-key', asked),
    policy: context.policy.fingerprint,
    atMs: context.clock.now(),
  };
  const trailBefore = context.trail.length;
  const outcome = await context.store.once(context.scope, claim, async (store) => {
    context.trail.length = trailBefore; // a run that was undone has shown nothing
    const answer = await work({ ...context, store });
    return { answer, keep: answerToKeep(context, claim, answer) };
  });
  return 'answer' in outcome ? outcome.answer : await replayAnswer(context, request, claim, outcome.kept);
}

function answerToKeep(context: InteractionContext, claim: KeyClaim, response: FhirResponse): AnswerToKeep {
  const { status, id, versionId, lastUpdatedMs, location, body } = response;
  const bytes = body === undefined ? undefined : Buffer.from(unwrapDisclosed(body));
  const isKept = bytes !== undefined && bytes.length <= bodyBytesMax;
  return {
    status,
    facts: {
      ...(id === undefined ? {} : { id }),
      ...(versionId === undefined ? {} : { versionId }),
      ...(lastUpdatedMs === undefined ? {} : { lastUpdatedMs }),
      ...(location === undefined ? {} : { location }),
      ...(bytes === undefined ? {} : { hasBody: true }),
    },
    body: isKept ? context.secrets.seal('kept-answer', bytes, bindingOf(context, claim)) : undefined,
  };
}

async function replayAnswer(
  context: InteractionContext,
  request: FhirRequest,
  claim: KeyClaim,
  answer: KeptAnswer,
): Promise<FhirResponse> {
  if (!answer.request.equals(claim.request)) {
    return fail('key-reused', {
      diagnostics:
        'Idempotency-Key was used for another request (method, URL, preconditions or body differ): take a new key for each request',
      expression: ['Idempotency-Key'],
    });
  }
  const { hasBody, ...facts } = answer.facts;
  const response: FhirResponse = { status: answer.status, ...facts, isReplayed: true };
  if (context.note !== undefined) context.note.wrote = true; // by the first request: its row is in the ledger
  if (hasBody !== true) return response;
  const accessed = { interaction: 'read', type: request.type, id: facts.id ?? request.id, versionId: '' };
  const { inside, answered, refused } = openAudit(context, accessed);
  try {
    const body = bodyOf(context, claim, answer);
    if (body !== undefined) {
      inside.note.shown += 1;
      inside.note.patients.addOf(accessed.type, accessed.id, unwrapDisclosed(body), context.baseUrl);
    }
    return answered({ ...response, body: body ?? buildWithheldOutcome() });
  } catch (error) {
    throw refused(error);
  }
}

/** What was disclosed under the same rights before; undefined where rights have changed, or it was not kept. */
function bodyOf(context: InteractionContext, claim: KeyClaim, answer: KeptAnswer): Disclosed<string> | undefined {
  if (answer.policy !== context.policy.fingerprint || answer.body === undefined) return undefined;
  const bytes = context.secrets.open('kept-answer', answer.body, bindingOf(context, claim));
  return bytes === undefined ? undefined : markServerWritten(bytes.toString());
}

function bindingOf({ scope }: InteractionContext, { key }: KeyClaim): string {
  return JSON.stringify(['kept-answer', scope.firm, scope.application, key.toString('hex')]);
}
