/**
 * The secrets by which notifications are signed (https://www.standardwebhooks.com): each is made of the installation's key and
 * whose it is, so none is stored. Another number makes another secret.
 */
import type { Secrets } from '../../base/secrets.ts';
import type { TenantScope } from '../../tenancy/scope.ts';

/** How long the secret before is valid beside a new one. */
export const secretOverlapMs = 24 * 60 * 60 * 1000;

/** The secret, as Standard Webhooks writes it. @param number from 1 */
export function computeSecret(
  secrets: Pick<Secrets, 'hash'>,
  { firm, application }: Pick<TenantScope, 'firm' | 'application'>,
  id: string,
  number: number,
): string {
  const made = secrets.hash('webhook-secret', JSON.stringify([firm, application, id, number]));
  return `whsec_${made.toString('base64')}`;
}
