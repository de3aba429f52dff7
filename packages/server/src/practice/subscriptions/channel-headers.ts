/**
 * channel.header, which often holds a credential of the endpoint (https://hl7.org/fhir/R4/subscription-definitions.html
 * #Subscription.channel.header): stored sealed in its place, never sent back, and opened when a notification is sent.
 */
import type { Secrets } from '../../base/secrets.ts';
import { findWebhookHeaderProblem } from '../../outbound/webhook-headers.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { refuseElement } from './definition.ts';

/** Before a sealed header: what follows is no header that anybody could send. */
const sealedMark = 'sealed ';

const headersMax = 10;
const headerCharactersMax = 2_000;

/** Whose headers they are: sealed ones are good nowhere else. */
export interface HeaderOwner {
  readonly scope: Pick<TenantScope, 'firm' | 'application'>;
  readonly secrets: Pick<Secrets, 'sealText' | 'openText'>;
  /** Of the Subscription. */
  readonly id: string;
}

/**
 * The headers as they are stored.
 * @param kept those that are stored already, which stay as they are
 * @throws PraxisError `rule-broken`
 */
export function sealHeaders(
  owner: HeaderOwner,
  headers: readonly string[],
  kept: readonly string[],
): readonly string[] {
  if (headers.length > headersMax) refuseElement('channel.header', `has ${headersMax} headers at most`);
  return headers.map((header) => (kept.includes(header) ? header : sealHeader(owner, header)));
}

function sealHeader(owner: HeaderOwner, header: string): string {
  const at = header.indexOf(':');
  if (at < 0) refuseElement('channel.header', 'is written as Name: value');
  if (header.length > headerCharactersMax)
    refuseElement('channel.header', `has ${headerCharactersMax} characters at most`);
  const problem = findWebhookHeaderProblem(header.slice(0, at).toLowerCase(), header.slice(at + 1).trim());
  if (problem !== undefined) refuseElement('channel.header', problem);
  const { scope, secrets, id } = owner;
  return `${sealedMark}${secrets.sealText('webhook-header', Buffer.from(header), bindingOf(scope, id))}`;
}

/** The headers to send; those that do not open, since they were made elsewhere, are left out. */
export function openHeaders({ scope, secrets, id }: HeaderOwner, sealed: readonly string[]): Record<string, string> {
  const opened = sealed.flatMap((text) => {
    const plain = secrets.openText('webhook-header', text.slice(sealedMark.length), bindingOf(scope, id));
    return plain === undefined ? [] : [plain.toString()];
  });
  return Object.fromEntries(
    opened.map((header) => {
      const at = header.indexOf(':');
      return [header.slice(0, at).toLowerCase(), header.slice(at + 1).trim()];
    }),
  );
}

function bindingOf({ firm, application }: HeaderOwner['scope'], id: string): string {
  return JSON.stringify(['subscription-header', firm, application, id]);
}
