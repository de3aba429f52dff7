/** `praxis admin …`: who may administer. */

import { createdAt, segment, title } from '../../actions/fields.ts';
import { list, one, roles } from '../../actions/schema.ts';
import { requireSession } from '../access.ts';
import {
  createAdministrator,
  findRole,
  listAdministrators,
  revokeAdministrator,
  setPassword,
} from '../administrators.ts';
import { type AdminContext, defineAdminAction } from '../context.ts';
import { passwordLengthMax, passwordLengthMin } from '../password-rules.ts';

const password = {
  kind: 'text',
  secret: true,
  lengthMax: passwordLengthMax,
  description: `At least ${passwordLengthMin} characters, not a common password. The default is a random password.`,
} as const;

const issued = {
  username: { kind: 'text', description: 'The username.' },
  password: {
    kind: 'text',
    secret: true,
    optional: true,
    description: 'The random password. It is shown only once. Absent when the request has a password.',
  },
} as const;

/** Operators are made and changed by who is signed in: a program could agree with itself. */
async function requireSessionFor({ database, caller }: AdminContext, action: string, username: string): Promise<void> {
  if ((await findRole(database, username)) === 'operator') requireSession(`${action} of an operator`, caller);
}

const operatorNote = 'Not by an API token where the administrator is an operator.';

export const administratorActions = [
  defineAdminAction({
    name: 'admin list',
    method: 'GET',
    path: '/administrators',
    summary: 'List administrators',
    roles: ['operator'],
    output: list({
      username: { kind: 'text', description: 'The username, unique in the installation.' },
      role: { kind: 'choice', values: roles, description: 'The role.' },
      environment: { kind: 'text', nullable: true, description: 'The environment of the firm or application.' },
      firm: { kind: 'text', nullable: true, description: 'The prefix of the firm, for practice administrators.' },
      application: { kind: 'text', nullable: true, description: 'The name of the application, for vendors.' },
      state: { kind: 'choice', values: ['active', 'revoked'], description: 'Whether the administrator can sign in.' },
      ...createdAt,
    }),
    run: ({ database }) => listAdministrators(database),
    command: {
      columns: [
        'username',
        'role',
        'environment',
        { heading: 'FIRM OR APPLICATION', cell: ({ firm, application }) => firm ?? application },
        'state',
        'createdAt',
      ],
    },
  }),
  defineAdminAction({
    name: 'admin create',
    method: 'POST',
    path: '/administrators',
    summary: 'Create an administrator',
    requestNote: operatorNote,
    roles: ['operator'],
    creates: true,
    fields: {
      username: { ...segment('Unique in the installation; an e-mail address fits.'), required: true },
      role: { kind: 'choice', values: roles, required: true, standard: 'operator', description: 'The role.' },
      environment: {
        ...segment('Of the firm or application; sandbox when absent.'),
        standard: 'sandbox',
        place: 'environment',
        noted: true,
      },
      firm: { ...segment('Prefix; for the role practice.'), place: 'firm', noted: true },
      application: { ...title('Name; for the role vendor.'), noted: true },
      password,
    },
    output: one(issued),
    async run(context, { body }) {
      if (body.role === 'operator') requireSession('admin create of an operator', context.caller);
      return await createAdministrator(context, { ...body, environment: body.environment ?? 'sandbox' });
    },
    command: {
      arguments: ['username'],
      print: ({ username, password: made }) => (made === undefined ? [`administrator ${username} exists`] : undefined),
    },
  }),
  defineAdminAction({
    name: 'admin password',
    method: 'PUT',
    path: '/administrators/{administrator}/password',
    summary: 'Set a new password for an administrator; sessions and API tokens end',
    requestNote: operatorNote,
    roles: ['operator'],
    fields: { password },
    output: one(issued),
    async run(context, { path, body }) {
      await requireSessionFor(context, 'admin password', path.administrator);
      return await setPassword(context, path.administrator, body.password);
    },
    command: {
      print: ({ username, password: made }) =>
        made === undefined ? [`administrator ${username} has the password given`] : undefined,
    },
  }),
  defineAdminAction({
    name: 'admin revoke',
    method: 'POST',
    path: '/administrators/{administrator}/revoke',
    summary: 'Revoke an administrator with all sessions and API tokens, at once',
    requestNote: operatorNote,
    roles: ['operator'],
    async run(context, { path }) {
      await requireSessionFor(context, 'admin revoke', path.administrator);
      await revokeAdministrator(context.database, path.administrator);
    },
    command: { print: (_, { path }) => [`administrator ${path.administrator} is revoked`] },
  }),
];
