/** `praxis account …`: legacy accounts, each of one application at one firm. */

import { applicationMember, createdAt, title } from '../../actions/fields.ts';
import { list, one } from '../../actions/schema.ts';
import { getTargetApplication, getTargetFirm } from '../../actions/targets.ts';
import {
  issueLegacyAccount,
  listLegacyAccounts,
  resetLegacyPassword,
  revokeLegacyAccount,
} from '../../oauth/legacy/accounts.ts';
import { defineAdminAction } from '../context.ts';

const issued = {
  username: { kind: 'text', description: 'The username.' },
  password: { kind: 'text', secret: true, description: 'The password. It is shown only once.' },
} as const;

export const legacyAccountActions = [
  defineAdminAction({
    name: 'account list',
    method: 'GET',
    path: '/environments/{environment}/firms/{firm}/accounts',
    summary: 'List the legacy accounts at a firm',
    roles: ['operator', 'practice'],
    output: list({
      username: issued.username,
      ...applicationMember,
      state: { kind: 'choice', values: ['active', 'revoked'], description: 'Whether the account can be used.' },
      ...createdAt,
    }),
    run: async (context, { path }) => listLegacyAccounts(context.database, await getTargetFirm(context, path)),
  }),
  defineAdminAction({
    name: 'account issue',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/accounts',
    summary: 'Create a legacy account for an application at a firm',
    roles: ['operator'],
    creates: true,
    fields: {
      application: { ...title('Name of the application.'), required: true, noted: true },
      username: title('Unique at the firm; made up when absent.'),
    },
    output: one(issued),
    async run(context, { path, body }) {
      const firm = await getTargetFirm(context, path);
      const application = await getTargetApplication(context, { ...path, application: body.application });
      return await issueLegacyAccount(context.database, context.secrets, firm, application, body.username);
    },
    command: { arguments: ['application', 'firm'] },
  }),
  defineAdminAction({
    name: 'account reset',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/accounts/{account}/reset',
    summary: 'Set a new password for a legacy account; its tokens end',
    roles: ['operator'],
    output: one(issued),
    run: async (context, { path }) =>
      resetLegacyPassword(context.database, context.secrets, await getTargetFirm(context, path), path.account),
  }),
  defineAdminAction({
    name: 'account revoke',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/accounts/{account}/revoke',
    summary: 'Revoke a legacy account and its tokens, at once',
    roles: ['operator'],
    run: async (context, { path }) =>
      revokeLegacyAccount(context.database, await getTargetFirm(context, path), path.account),
    command: { print: (_, { path }) => [`account ${path.account} is revoked`] },
  }),
];
