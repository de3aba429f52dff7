/** `praxis legacy …`: the end of the legacy flow. */

import { formatToSecond } from '../../actions/command-form.ts';
import { applicationMember, firmMember, segment, title } from '../../actions/fields.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { getTargetApplication, getTargetFirm, parseSegmentNumber } from '../../actions/targets.ts';
import { migrateToClientCredentials } from '../../oauth/legacy/migration.ts';
import { readLegacyReport } from '../../oauth/legacy/report.ts';
import {
  addBrownOut,
  clearSunset,
  type LegacyScope,
  linkLengthMax,
  listBrownOuts,
  listSunsets,
  removeBrownOut,
  setSunset,
} from '../../oauth/legacy/sunset-administration.ts';
import { buildRealmPath } from '../../oauth/signing/client-tokens.ts';
import { getEnvironment } from '../../tenancy/environments.ts';
import { type AdminContext, defineAdminAction } from '../context.ts';
import { printLegacyReport } from './print-legacy-report.ts';

const operators = ['operator'] as const;

const scopeFields = {
  firm: { ...segment('Only this firm, by its prefix.'), place: 'firm', noted: true },
  application: { ...title('Only this application, by its name.'), noted: true },
} as const;

const scopeMembers: Shape = {
  firm: { kind: 'text', nullable: true, none: '(all)', description: 'Prefix; null: all.' },
  application: { kind: 'text', nullable: true, none: '(all)', description: 'Name; null: all.' },
};

const count = { kind: 'integer', description: 'How often, in UTC days with today.' } as const;

export const legacyActions = [
  defineAdminAction({
    name: 'legacy report',
    method: 'GET',
    path: '/environments/{environment}/legacy/report',
    summary: 'Who uses the legacy flow: firms, applications and their programs, and who does not',
    roles: operators,
    output: one({
      rows: {
        kind: 'list',
        description: 'One program of an application at a firm, or, without any use, the pair alone.',
        shape: {
          ...firmMember,
          ...applicationMember,
          agent: { kind: 'text', nullable: true, description: 'The program; null: no use.' },
          lastUsedAt: { kind: 'time', nullable: true, description: 'Null: never.' },
          calls7Days: count,
          calls30Days: count,
          tokens7Days: count,
          tokens30Days: count,
          refused30Days: count,
        },
      },
      firmsWithoutUse: { kind: 'texts', description: 'Firms with a live account that nobody uses.' },
      applicationsWithoutUse: { kind: 'texts', description: 'Applications that do not use the flow anywhere.' },
    }),
    async run({ database, clock }, { path }) {
      const atMs = clock.now();
      return { atMs, ...(await readLegacyReport(database, await getEnvironment(database, path.environment), atMs)) };
    },
    command: {
      options: {
        format: {
          kind: 'choice',
          values: ['table', 'csv', 'json'],
          standard: 'table',
          description: 'How it is shown.',
        },
      },
      print: (report, { path, options }) => printLegacyReport(report, path.environment, options['format'] === 'json'),
    },
  }),
  defineAdminAction({
    name: 'legacy migrate',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/migrate',
    summary: 'Make what an application lacks to use client credentials with the same rights as its legacy logins',
    roles: ['operator', 'vendor'],
    creates: true,
    output: one({
      tokenUrl: { kind: 'text', description: 'The token endpoint.' },
      firms: { kind: 'texts', description: 'Firms where the application acts as before.' },
      clientId: { kind: 'text', optional: true, description: 'Absent when there was one.' },
      clientSecret: { kind: 'text', secret: true, optional: true, description: 'It cannot be shown again.' },
      apiKey: {
        kind: 'text',
        secret: true,
        optional: true,
        description: 'Absent when there was one; it cannot be shown again.',
      },
    }),
    async run(context, { path }) {
      const { database, secrets, originOfRealm } = context;
      const application = await getTargetApplication(context, path);
      const { realm } = await getEnvironment(database, path.environment);
      const made = await migrateToClientCredentials(database, secrets, application);
      return {
        ...made,
        acl: application.acl,
        tokenUrl: `${originOfRealm(realm)}${buildRealmPath(realm)}/protocol/openid-connect/token`,
      };
    },
    command: {
      print: ({ tokenUrl, acl, firms, clientId, clientSecret, apiKey }) => [
        `token endpoint: ${tokenUrl}`,
        `acl: ${acl.join(' ')}`,
        `firms: ${firms.length === 0 ? 'none has authorised it' : firms.join(' ')}`,
        ...(clientId === undefined ? [] : [`client_id: ${clientId}`]),
        ...(clientSecret === undefined ? [] : [`client_secret: ${clientSecret}`]),
        ...(apiKey === undefined ? [] : [`x-api-key: ${apiKey}`]),
      ],
    },
  }),
  defineAdminAction({
    name: 'legacy sunset show',
    method: 'GET',
    path: '/environments/{environment}/legacy/sunsets',
    summary: 'List what is announced; the narrowest that fits a caller counts',
    roles: operators,
    output: list({
      ...scopeMembers,
      deprecatedAt: { kind: 'time', precision: 'second', description: 'Since or from when the flow is deprecated.' },
      sunsetAt: { kind: 'time', precision: 'second', nullable: true, description: 'Its end; null: none is announced.' },
      link: { kind: 'text', description: 'A page about the migration.' },
    }),
    run: async ({ database }, { path }) => listSunsets(database, await getEnvironment(database, path.environment)),
  }),
  defineAdminAction({
    name: 'legacy sunset set',
    method: 'PUT',
    path: '/environments/{environment}/legacy/sunsets',
    summary: 'Announce that the legacy flow is deprecated and when it ends; from then on it is refused',
    roles: operators,
    fields: {
      ...scopeFields,
      link: { kind: 'text', lengthMax: linkLengthMax, required: true, description: 'A page about the migration.' },
      deprecatedAt: { kind: 'time', option: 'deprecated', description: 'Since or from when; now when absent.' },
      sunsetAt: { kind: 'time', option: 'sunset', description: 'The end; none is announced when absent.' },
    },
    async run(context, { path, body: { link, deprecatedAt = context.clock.now(), sunsetAt, ...scope } }) {
      await setSunset(context.database, await scopeOf(context, path.environment, scope), {
        link,
        deprecatedAtMs: deprecatedAt,
        ...(sunsetAt === undefined ? {} : { sunsetAtMs: sunsetAt }),
      });
    },
    command: {
      print: (_, { path, body: { sunsetAt, ...scope } }) => {
        const end = sunsetAt === undefined ? 'no end is announced' : `it ends at ${formatToSecond(sunsetAt)}`;
        return [`the legacy flow is deprecated for ${scopeText(path, scope)}; ${end}`];
      },
    },
  }),
  defineAdminAction({
    name: 'legacy sunset clear',
    method: 'POST',
    path: '/environments/{environment}/legacy/sunsets/clear',
    summary: 'Take back what was announced for exactly this scope, from the next request on',
    roles: operators,
    fields: scopeFields,
    run: async (context, { path, body }) =>
      clearSunset(context.database, await scopeOf(context, path.environment, body)),
    command: { print: (_, { path, body }) => [`nothing is announced for ${scopeText(path, body)} by itself`] },
  }),
  defineAdminAction({
    name: 'legacy brown-out list',
    method: 'GET',
    path: '/environments/{environment}/legacy/brown-outs',
    summary: 'List the brown-outs, past ones too',
    roles: operators,
    output: list({
      id: { kind: 'integer', description: 'Its number.' },
      ...scopeMembers,
      startsAt: { kind: 'time', precision: 'second', label: 'from', description: 'From when.' },
      endsAt: { kind: 'time', precision: 'second', label: 'until', description: 'Until before when.' },
    }),
    async run({ database, clock }, { path }) {
      const nowMs = clock.now();
      const brownOuts = await listBrownOuts(database, await getEnvironment(database, path.environment));
      return brownOuts.map((each) => ({
        ...each,
        state: nowMs < each.startsAtMs ? 'planned' : nowMs < each.endsAtMs ? 'running' : 'over',
      }));
    },
    command: {
      columns: ['id', 'firm', 'application', 'startsAt', 'endsAt', { heading: 'STATE', cell: ({ state }) => state }],
    },
  }),
  defineAdminAction({
    name: 'legacy brown-out add',
    method: 'POST',
    path: '/environments/{environment}/legacy/brown-outs',
    summary: 'Plan a time in which the legacy flow is refused; it returns by itself',
    roles: operators,
    creates: true,
    fields: {
      ...scopeFields,
      from: { kind: 'time', required: true, description: 'Its beginning.' },
      until: { kind: 'time', required: true, description: 'Its end.' },
    },
    output: one({ id: { kind: 'integer', description: 'Its number.' } }),
    async run(context, { path, body: { from, until, ...scope } }) {
      const times = { startsAtMs: from, endsAtMs: until };
      const planned = await scopeOf(context, path.environment, scope);
      return { id: await addBrownOut(context.database, context.clock, planned, times) };
    },
    command: {
      print: ({ id }, { path, body }) => {
        const [from, until] = [body.from, body.until].map(formatToSecond);
        return [`brown-out ${id} for ${scopeText(path, body)} from ${from} until ${until}`];
      },
    },
  }),
  defineAdminAction({
    name: 'legacy brown-out remove',
    method: 'DELETE',
    path: '/environments/{environment}/legacy/brown-outs/{brownOut}',
    summary: 'Take a brown-out back; one that is running ends with the next request',
    roles: operators,
    run: async ({ database }, { path }) =>
      removeBrownOut(
        database,
        await getEnvironment(database, path.environment),
        parseSegmentNumber('brownOut', path.brownOut),
      ),
    command: { print: (_, { path }) => [`brown-out ${path.brownOut} is removed`] },
  }),
];

/** `Scheduler at maple in sandbox` */
function scopeText(
  { environment }: { readonly environment: string },
  { firm, application = 'all applications' }: { readonly firm?: string; readonly application?: string },
): string {
  return firm === undefined ? `${application} in ${environment}` : `${application} at ${firm} in ${environment}`;
}

async function scopeOf(
  context: AdminContext,
  name: string,
  { firm, application }: { readonly firm?: string; readonly application?: string },
): Promise<LegacyScope> {
  const environment = await getEnvironment(context.database, name);
  return {
    environment,
    ...(firm === undefined ? {} : { firm: await getTargetFirm(context, { environment: name, firm }) }),
    ...(application === undefined
      ? {}
      : { application: await getTargetApplication(context, { environment: name, application }) }),
  };
}
