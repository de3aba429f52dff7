/** Headers that a subscriber adds to its webhooks, such as `Authorization: Bearer …`: which ones, and how many. */
import { OutboundError } from './outbound-error.ts';

const headersMax = 16;
const nameCharactersMax = 64;
const valueCharactersMax = 4_096;
/** Of all names and values. */
const charactersMax = 8_192;

/** Names that others of the way read, or that the server sets itself; those of a family by what they begin with. */
const refusedNames: ReadonlySet<string> = new Set([
  // about the connection: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // about who asks, and by which way it came
  'cookie',
  'cookie2',
  'forwarded',
  'origin',
  'referer',
  'via',
  'x-real-ip',
  // set by the server
  'accept-encoding',
  'date',
  'user-agent',
  // which make another request of it
  'range',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);
const refusedPrefixes = ['content-', 'if-', 'proxy-', 'sec-', 'webhook-', 'x-forwarded-'];

/**
 * The headers in lines such as `Authorization: Bearer abc`, by their names in lower case.
 * @throws OutboundError naming the line by its number, and the rule that it breaks; never a value, which may be a secret
 */
export function parseWebhookHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  if (lines.length > headersMax) throw new OutboundError(`has more than ${headersMax} headers`);
  if (lines.reduce((sum, line) => sum + line.length, 0) > charactersMax)
    throw new OutboundError(`has headers of more than ${charactersMax} characters`);
  const headers = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const refuse = (rule: string): never => {
      throw new OutboundError(`has a header (number ${index + 1}) that ${rule}`);
    };
    const colon = line.indexOf(':');
    if (colon < 0) refuse('is not of the form `Name: value`');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '');
    const problem = findWebhookHeaderProblem(name, value);
    if (problem !== undefined) refuse(problem);
    if (headers.has(name)) refuse('is there twice');
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

/** The rule that a header of a subscriber breaks; undefined if it breaks none. @param name in lower case */
export function findWebhookHeaderProblem(name: string, value: string): string | undefined {
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return 'has no name of HTTP';
  if (name.length > nameCharactersMax) return `has a name of more than ${nameCharactersMax} characters`;
  if (refusedNames.has(name) || refusedPrefixes.some((prefix) => name.startsWith(prefix)))
    return `may not be set: ${name}`;
  if (value.length > valueCharactersMax) return `has a value of more than ${valueCharactersMax} characters`;
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    return 'has a value that is not of visible ASCII characters';
  return undefined;
}
