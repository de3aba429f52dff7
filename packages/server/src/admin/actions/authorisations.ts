/** `praxis authorise`, `praxis authorisation …`: what firms let applications do. */
import { formatOperatorRow } from '../../access/operator-row-text.ts';
import { readOperatorRows } from '../../access/operator-rows.ts';
import { acl, applicationMember, defaultPurpose, title } from '../../actions/fields.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import {
  getAuthorisedTargets,
  getTargetApplication,
  getTargetFirm,
  refuseNotAuthorised,
} from '../../actions/targets.ts';
import type { Application } from '../../tenancy/applications.ts';
import {
  type Authorisation,
  authorise,
  findAuthorisation,
  listAuthorisations,
  listAuthorisationVersions,
  resumeAuthorisation,
  revokeAuthorisation,
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
    description: 'A suspended authorisation is refused until it resumes on the same terms.',
  },
  version: { kind: 'integer', description: 'The version. It starts at 1 and increases with each change.' },
  acl: { kind: 'texts', description: 'The entries.' },
  purpose: { kind: 'text', description: 'The reason.' },
  expiresAt: { kind: 'time', nullable: true, label: 'until', description: 'When it expires. Null: never.' },
  rows: { kind: 'texts', description: 'The row restrictions that operators set, as code?parameter=value.' },
};

const authorisation: Shape = { ...applicationMember, ...terms };

const rowsField = {
  kind: 'texts',
  option: 'row',
  itemsMax: 200,
  lengthMax: 2_000,
  description:
    'One per code, such as obsv_ef?category=exam&_elements=code. Codes without one keep their default meaning.',
} as const;

const allPath = '/environments/{environment}/firms/{firm}/authorisations';
const path = `${allPath}/{application}` as const;
const practices = ['operator', 'practice'] as const;

/** An action without input that changes the state of an authorisation. */
const changeOfState = (
  verb: 'suspend' | 'resume' | 'revoke',
  summary: string,
  change: typeof suspendAuthorisation,
  tell: (segments: { readonly application: string; readonly firm: string }) => string,
) =>
  defineAdminAction({
    name: `authorisation ${verb}`,
    method: 'POST',
    path: `${path}/${verb}`,
    summary,
    roles: practices,
    async run(context, { path: segments }) {
      const { firm, application } = await getAuthorisedTargets(context, segments);
      await change(context.database, firm, application, context.caller.username);
    },
    command: {
      arguments: ['application', 'firm'],
      print: (_, input) => [tell(input.path)],
      aliases: [`authorization ${verb}`],
    },
  });

export const authorisationActions = [
  defineAdminAction({
    name: 'authorisation list',
    method: 'GET',
    path: allPath,
    summary: 'List the authorisations of a firm, including revoked ones',
    roles: practices,
    output: list(authorisation),
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
    path,
    summary: 'Show what a firm has authorised an application to do',
    roles: practices,
    output: one(authorisation),
    run: async (context, { path }) => {
      const { firm, application } = await getAuthorisedTargets(context, path);
      return await current(context, firm, application);
    },
    command: { arguments: ['application', 'firm'] },
  }),
  defineAdminAction({
    name: 'authorise',
    method: 'PUT',
    path,
    summary: 'Authorise an application at a firm, for all its entries or some of them',
    description: 'Replaces the current terms, including those of a suspended or revoked authorisation.',
    roles: practices,
    fields: {
      acl: acl('Entries that the application holds; all of them when absent.'),
      purpose: { ...title('The reason.'), required: true, standard: defaultPurpose },
      expiresAt: { kind: 'time', option: 'until', description: 'When it expires. The default is never.' },
      rows: {
        ...rowsField,
        description: `${rowsField.description} When absent, the current ones stay.`,
        roles: ['operator'],
      },
    },
    output: one(authorisation),
    async run(context, { path, body: { expiresAt, rows, ...said } }) {
      const firm = await getTargetFirm(context, path);
      const application = await getTargetApplication(context, path);
      const wanted = {
        ...said,
        by: context.caller.username,
        ...(expiresAt === undefined ? {} : { expiresAtMs: expiresAt }),
        ...(rows === undefined ? {} : { operatorRows: readOperatorLines(rows) }),
      };
      await authorise(context.database, context.clock, firm, application, wanted, entryProblem);
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
    path: `${path}/versions`,
    summary: 'List the versions of an authorisation, newest first, with their authors',
    roles: practices,
    output: list({
      ...terms,
      changedBy: { kind: 'text', label: 'by', description: 'The username, or "command line".' },
      changedAt: { kind: 'time', description: 'The time.' },
    }),
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
  changeOfState(
    'suspend',
    'Refuse an application at a firm from the next statement on, until it is resumed on the same terms',
    suspendAuthorisation,
    ({ application, firm }) => `${application} is suspended at ${firm}`,
  ),
  changeOfState(
    'resume',
    'End a suspension',
    resumeAuthorisation,
    ({ application, firm }) => `${application} may act at ${firm} again`,
  ),
  changeOfState(
    'revoke',
    'Refuse an application at a firm from the next statement on',
    revokeAuthorisation,
    ({ application, firm }) => `${application} may no longer act at ${firm}`,
  ),
  defineAdminAction({
    name: 'authorisation rows',
    method: 'PUT',
    path: `${path}/rows`,
    summary: 'Replace the row restrictions of an application at a firm',
    roles: ['operator'],
    fields: { rows: { ...rowsField, required: true } },
    output: one(authorisation),
    async run(context, { path, body }) {
      const { firm, application } = await getAuthorisedTargets(context, path);
      await setOperatorRows(context.database, firm, application, readOperatorLines(body.rows), context.caller.username);
      return await current(context, firm, application);
    },
    command: { arguments: ['application', 'firm'], aliases: ['authorization rows'] },
  }),
];

async function current({ database }: AdminContext, firm: Firm, application: Application): Promise<object> {
  const found = await findAuthorisation(database, firm, application);
  return found === undefined ? refuseNotAuthorised(firm, application.name) : listed(found);
}

function listed<T extends Pick<Authorisation, 'operatorRows'>>(each: T): object {
  return { ...each, rows: [...readOperatorRows(each.operatorRows)].map(([code, row]) => formatOperatorRow(code, row)) };
}
