/** Handing a notification to a program on this machine, signed as the service signs those of rest-hook. */
import { signWebhook } from '../../outbound/webhook-signature.ts';

/** As long as the service waits for an endpoint, in ms. */
const answerMaxMs = 15_000;

/** @returns the status of the answer, or why there is none */
export async function forward(url: string, secret: string, id: string, text: string): Promise<string> {
  const body = Buffer.from(text);
  const signature = signWebhook({ id, timestamp: Math.floor(Date.now() / 1000), body }, [secret]);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...signature, 'content-type': 'application/fhir+json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerMaxMs),
    });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? cause.message || cause.name : 'no answer';
  }
}
