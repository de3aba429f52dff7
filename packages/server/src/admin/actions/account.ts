/** Actions of administrators on what is their own: signing in, sessions, API tokens, the password. */

import { createdAt, lastUsedAt, title } from '../../actions/fields.ts';
import { list, one, roles, type Shape } from '../../actions/schema.ts';
import { parseSegmentNumber } from '../../actions/targets.ts';
import { setPassword } from '../administrators.ts';
import { defineSessionAction } from '../context.ts';
import { passwordLengthMax, passwordLengthMin } from '../password-rules.ts';
import { endSession, issueToken, listTokens, revokeToken } from '../sessions.ts';
import { requireOwnPassword } from '../sign-in.ts';

const caller: Shape = {
  username: { kind: 'text', description: 'Who is signed in.' },
  role: { kind: 'choice', values: roles, description: 'What it may do.' },
  environment: { kind: 'text', nullable: true, description: 'Of the firm or application; null for operators.' },
  firm: { kind: 'text', nullable: true, description: 'The firm of a practice administrator, by prefix.' },
  application: { kind: 'text', nullable: true, description: 'The application of a vendor, by name.' },
};

const expiresAt = { kind: 'time', description: 'When it ends.' } as const;
const token = { kind: 'text', description: 'The bearer token; it cannot be shown again.' } as const;

export const accountActions = [
  defineSessionAction({
    name: 'me show',
    method: 'GET',
    path: '/me',
    summary: 'Who is signed in',
    roles,
    output: one(caller),
    run: async ({ caller: who }) => who,
  }),
  defineSessionAction({
    name: 'me sign-out',
    method: 'DELETE',
    path: '/me/session',
    summary: 'End the session or API token that this is asked by',
    roles,
    run: (context) => endSession(context, context.caller),
  }),
  defineSessionAction({
    name: 'me password',
    method: 'PUT',
    path: '/me/password',
    summary: 'Choose another password; all sessions and API tokens end',
    roles,
    sessionOnly: true,
    fields: {
      current: { kind: 'text', lengthMax: passwordLengthMax, required: true, description: 'The password until now.' },
      password: {
        kind: 'text',
        lengthMax: passwordLengthMax,
        required: true,
        description: `The new one, of at least ${passwordLengthMin} characters, and none that is guessed first.`,
      },
    },
    async run(context, { body }) {
      await requireOwnPassword(context, context.caller.username, body.current);
      await setPassword(context, context.caller.username, body.password);
    },
  }),
  defineSessionAction({
    name: 'me tokens',
    method: 'GET',
    path: '/me/tokens',
    summary: 'List API tokens',
    roles,
    output: list({
      id: { kind: 'integer', description: 'Its number.' },
      label: { kind: 'text', description: 'What people call it.' },
      ...createdAt,
      ...lastUsedAt,
      expiresAt,
    }),
    run: (context) => listTokens(context, context.caller),
  }),
  defineSessionAction({
    name: 'me issue-token',
    method: 'POST',
    path: '/me/tokens',
    summary: 'Make an API token for a program; it may do what you may, but for tokens and the password',
    roles,
    sessionOnly: true,
    creates: true,
    fields: {
      label: { ...title('What people call it.'), required: true },
      expiresAt: { kind: 'time', required: true, description: 'Its end, at most 366 days from now.' },
    },
    output: one({ id: { kind: 'integer', description: 'Its number.' }, token, expiresAt }),
    run: (context, { body }) => issueToken(context, context.caller, body.label, body.expiresAt),
  }),
  defineSessionAction({
    name: 'me revoke-token',
    method: 'DELETE',
    path: '/me/tokens/{token}',
    summary: 'Refuse an API token from the next request on',
    roles,
    sessionOnly: true,
    run: (context, { path }) => revokeToken(context, context.caller, parseSegmentNumber('token', path.token)),
  }),
];

/** What signing in is answered with; it is no action of the list, since nobody is signed in yet. */
export const signInAnswer: Shape = { token, expiresAt, ...caller };
