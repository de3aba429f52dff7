/** `praxis client …`: clients of the client-credentials flow, and what they prove themselves with. */

import { createdAt, lastUsedAt } from '../../actions/fields.ts';
import { list, one } from '../../actions/schema.ts';
import { getTargetApplication, parseSegmentNumber } from '../../actions/targets.ts';
import { type ClientKeySet, readKeySet, setClientKeys } from '../../oauth/client-auth/client-keys.ts';
import { addClientSecret, endClientSecret, listClientSecrets } from '../../oauth/client-auth/client-secrets.ts';
import { issueClient, issueKeyedClient, listClients, revokeClient } from '../../oauth/client-auth/clients.ts';
import { requirePublicUrl } from '../../outbound/public-url.ts';
import { type AdminContext, defineAdminAction } from '../context.ts';
import { refuseField } from '../input.ts';

const vendors = ['operator', 'vendor'] as const;
const id = { kind: 'integer', description: 'The id.' } as const;
const clientSecret = {
  kind: 'text',
  secret: true,
  label: 'client_secret',
  description: 'The secret. It is shown only once.',
} as const;
const urlLengthMax = 2_000;

export const clientActions = [
  defineAdminAction({
    name: 'client list',
    method: 'GET',
    path: '/environments/{environment}/applications/{application}/clients',
    summary: 'List the clients of an application',
    roles: vendors,
    output: list({
      clientId: { kind: 'text', label: 'client', description: 'The client_id.' },
      state: { kind: 'choice', values: ['active', 'revoked'], description: 'Whether it is accepted.' },
      secrets: { kind: 'integer', description: 'How many secrets are active.' },
      keys: {
        kind: 'text',
        nullable: true,
        none: '-',
        description: 'Where its public keys are: a URL, or jwks for stored ones.',
      },
      ...createdAt,
    }),
    run: async (context, { path }) => listClients(context.database, await getTargetApplication(context, path)),
  }),
  defineAdminAction({
    name: 'client issue',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/clients',
    summary: 'Create a client of an application, with a secret',
    roles: vendors,
    creates: true,
    fields: {
      withoutSecret: { kind: 'flag', description: 'Create no secret, for a client that signs with its own key.' },
    },
    output: one({
      clientId: { kind: 'text', label: 'client_id', description: 'The client_id.' },
      clientSecret: { ...clientSecret, optional: true },
    }),
    async run(context, { path, body }) {
      const application = await getTargetApplication(context, path);
      if (body.withoutSecret === true) return { clientId: await issueKeyedClient(context.database, application) };
      return await issueClient(context.database, context.secrets, application);
    },
  }),
  defineAdminAction({
    name: 'client revoke',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/clients/{client}/revoke',
    summary: 'Revoke a client and its tokens, at once',
    roles: vendors,
    run: async (context, { path }) =>
      revokeClient(context.database, await getTargetApplication(context, path), path.client),
    command: { print: (_, { path }) => [`client ${path.client} is revoked`] },
  }),
  defineAdminAction({
    name: 'client secrets',
    method: 'GET',
    path: '/environments/{environment}/applications/{application}/clients/{client}/secrets',
    summary: 'List the secrets of a client and when they were last used',
    roles: vendors,
    output: list({
      id,
      state: {
        kind: 'choice',
        values: ['active', 'retired', 'revoked'],
        description: 'A retired secret gets no new tokens. The tokens of a revoked secret are refused as well.',
      },
      ...createdAt,
      ...lastUsedAt,
    }),
    run: async (context, { path }) =>
      listClientSecrets(context.database, await getTargetApplication(context, path), path.client),
  }),
  defineAdminAction({
    name: 'client add-secret',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/clients/{client}/secrets',
    summary: 'Create another secret of a client; two may be active',
    roles: vendors,
    creates: true,
    output: one({ id, clientSecret }),
    run: async (context, { path }) =>
      addClientSecret(context.database, context.secrets, await getTargetApplication(context, path), path.client),
  }),
  defineAdminAction({
    name: 'client retire-secret',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/clients/{client}/secrets/{secret}/retire',
    summary: 'Retire a secret of a client; its tokens stay valid until they expire',
    roles: vendors,
    fields: {
      revoke: { kind: 'flag', description: 'Revoke its tokens as well, at once.' },
    },
    async run(context, { path, body }) {
      const application = await getTargetApplication(context, path);
      const end = body.revoke === true ? 'revoked' : 'retired';
      await endClientSecret(context.database, application, path.client, parseSegmentNumber('secret', path.secret), end);
    },
    command: {
      print: (_, { path, body }) => [`secret ${path.secret} is ${body.revoke === true ? 'revoked' : 'retired'}`],
    },
  }),
  defineAdminAction({
    name: 'client jwks',
    method: 'PUT',
    path: '/environments/{environment}/applications/{application}/clients/{client}/jwks',
    summary:
      'Register the public keys that a client signs its assertions with; tokens of keys that it has no longer end',
    requestNote:
      'One of jwks and jwksUri, or neither, which takes the keys away. A document is fetched once, to be sure.',
    roles: vendors,
    fields: {
      jwks: { kind: 'object', option: 'file', description: 'A JWK Set with the public keys to store.' },
      jwksUri: {
        kind: 'text',
        lengthMax: urlLengthMax,
        option: 'uri',
        description: 'The URL where the client publishes its JWK Set.',
      },
    },
    async run(context, { path, body }) {
      const application = await getTargetApplication(context, path);
      const keys = await readKeys(context, body.jwks, body.jwksUri);
      await setClientKeys(context.database, application, path.client, keys?.registered);
      return keys?.set.keys.map(({ kid }) => kid) ?? [];
    },
    command: {
      options: { remove: { kind: 'flag', description: 'Remove the keys.' } },
      oneOf: ['file', 'uri', 'remove'],
      print: (kids, { path }) => [
        `client ${path.client}: ${kids.length === 0 ? 'no keys' : `keys ${kids.join(', ')}`}`,
      ],
    },
  }),
];

/** The keys that are given, read once, so that a mistake is found now and not at the first token request. */
async function readKeys(
  context: AdminContext,
  jwks: unknown,
  jwksUri: string | undefined,
): Promise<{ registered: { jwks: ClientKeySet } | { jwksUri: string }; set: ClientKeySet } | undefined> {
  if (jwks !== undefined && jwksUri !== undefined) refuseField('jwksUri', 'jwks and jwksUri exclude each other');
  if (jwks !== undefined) {
    const set = requireSet('jwks', readKeySet(jwks));
    return { registered: { jwks: set }, set };
  }
  if (jwksUri === undefined) return undefined;
  try {
    requirePublicUrl(jwksUri, { loopback: context.jwksLoopback });
  } catch (cause) {
    refuseField('jwksUri', `jwksUri ${cause instanceof Error ? cause.message : 'is no URL'}`);
  }
  const set = requireSet('jwksUri', await context.remoteKeys.at(jwksUri, undefined));
  return { registered: { jwksUri }, set };
}

function requireSet(field: string, set: ClientKeySet | { readonly problem: string }): ClientKeySet {
  return 'problem' in set ? refuseField(field, `${field}: ${set.problem}`) : set;
}
