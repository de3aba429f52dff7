/** Retry-After (https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3), of which a host that others name makes what it likes. */

/** The longest pause that is obeyed: a day. */
export const retryAfterSecondsMax = 86_400;

/** The three forms of HTTP-date (https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7). */
const dates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * The pause in whole seconds, between 0 and a day; undefined if the header says nothing that can be read.
 * @param nowSeconds the time that a date is compared with, in seconds since 1970
 */
export function parseRetryAfter(text: string | undefined, nowSeconds: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text), retryAfterSecondsMax);
  if (!dates.some((date) => date.test(text))) return undefined;
  const dateMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  if (Number.isNaN(dateMs)) return undefined;
  return Math.min(Math.max(Math.ceil(dateMs / 1000) - nowSeconds, 0), retryAfterSecondsMax);
}
