/** Headers that may come more than once, of which each value counts. */
import type { IncomingMessage } from 'node:http';

/**
 * Every value of a header, in order; none: it was not sent. In a fraction of the time of `headersDistinct`, which reads all of
 * them. @param name in lower case
 */
export function listHeaderValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? '';
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}
