/** `praxis signing-key …`: changing the key that signs a realm's tokens, without a request that fails. */

import { list, one } from '../../actions/schema.ts';
import {
  activateSigningKey,
  listSigningKeys,
  publishSigningKey,
  retireSigningKey,
} from '../../oauth/signing/signing-key-rotation.ts';
import { requireRealm } from '../../tenancy/environments.ts';
import { defineAdminAction } from '../context.ts';

const operators = ['operator'] as const;
const key = { kid: { kind: 'text', label: 'key', description: 'Its kid.' } } as const;
const force = {
  force: { kind: 'flag', description: 'Do not wait for what others have cached; some requests may fail.' },
} as const;

export const signingKeyActions = [
  defineAdminAction({
    name: 'signing-key list',
    method: 'GET',
    path: '/realms/{realm}/signing-keys',
    summary: 'List the signing keys of a realm',
    roles: operators,
    output: list({
      ...key,
      state: {
        kind: 'choice',
        values: ['published', 'active', 'verifying', 'retired'],
        description: 'Active: it signs.',
      },
      createdAt: { kind: 'time', description: 'When it was made.' },
      stateSince: { kind: 'time', label: 'since', description: 'When its state began.' },
    }),
    async run({ database }, { path }) {
      await requireRealm(database, path.realm);
      return await listSigningKeys(database, path.realm);
    },
    command: { columns: ['kid', 'state', 'stateSince', 'createdAt'] },
  }),
  defineAdminAction({
    name: 'signing-key publish',
    method: 'POST',
    path: '/realms/{realm}/signing-keys',
    summary: 'Make the next signing key and publish it; it signs nothing yet',
    roles: operators,
    creates: true,
    output: one(key),
    async run(context, { path }) {
      await requireRealm(context.database, path.realm);
      return { kid: await publishSigningKey(context, path.realm) };
    },
    command: { print: ({ kid }) => [`signing key ${kid} is published`] },
  }),
  defineAdminAction({
    name: 'signing-key activate',
    method: 'POST',
    path: '/realms/{realm}/signing-keys/activate',
    summary: 'Let the published key sign; the one before it goes on verifying',
    roles: operators,
    fields: force,
    output: one(key),
    run: async (context, { path, body }) => ({
      kid: await activateSigningKey(context, path.realm, body.force === true),
    }),
    command: { print: ({ kid }) => [`signing key ${kid} signs`] },
  }),
  defineAdminAction({
    name: 'signing-key retire',
    method: 'POST',
    path: '/realms/{realm}/signing-keys/{key}/retire',
    summary: 'End a key that no longer signs; with force also the tokens that it signed, with the next statement',
    roles: operators,
    fields: force,
    run: (context, { path, body }) => retireSigningKey(context, path.realm, path.key, body.force === true),
    command: { print: (_, { path }) => [`signing key ${path.key} is retired`] },
  }),
];
