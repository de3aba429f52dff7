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
const key = { kid: { kind: 'text', label: 'key', description: 'The kid.' } } as const;
const force = {
  force: { kind: 'flag', description: 'Do not wait until caches have expired. Some requests may fail.' },
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
        description: 'An active key signs new tokens.',
      },
      createdAt: { kind: 'time', description: 'When it was created.' },
      stateSince: { kind: 'time', label: 'since', description: 'Since when it is in this state.' },
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
    summary: 'Create and publish the next signing key, which does not sign yet',
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
    summary: 'Sign with the published key; the previous key still verifies tokens',
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
    summary: 'Retire a key that no longer signs; with force, also revoke the tokens that it signed',
    roles: operators,
    fields: force,
    run: (context, { path, body }) => retireSigningKey(context, path.realm, path.key, body.force === true),
    command: { print: (_, { path }) => [`signing key ${path.key} is retired`] },
  }),
];
