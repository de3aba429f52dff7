/**
 * Legacy password grant (contract 4.1, 5.3; https://www.rfc-editor.org/rfc/rfc6749#section-4.3). RFC 9700 §2.4 forbids it to
 * new services; the contract demands it until its sunset.
 *
 * An unknown firm, an unknown username and a wrong password cost the same work and get the same answer.
 */
import { sql } from '../../database/sql.ts';
import { refuse } from '../errors.ts';
import { requireParameter } from '../form.ts';
import { buildLegacyAnswer } from '../legacy/answer.ts';
import { findLegacyCaller, requireLegacyKey, requireLiveHolder } from '../legacy/caller.ts';
import type { LegacyRequest, TokenGrant } from './grant.ts';

/** Stands for the stored hash where there is no account; no password has it. */
const noPasswordHash = new Uint8Array(32);

export const passwordGrant: TokenGrant<LegacyRequest> = {
  grantType: 'password',

  async issue(service, request, form) {
    const username = requireParameter(form, 'username');
    const password = requireParameter(form, 'password');
    const caller = await findLegacyCaller(service, request, sql`username = ${username}`);
    const application = requireLegacyKey(service, request, caller);
    const right = service.secrets.matches('legacy-password', password, caller.passwordHash ?? noPasswordHash);
    if (caller.subject === null || !right) refuse('invalid_grant', 'username or password is wrong for this firm');
    // Only who knows the password learns more.
    const holder = requireLiveHolder(request, caller, application);
    return buildLegacyAnswer(service, request, application, holder);
  },
};
