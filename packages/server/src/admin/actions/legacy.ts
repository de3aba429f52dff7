/** `praxis legacy …`: the end of the legacy flow. */

import { nothing, type Shape } from '../../actions/action.ts';
import { applicationMember, firmMember, segment, title } from '../../actions/fields.ts';
import { applicationOf, firmOf, numberOf } from '../../actions/targets.ts';
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
import { realmPath } from '../../oauth/signing/client-tokens.ts';
import { getEnvironment } from '../../tenancy/environments.ts';
import { type AdminContext, defineAdminAction } from '../context.ts';

const operators = ['operator'] as const;

const scopeFields = {
  firm: segment('Only this firm, by its prefix.'),
  application: title('Only this application, by its name.'),
} as const;

const scopeMembers: Shape = {
  firm: { kind: 'text', nullable: true, description: 'Prefix; null: all.' },
  application: { kind: 'text', nullable: true, description: 'Name; null: all.' },
};

const count = { kind: 'integer', description: 'How often, in UTC days with today.' } as const;

export const legacyActions = [
  defineAdminAction({
    name: 'legacy report',
    method: 'GET',
    path: '/environments/{environment}/legacy/report',
    summary: 'Who uses the legacy flow: firms, applications and their programs, and who does not',
    roles: operators,
    fields: {},
    output: {
      kind: 'one',
      shape: {
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
      },
    },
    run: async ({ database, clock }, { path }) =>
      readLegacyReport(database, await getEnvironment(database, path.environment), clock.now()),
  }),
  defineAdminAction({
    name: 'legacy migrate',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/migrate',
    summary: 'Make what an application lacks to use client credentials with the same rights as its legacy logins',
    roles: ['operator', 'vendor'],
    creates: true,
    fields: {},
    output: {
      kind: 'one',
      shape: {
        tokenUrl: { kind: 'text', description: 'The token endpoint.' },
        firms: { kind: 'texts', description: 'Firms where the application acts as before.' },
        clientId: { kind: 'text', optional: true, description: 'Absent when there was one.' },
        clientSecret: { kind: 'text', optional: true, description: 'It cannot be shown again.' },
        apiKey: { kind: 'text', optional: true, description: 'Absent when there was one; it cannot be shown again.' },
      },
    },
    async run(context, { path }) {
      const { database, secrets, originOfRealm } = context;
      const application = await applicationOf(context, path);
      const { realm } = await getEnvironment(database, path.environment);
      const made = await migrateToClientCredentials(database, secrets, application);
      return { ...made, tokenUrl: `${originOfRealm(realm)}${realmPath(realm)}/protocol/openid-connect/token` };
    },
  }),
  defineAdminAction({
    name: 'legacy sunset show',
    method: 'GET',
    path: '/environments/{environment}/legacy/sunsets',
    summary: 'List what is announced; the narrowest that fits a caller counts',
    roles: operators,
    fields: {},
    output: {
      kind: 'list',
      shape: {
        ...scopeMembers,
        deprecatedAt: { kind: 'time', description: 'Since or from when the flow is deprecated.' },
        sunsetAt: { kind: 'time', nullable: true, description: 'Its end; null: none is announced.' },
        link: { kind: 'text', description: 'A page about the migration.' },
      },
    },
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
      deprecatedAt: { kind: 'time', description: 'Since or from when; now when absent.' },
      sunsetAt: { kind: 'time', description: 'The end; none is announced when absent.' },
    },
    output: nothing,
    async run(context, { path, body: { link, deprecatedAt = context.clock.now(), sunsetAt, ...scope } }) {
      await setSunset(context.database, await scopeOf(context, path.environment, scope), {
        link,
        deprecatedAtMs: deprecatedAt,
        ...(sunsetAt === undefined ? {} : { sunsetAtMs: sunsetAt }),
      });
    },
  }),
  defineAdminAction({
    name: 'legacy sunset clear',
    method: 'POST',
    path: '/environments/{environment}/legacy/sunsets/clear',
    summary: 'Take back what was announced for exactly this scope, from the next request on',
    roles: operators,
    fields: scopeFields,
    output: nothing,
    run: async (context, { path, body }) =>
      clearSunset(context.database, await scopeOf(context, path.environment, body)),
  }),
  defineAdminAction({
    name: 'legacy brown-out list',
    method: 'GET',
    path: '/environments/{environment}/legacy/brown-outs',
    summary: 'List the brown-outs, past ones too',
    roles: operators,
    fields: {},
    output: {
      kind: 'list',
      shape: {
        id: { kind: 'integer', description: 'Its number.' },
        ...scopeMembers,
        startsAt: { kind: 'time', description: 'From when.' },
        endsAt: { kind: 'time', description: 'Until before when.' },
      },
    },
    run: async ({ database }, { path }) => listBrownOuts(database, await getEnvironment(database, path.environment)),
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
    output: { kind: 'one', shape: { id: { kind: 'integer', description: 'Its number.' } } },
    async run(context, { path, body: { from, until, ...scope } }) {
      const times = { startsAtMs: from, endsAtMs: until };
      const planned = await scopeOf(context, path.environment, scope);
      return { id: await addBrownOut(context.database, context.clock, planned, times) };
    },
  }),
  defineAdminAction({
    name: 'legacy brown-out remove',
    method: 'DELETE',
    path: '/environments/{environment}/legacy/brown-outs/{brownOut}',
    summary: 'Take a brown-out back; one that is running ends with the next request',
    roles: operators,
    fields: {},
    output: nothing,
    run: async ({ database }, { path }) =>
      removeBrownOut(database, await getEnvironment(database, path.environment), numberOf('brownOut', path.brownOut)),
  }),
];

async function scopeOf(
  context: AdminContext,
  name: string,
  { firm, application }: { readonly firm?: string; readonly application?: string },
): Promise<LegacyScope> {
  const environment = await getEnvironment(context.database, name);
  return {
    environment,
    ...(firm === undefined ? {} : { firm: await firmOf(context, { environment: name, firm }) }),
    ...(application === undefined
      ? {}
      : { application: await applicationOf(context, { environment: name, application }) }),
  };
}
