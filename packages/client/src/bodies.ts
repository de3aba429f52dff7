/** Bodies of answers as streams. */
import { type Failure, makeCause, makeError } from './errors.ts';

/** Longest text of an answer that is read, in bytes. */
const textBytesMax = 128 * 1024 * 1024;

/** The text of an answer. @throws PraxisError `answer-too-large` */
export async function readText(response: Response, request: Pick<Failure, 'method' | 'path'>): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return await response.text();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
    if (bytes <= textBytesMax) continue;
    await reader.cancel();
    const cause = makeCause('answer-too-large', `The answer has more than ${textBytesMax} bytes`);
    throw makeError({ ...request, status: response.status, ...cause });
  }
}

/** The same answer, that calls `end` when its body was read, was cancelled, or has failed. */
export function tellEnd(response: Response, end: () => void): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    end();
    return response;
  }
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      end();
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
