/** `praxis key …`: API keys of an application, one kind per flow. */

import { createdAt, lastUsedAt, title } from '../../actions/fields.ts';
import { list, one } from '../../actions/schema.ts';
import { getTargetApplication, parseSegmentNumber } from '../../actions/targets.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../oauth/client-auth/api-keys.ts';
import { defineAdminAction } from '../context.ts';

const flows = ['legacy', 'client'] as const;
const id = { kind: 'integer', description: 'The id.' } as const;

export const keyActions = [
  defineAdminAction({
    name: 'key list',
    method: 'GET',
    path: '/environments/{environment}/applications/{application}/keys',
    summary: 'List the API keys of an application',
    roles: ['operator', 'vendor'],
    output: list({
      id,
      flow: { kind: 'choice', values: flows, description: 'The token flow that it belongs to.' },
      label: { kind: 'text', description: 'A name for people.' },
      state: { kind: 'choice', values: ['active', 'revoked'], description: 'Whether it is accepted.' },
      ...createdAt,
      ...lastUsedAt,
    }),
    run: async (context, { path }) => listApiKeys(context.database, await getTargetApplication(context, path)),
  }),
  defineAdminAction({
    name: 'key issue',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/keys',
    summary: 'Create an API key of an application for one flow; two may be active',
    roles: ['operator', 'vendor'],
    creates: true,
    fields: {
      flow: {
        kind: 'choice',
        values: flows,
        required: true,
        noted: true,
        description: 'The token flow that it belongs to.',
      },
      label: title('What people call it; key when absent.'),
    },
    output: one({
      id,
      apiKey: {
        kind: 'text',
        secret: true,
        label: 'x-api-key',
        description: 'The value of x-api-key. It is shown only once.',
      },
    }),
    run: async (context, { path, body: { flow, label = 'key' } }) =>
      issueApiKey(context.database, context.secrets, await getTargetApplication(context, path), flow, label),
  }),
  defineAdminAction({
    name: 'key revoke',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/keys/{key}/revoke',
    summary: 'Revoke an API key, at once',
    roles: ['operator', 'vendor'],
    run: async (context, { path }) =>
      revokeApiKey(context.database, await getTargetApplication(context, path), parseSegmentNumber('key', path.key)),
    command: { print: (_, { path }) => [`key ${path.key} is revoked`] },
  }),
];
