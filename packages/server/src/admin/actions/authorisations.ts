/** `praxis authorise`, `praxis authorisation …`: what firms let applications do. */
import { formatOperatorRow } from '../../access/operator-row-text.ts';
import { readOperatorRows } from '../../access/operator-rows.ts';
import { acl, applicationMember, defaultPurpose, title } from '../../actions/fields.ts';
import { nothing, type Shape } from '../../actions/schema.ts';
import {
  getAuthorisedTargets,
  getTargetApplication,
  getTargetFirm,
  refuseNotAuthorised,
} from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import type { Application } from '../../tenancy/applications.ts';
import {
  type Authorisation,
  authorise,
  findAuthorisation,
  listAuthorisations,
  listAuthorisationVersions,
  resumeAuthorisation,
  revokeAuthorisation,
  type StoredOperatorRows,
  setOperatorRows,
  suspendAuthorisation,
} from '../../tenancy/authorisations.ts';
import type { Firm } from '../../tenancy/firms.ts';
import { type AdminContext, defineAdminAction } from '../context.ts';
import { entryProblem, readOperatorLines } from '../entry-problem.ts';

const terms: Shape = {
  state: {
    kind: 'choice',
    values: ['active', 'suspended', 'revoked'],
    description: 'Suspended: refused until it is resumed on the same terms.',
  },
  version: { kind: 'integer', description: '1 at first, one more with each change.' },
  acl: { kind: 'texts', description: 'The entries.' },
  purpose: { kind: 'text', description: 'Why.' },
  expiresAt: { kind: 'time', nullable: true, label: 'until', description: 'The end; null: none.' },
  rows: { kind: 'texts', description: 'What operators say that entries reach, as code?parameter=value.' },
};

const authorisation: Shape = { ...applicationMember, ...terms };

const rowsField = {
  kind: 'texts',
  option: 'row',
  itemsMax: 200,
  lengthMax: 2_000,
  description: 'One for each code, as obsv_ef?category=exam&_elements=code; none: codes keep their meaning.',
} as const;

const place = '/environments/{environment}/firms/{firm}/authorisations';
const one = `${place}/{application}` as const;
const practices = ['operator', 'practice'] as const;

export const authorisationActions = [
  defineAdminAction({
    name: 'authorisation list',
    method: 'GET',
    path: place,
    summary: 'List what a firm has authorised, revoked authorisations too',
    roles: practices,
    fields: {},
    output: { kind: 'list', shape: authorisation },
    run: async (context, { path }) =>
      (await listAuthorisations(context.database, await getTargetFirm(context, path))).map(listed),
    command: {
      columns: ['application', 'state', 'version', 'purpose', 'expiresAt', 'acl'],
      aliases: ['authorization list'],
    },
  }),
  defineAdminAction({
    name: 'authorisation show',
    method: 'GET',
    path: one,
    summary: 'What a firm has authorised an application to do',
    roles: practices,
    fields: {},
    output: { kind: 'one', shape: authorisation },
    run: async (context, { path }) => {
      const { firm, application } = await getAuthorisedTargets(context, path);
      return await current(context, firm, application);
    },
    command: { arguments: ['application', 'firm'] },
  }),
  defineAdminAction({
    name: 'authorise',
    method: 'PUT',
    path: one,
    summary: 'Let an application act at a firm, with all its entries or some of them, from the next request on',
    description: 'Replaces the terms of before; also those of an authorisation that was suspended or revoked.',
    roles: practices,
    fields: {
      acl: acl('Entries that the application holds; all of them when absent.'),
      purpose: { ...title('Why.'), required: true, standard: defaultPurpose },
      expiresAt: { kind: 'time', option: 'until', description: 'The end; none when absent.' },
      rows: {
        ...rowsField,
        description: `${rowsField.description} Those of before stay when absent.`,
        roles: ['operator'],
      },
    },
    output: { kind: 'one', shape: authorisation },
    async run(context, { path, body }) {
      const firm = await getTargetFirm(context, path);
      const application = await getTargetApplication(context, path);
      const { acl: entries, purpose, expiresAt, rows } = body;
      await authorise(
        context.database,
        context.clock,
        firm,
        application,
        {
          purpose,
          by: context.caller.username,
          ...(entries === undefined ? {} : { acl: entries }),
          ...(expiresAt === undefined ? {} : { expiresAtMs: expiresAt }),
          ...(rows === undefined ? {} : { operatorRows: requireRows(rows) }),
        },
        entryProblem,
      );
      return await current(context, firm, application);
    },
    command: {
      arguments: ['application', 'firm'],
      print: (_, { path }) => [`${path.application} may act at ${path.firm}`],
      aliases: ['authorize'],
    },
  }),
  defineAdminAction({
    name: 'authorisation history',
    method: 'GET',
    path: `${one}/versions`,
    summary: 'Every version of an authorisation, newest first, with who made it',
    roles: practices,
    fields: {},
    output: {
      kind: 'list',
      shape: {
        ...terms,
        changedBy: { kind: 'text', label: 'by', description: 'Username, or: command line.' },
        changedAt: { kind: 'time', description: 'When.' },
      },
    },
    run: async (context, { path }) => {
      const { firm, application } = await getAuthorisedTargets(context, path);
      return (await listAuthorisationVersions(context.database, firm, application)).map(listed);
    },
    command: {
      arguments: ['application', 'firm'],
      columns: ['version', 'state', 'changedAt', 'changedBy', 'purpose', 'expiresAt', 'acl'],
      aliases: ['authorization history'],
    },
  }),
  defineAdminAction({
    name: 'authorisation suspend',
    method: 'POST',
    path: `${one}/suspend`,
    summary: 'Refuse an application at a firm from the next statement on, until it is resumed on the same terms',
    roles: practices,
    fields: {},
    output: nothing,
    run: async (context, { path }) => {
      const { firm, application } = await getAuthorisedTargets(context, path);
      await suspendAuthorisation(context.database, firm, application, context.caller.username);
    },
    command: {
      arguments: ['application', 'firm'],
      print: (_, { path }) => [`${path.application} is suspended at ${path.firm}`],
      aliases: ['authorization suspend'],
    },
  }),
  defineAdminAction({
    name: 'authorisation resume',
    method: 'POST',
    path: `${one}/resume`,
    summary: 'End a suspension',
    roles: practices,
    fields: {},
    output: nothing,
    run: async (context, { path }) => {
      const { firm, application } = await getAuthorisedTargets(context, path);
      await resumeAuthorisation(context.database, firm, application, context.caller.username);
    },
    command: {
      arguments: ['application', 'firm'],
      print: (_, { path }) => [`${path.application} may act at ${path.firm} again`],
      aliases: ['authorization resume'],
    },
  }),
  defineAdminAction({
    name: 'authorisation revoke',
    method: 'POST',
    path: `${one}/revoke`,
    summary: 'Refuse an application at a firm from the next statement on',
    roles: practices,
    fields: {},
    output: nothing,
    run: async (context, { path }) => {
      const { firm, application } = await getAuthorisedTargets(context, path);
      await revokeAuthorisation(context.database, firm, application, context.caller.username);
    },
    command: {
      arguments: ['application', 'firm'],
      print: (_, { path }) => [`${path.application} may no longer act at ${path.firm}`],
      aliases: ['authorization revoke'],
    },
  }),
  defineAdminAction({
    name: 'authorisation rows',
    method: 'PUT',
    path: `${one}/rows`,
    summary: 'Replace what entries reach for an application at a firm',
    roles: ['operator'],
    fields: { rows: { ...rowsField, required: true } },
    output: { kind: 'one', shape: authorisation },
    async run(context, { path, body }) {
      const { firm, application } = await getAuthorisedTargets(context, path);
      await setOperatorRows(context.database, firm, application, requireRows(body.rows), context.caller.username);
      return await current(context, firm, application);
    },
    command: { arguments: ['application', 'firm'], aliases: ['authorization rows'] },
  }),
];

function requireRows(lines: readonly string[]): StoredOperatorRows {
  const read = readOperatorLines(lines);
  return 'problem' in read
    ? fail('rule-broken', { diagnostics: `rows: ${read.problem}`, expression: ['rows'] })
    : read.rows;
}

async function current({ database }: AdminContext, firm: Firm, application: Application): Promise<object> {
  const found = await findAuthorisation(database, firm, application);
  return found === undefined ? refuseNotAuthorised(firm, application.name) : listed(found);
}

function listed<T extends Pick<Authorisation, 'operatorRows'>>(each: T): object {
  return { ...each, rows: [...readOperatorRows(each.operatorRows)].map(([code, row]) => formatOperatorRow(code, row)) };
}
