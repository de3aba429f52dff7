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
  firm: { kind: 'text', nullable: true, none: '(all)', description: 'The prefix of the firm. Null: all firms.' },
  application: {
    kind: 'text',
    nullable: true,
    none: '(all)',
    description: 'The name of the application. Null: all applications.',
  },
};

const count = { kind: 'integer', description: 'The number of requests, in whole UTC days including today.' } as const;

export const legacyActions = [
  defineAdminAction({
    name: 'legacy report',
    method: 'GET',
    path: '/environments/{environment}/legacy/report',
    summary: 'Report which firms, applications and programs use the legacy flow, and which do not',
    roles: operators,
    output: one({
      rows: {
        kind: 'list',
        description: 'One program of an application at a firm. A pair without use has one row.',
        shape: {
          ...firmMember,
          ...applicationMember,
          agent: { kind: 'text', nullable: true, description: 'The program. Null: no use.' },
          lastUsedAt: { kind: 'time', nullable: true, description: 'When it was last used. Null: never.' },
          calls7Days: count,
          calls30Days: count,
          tokens7Days: count,
          tokens30Days: count,
          refused30Days: count,
        },
      },
      firmsWithoutUse: { kind: 'texts', description: 'Firms with an active account that is not used.' },
      applicationsWithoutUse: { kind: 'texts', description: 'Applications that do not use the flow at any firm.' },
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
          description: 'The output format.',
        },
      },
      print: (report, { path, options }) => printLegacyReport(report, path.environment, options['format'] === 'json'),
    },
  }),
  defineAdminAction({
    name: 'legacy migrate',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/migrate',
    summary: 'Create what an application needs to use client credentials with the rights of its legacy accounts',
    roles: ['operator', 'vendor'],
    creates: true,
    output: one({
      tokenUrl: { kind: 'text', description: 'The token endpoint.' },
      firms: { kind: 'texts', description: 'The firms that authorise the application as before.' },
      clientId: {
        kind: 'text',
        optional: true,
        description: 'The new client_id. Absent when the application had one.',
      },
      clientSecret: {
        kind: 'text',
        secret: true,
        optional: true,
        description: 'The client secret. It is shown only once.',
      },
      apiKey: {
        kind: 'text',
        secret: true,
        optional: true,
        description: 'The new value of x-api-key. It is shown only once. Absent when the application had one.',
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
    summary: 'List the announcements; the most specific one that matches a caller applies',
    roles: operators,
    output: list({
      ...scopeMembers,
      deprecatedAt: { kind: 'time', precision: 'second', description: 'From when the flow is deprecated.' },
      sunsetAt: {
        kind: 'time',
        precision: 'second',
        nullable: true,
        description: 'When the flow ends. Null: not announced.',
      },
      link: { kind: 'text', description: 'The URL of a page about the migration.' },
    }),
    run: async ({ database }, { path }) => listSunsets(database, await getEnvironment(database, path.environment)),
  }),
  defineAdminAction({
    name: 'legacy sunset set',
    method: 'PUT',
    path: '/environments/{environment}/legacy/sunsets',
    summary: 'Announce when the legacy flow is deprecated and when it ends; after its end it is refused',
    roles: operators,
    fields: {
      ...scopeFields,
      link: {
        kind: 'text',
        lengthMax: linkLengthMax,
        required: true,
        description: 'The URL of a page about the migration.',
      },
      deprecatedAt: {
        kind: 'time',
        option: 'deprecated',
        description: 'From when the flow is deprecated. The default is now.',
      },
      sunsetAt: {
        kind: 'time',
        option: 'sunset',
        description: 'When the flow ends. When absent, no end is announced.',
      },
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
    summary: 'Withdraw the announcement for exactly this scope, at once',
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
    summary: 'List the brown-outs, including past ones',
    roles: operators,
    output: list({
      id: { kind: 'integer', description: 'The id.' },
      ...scopeMembers,
      startsAt: { kind: 'time', precision: 'second', label: 'from', description: 'When it starts.' },
      endsAt: { kind: 'time', precision: 'second', label: 'until', description: 'When it ends, exclusive.' },
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
    summary: 'Schedule a brown-out: a period in which the legacy flow is refused',
    roles: operators,
    creates: true,
    fields: {
      ...scopeFields,
      from: { kind: 'time', required: true, description: 'When it starts.' },
      until: { kind: 'time', required: true, description: 'When it ends.' },
    },
    output: one({ id: { kind: 'integer', description: 'The id.' } }),
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
    summary: 'Remove a brown-out; a running one ends at once',
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
