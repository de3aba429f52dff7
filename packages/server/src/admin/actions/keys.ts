/** `praxis key …`: API keys of an application, one kind per flow. */

import { createdAt, lastUsedAt, title } from '../../actions/fields.ts';
import { list, one } from '../../actions/schema.ts';
import { getTargetApplication, parseSegmentNumber } from '../../actions/targets.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from '../../oauth/client-auth/api-keys.ts';
import { defineAdminAction } from '../context.ts';

const flows = ['legacy', 'client'] as const;
const id = { kind: 'integer', description: 'Its number.' } as const;

export const keyActions = [
  defineAdminAction({
    name: 'key list',
    method: 'GET',
    path: '/environments/{environment}/applications/{application}/keys',
    summary: 'List the API keys of an application',
    roles: ['operator', 'vendor'],
    output: list({
      id,
      flow: { kind: 'choice', values: flows, description: 'What it is for.' },
      label: { kind: 'text', description: 'What people call it.' },
      state: { kind: 'choice', values: ['active', 'revoked'], description: 'Whether it is taken.' },
      ...createdAt,
      ...lastUsedAt,
    }),
    run: async (context, { path }) => listApiKeys(context.database, await getTargetApplication(context, path)),
  }),
  defineAdminAction({
    name: 'key issue',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/keys',
    summary: 'Make an API key of an application for one flow; two may be live',
    roles: ['operator', 'vendor'],
    creates: true,
    fields: {
      flow: { kind: 'choice', values: flows, required: true, noted: true, description: 'What it is for.' },
      label: title('What people call it; key when absent.'),
    },
    output: one({
      id,
      apiKey: {
        kind: 'text',
        secret: true,
        label: 'x-api-key',
        description: 'The x-api-key; it cannot be shown again.',
      },
    }),
    run: async (context, { path, body: { flow, label = 'key' } }) =>
      issueApiKey(context.database, context.secrets, await getTargetApplication(context, path), flow, label),
  }),
  defineAdminAction({
    name: 'key revoke',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/keys/{key}/revoke',
    summary: 'Refuse an API key from the next statement on',
    roles: ['operator', 'vendor'],
    run: async (context, { path }) =>
      revokeApiKey(context.database, await getTargetApplication(context, path), parseSegmentNumber('key', path.key)),
    command: { print: (_, { path }) => [`key ${path.key} is revoked`] },
  }),
];
