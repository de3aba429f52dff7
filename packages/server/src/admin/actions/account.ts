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
  username: { kind: 'text', description: 'The username.' },
  role: { kind: 'choice', values: roles, description: 'The role.' },
  environment: {
    kind: 'text',
    nullable: true,
    description: 'The environment of the firm or application. Null for operators.',
  },
  firm: { kind: 'text', nullable: true, description: 'The firm of a practice administrator, by prefix.' },
  application: { kind: 'text', nullable: true, description: 'The application of a vendor, by name.' },
};

const expiresAt = { kind: 'time', description: 'When it expires.' } as const;
const token = { kind: 'text', description: 'The bearer token. It is shown only once.' } as const;

export const accountActions = [
  defineSessionAction({
    name: 'me show',
    method: 'GET',
    path: '/me',
    summary: 'Show who is signed in',
    roles,
    output: one(caller),
    run: async ({ caller: who }) => who,
  }),
  defineSessionAction({
    name: 'me sign-out',
    method: 'DELETE',
    path: '/me/session',
    summary: 'End the session or API token of this request',
    roles,
    run: (context) => endSession(context, context.caller),
  }),
  defineSessionAction({
    name: 'me password',
    method: 'PUT',
    path: '/me/password',
    summary: 'Change your password; all sessions and API tokens end',
    roles,
    sessionOnly: true,
    fields: {
      current: { kind: 'text', lengthMax: passwordLengthMax, required: true, description: 'The current password.' },
      password: {
        kind: 'text',
        lengthMax: passwordLengthMax,
        required: true,
        description: `The new password: at least ${passwordLengthMin} characters, not a common password.`,
      },
    },
    async run(context, { body }) {
      await requireOwnPassword(context, context.caller.username, body.current);
      await setPassword(context, context.caller.username, body.password, 'owner');
    },
  }),
  defineSessionAction({
    name: 'me tokens',
    method: 'GET',
    path: '/me/tokens',
    summary: 'List API tokens',
    roles,
    output: list({
      id: { kind: 'integer', description: 'The id.' },
      label: { kind: 'text', description: 'A name for people.' },
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
    summary: 'Create an API token for a program, with your rights except over tokens and the password',
    roles,
    sessionOnly: true,
    creates: true,
    fields: {
      label: { ...title('A name for people.'), required: true },
      expiresAt: { kind: 'time', required: true, description: 'When it expires: at most 366 days from now.' },
    },
    output: one({ id: { kind: 'integer', description: 'The id.' }, token, expiresAt }),
    run: (context, { body }) => issueToken(context, context.caller, body.label, body.expiresAt),
  }),
  defineSessionAction({
    name: 'me revoke-token',
    method: 'DELETE',
    path: '/me/tokens/{token}',
    summary: 'Revoke an API token, at once',
    roles,
    sessionOnly: true,
    run: (context, { path }) => revokeToken(context, context.caller, parseSegmentNumber('token', path.token)),
  }),
];

/** What signing in is answered with; it is no action of the list, since nobody is signed in yet. */
export const signInAnswer: Shape = { token, expiresAt, ...caller };
