/** What to do about an error, by its code. docs/integrate/errors.md lists all codes. */

const writeAgain =
  'Repeat the write with the same idempotencyKey: it has one effect. writeOutcome(key) tells what became of it.';
const wait = 'Wait for retryAfterMs, then call again.';
const correct = 'Correct what issue.diagnostics names; the same request gets the same answer.';
const report = 'Call again later. If it stays, tell the operator the requestId.';

/** Code → what to do. */
export const fixes: Readonly<Record<string, string>> = {
  'no-answer': `Check the network and the base URL. ${writeAgain}`,
  'not-fhir': 'Something else than the service answered. Check the base URL, and proxies in between.',
  'foreign-link': 'Connect with the base URL that the service names itself by.',
  'path-invalid': 'Check the id or the path: nothing was sent.',
  'awaiting-acceptance': 'Follow the Task that the error names: it tells what the practice decided.',
  'answer-withheld': 'The write was carried out. Read what it concerns.',
  'path-unknown': 'Compare base with that of the practice: …/{environment}/firm/{firm}/{product}/fhir/v2.',
  'credentials-missing': 'Set apiKey, and check that no proxy removes headers.',
  'credentials-invalid':
    'Use the API key of the same application and flow as the credentials. If it stays, ask the operator.',
  'credentials-expired': 'Call again: a new token is requested.',
  'legacy-ended': 'Use the client-credentials flow, with its own API key.',
  'legacy-paused': `${wait} The client-credentials flow is not paused.`,
  'firm-forbidden':
    'Check the name of the practice in base. If it is right, ask the practice to authorise the application.',
  'access-denied': 'issue.diagnostics names the missing access entry and who grants it: ask them.',
  'search-invalid': 'issue.expression names the parameter: correct it or its value.',
  'resource-invalid': 'Correct the element that issue.expression names.',
  'resource-not-found': 'It does not exist, or the application may not see it: do not repeat the call.',
  'resource-deleted': 'It was deleted: do not repeat the call.',
  'cursor-invalid': 'Start again with the first page.',
  'feed-ended': 'Delete the copy, save undefined to the cursor store, and follow again from the beginning.',
  'link-ended': 'Read the resource again, or ask for another upload URL: the new link works for five minutes.',
  'slot-taken': 'Offer error.alternatives, and book one of them.',
  'slot-missing': 'Take start and end from a slot that booking.find returns.',
  duplicate: 'Use the resource that issue.diagnostics names.',
  conflict: 'Read the resource again, and repeat the change.',
  'precondition-failed': 'Read the resource again and repeat the change; after ifNoneExist make its search narrower.',
  'key-reused': 'Use a new idempotencyKey for each write.',
  'too-costly': 'Send a cheaper request: issue.diagnostics says how.',
  'answer-too-large': 'Ask for less: a smaller _count, or several smaller Bundles.',
  'bundle-too-large': 'Send several smaller Bundles.',
  'rate-exceeded': `${wait} Ask for fewer, larger pages; follow() costs less than repeated searches.`,
  internal: report,
  unavailable: report,
  invalid_client: 'Check client id, secret and API key: all three belong to one application and one flow.',
  invalid_grant: 'Check username and password: they belong to one practice and one application.',
  invalid_scope: 'Ask for entries that the application has.',
  unauthorized_client: 'This flow has ended for the application: use the client-credentials flow.',
  too_many_attempts: 'Correct the secret, then wait for retryAfterMs.',
  rate_exceeded: `${wait} Share one credentials object between practices, so that one token serves all.`,
};

/** What to do about an error with this code and status. */
export function findFix(code: string, status: number | undefined): string {
  const fix = Object.hasOwn(fixes, code) ? fixes[code] : undefined;
  if (fix !== undefined) return fix;
  if (status === 429 || status === 503) return wait;
  return status !== undefined && status >= 500 ? report : correct;
}
