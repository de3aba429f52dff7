/** `praxis admin …`: who may administer. */

import { createdAt, segment, title } from '../../actions/fields.ts';
import { list, one, roles } from '../../actions/schema.ts';
import { createAdministrator, listAdministrators, revokeAdministrator, setPassword } from '../administrators.ts';
import { defineAdminAction } from '../context.ts';
import { passwordLengthMax, passwordLengthMin } from '../password-rules.ts';

const password = {
  kind: 'text',
  secret: true,
  lengthMax: passwordLengthMax,
  description: `At least ${passwordLengthMin} characters, and none that is guessed first; made up when absent.`,
} as const;

const issued = {
  username: { kind: 'text', description: 'The username.' },
  password: {
    kind: 'text',
    secret: true,
    optional: true,
    description: 'The password that was made up; it cannot be shown again. Absent when one was given.',
  },
} as const;

export const administratorActions = [
  defineAdminAction({
    name: 'admin list',
    method: 'GET',
    path: '/administrators',
    summary: 'List administrators',
    roles: ['operator'],
    output: list({
      username: { kind: 'text', description: 'Unique in the installation.' },
      role: { kind: 'choice', values: roles, description: 'What it may do.' },
      environment: { kind: 'text', nullable: true, description: 'Of the firm or application.' },
      firm: { kind: 'text', nullable: true, description: 'Prefix; of practice administrators.' },
      application: { kind: 'text', nullable: true, description: 'Name; of vendors.' },
      state: { kind: 'choice', values: ['active', 'revoked'], description: 'Whether it may sign in.' },
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
    summary: 'Make an administrator',
    roles: ['operator'],
    creates: true,
    fields: {
      username: { ...segment('Unique in the installation; an e-mail address fits.'), required: true },
      role: { kind: 'choice', values: roles, required: true, standard: 'operator', description: 'What it may do.' },
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
    run: (context, { body }) => createAdministrator(context, { ...body, environment: body.environment ?? 'sandbox' }),
    command: {
      arguments: ['username'],
      print: ({ username, password: made }) => (made === undefined ? [`administrator ${username} exists`] : undefined),
    },
  }),
  defineAdminAction({
    name: 'admin password',
    method: 'PUT',
    path: '/administrators/{administrator}/password',
    summary: 'Give an administrator another password; sessions and API tokens end',
    roles: ['operator'],
    fields: { password },
    output: one(issued),
    run: (context, { path, body }) => setPassword(context, path.administrator, body.password),
    command: {
      print: ({ username, password: made }) =>
        made === undefined ? [`administrator ${username} has the password given`] : undefined,
    },
  }),
  defineAdminAction({
    name: 'admin revoke',
    method: 'POST',
    path: '/administrators/{administrator}/revoke',
    summary: 'Refuse an administrator, sessions and API tokens with it, from the next request on',
    roles: ['operator'],
    run: ({ database }, { path }) => revokeAdministrator(database, path.administrator),
    command: { print: (_, { path }) => [`administrator ${path.administrator} is revoked`] },
  }),
];
