/**
 * The program behind a User-Agent header, as far as it is kept: the name of its first product
 * (https://www.rfc-editor.org/rfc/rfc9110#section-10.1.5), without version and comments. Names that could be a number of a
 * person or an address are not kept.
 */

/** No User-Agent was sent. */
export const noAgent = '(none)';
/** A User-Agent that is not kept, or one more than an application may have. */
export const otherAgent = '(other)';

/** Programs that are told apart for one application; all further ones are `(other)`. */
export const agentsPerApplicationMax = 20;

/** A product name of at most 32 characters that begins with a letter. */
const productPattern = /^([A-Za-z][A-Za-z0-9._+-]{0,31})(?:[/ ]|$)/;
const longNumberPattern = /\d{5}/;

export function parseUserAgent(userAgent: string | undefined): string {
  const text = userAgent?.trim() ?? '';
  if (text === '') return noAgent;
  const name = productPattern.exec(text)?.[1];
  return name === undefined || longNumberPattern.test(name) ? otherAgent : name;
}
