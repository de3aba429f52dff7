/** `praxis app …`: the vendors' programs, and what their vendors see and change of them. */

import { acl, defaultPurpose, title } from '../../actions/fields.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { getTargetApplication } from '../../actions/targets.ts';
import { insertApiKey } from '../../oauth/client-auth/api-keys.ts';
import { insertClientWithSecret } from '../../oauth/client-auth/clients.ts';
import { buildRealmPath } from '../../oauth/signing/client-tokens.ts';
import { describeSettings, settingNames } from '../../tenancy/application-settings.ts';
import {
  createApplication,
  listApplications,
  resumeApplication,
  setApplicationAcl,
  setApplicationSettings,
  suspendApplication,
} from '../../tenancy/applications.ts';
import { insertAuthorisation, listAuthorisingFirms } from '../../tenancy/authorisations.ts';
import { getEnvironment } from '../../tenancy/environments.ts';
import { getFirm } from '../../tenancy/firms.ts';
import { defineAdminAction } from '../context.ts';
import { entryProblem } from '../entry-problem.ts';

/** Firms that authorise a new application at once. */
const firmsMax = 100;

const application: Shape = {
  name: { kind: 'text', label: 'application', description: 'The name, unique in its environment.' },
  state: {
    kind: 'choice',
    values: ['active', 'suspended'],
    description: 'A suspended application is refused everywhere.',
  },
  acl: { kind: 'texts', description: 'The entries that its tokens may carry and that firms may authorise.' },
  settings: { kind: 'flags', description: 'Compatibility settings that are on.' },
};

const settings = {
  kind: 'flags',
  names: settingNames,
  option: 'setting',
  description: 'Compatibility settings to turn on. All others are off.',
} as const;

export const applicationActions = [
  defineAdminAction({
    name: 'app list',
    method: 'GET',
    path: '/environments/{environment}/applications',
    summary: 'List the applications of an environment',
    roles: ['operator'],
    output: list(application),
    run: ({ database }, { path }) => listApplications(database, path.environment),
    command: { columns: ['name', 'state', 'acl'] },
  }),
  defineAdminAction({
    name: 'app create',
    method: 'POST',
    path: '/environments/{environment}/applications',
    summary: 'Create an application with the entries that its tokens may carry',
    description:
      'With firms it is ready for use: it also gets an API key and a client of the client-credentials flow, and an authorisation of all its entries at each firm. All of it is made, or nothing.',
    roles: ['operator'],
    creates: true,
    fields: {
      name: { ...title('The name, unique in its environment.'), required: true },
      acl: { ...acl('The entries.'), required: true },
      settings,
      firms: {
        kind: 'texts',
        itemsMax: firmsMax,
        lengthMax: 63,
        option: 'firm',
        place: 'firm',
        description: 'Prefixes of firms that authorise it immediately.',
      },
      purpose: title(`Why they do; ${defaultPurpose} when absent.`),
    },
    output: one({
      ...application,
      tokenUrl: {
        kind: 'text',
        optional: true,
        description: 'The token endpoint. Absent, like the members below, when no firm is named.',
      },
      baseUrls: {
        kind: 'texts',
        optional: true,
        description: 'The FHIR base URL at each firm, in the order of the request.',
      },
      clientId: { kind: 'text', optional: true, description: 'The client_id.' },
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
        description: 'The value of x-api-key. It is shown only once.',
      },
    }),
    async run(context, { path: { environment }, body: { firms = [], purpose = defaultPurpose, ...draft } }) {
      return await context.database.transaction(undefined, async (tx) => {
        const made = await createApplication(tx, { ...draft, environment }, entryProblem);
        if (firms.length === 0) return made;
        const { realm } = await getEnvironment(tx, environment);
        for (const prefix of new Set(firms)) {
          const firm = await getFirm(tx, environment, prefix);
          const terms = { purpose, by: context.caller.username };
          await insertAuthorisation(tx, context.clock, firm, made, terms, entryProblem);
        }
        const { apiKey } = await insertApiKey(tx, context.secrets, made, 'client', 'first');
        const client = await insertClientWithSecret(tx, context.secrets, made);
        const baseUrls = [...new Set(firms)].map((prefix) => context.baseUrlOf({ environment, prefix }));
        const tokenUrl = `${context.originOfRealm(realm)}${buildRealmPath(realm)}/protocol/openid-connect/token`;
        return { ...made, baseUrls, tokenUrl, ...client, apiKey };
      });
    },
    command: {
      arguments: ['name'],
      print: (made) => [
        `application ${made.name} in ${made.environment} with ${made.acl.length} entries`,
        ...('apiKey' in made
          ? [
              ...made.baseUrls.map((url) => `FHIR base: ${url}`),
              `token endpoint: ${made.tokenUrl}`,
              `client_id: ${made.clientId}`,
              `client_secret: ${made.clientSecret}`,
              `x-api-key: ${made.apiKey}`,
            ]
          : []),
      ],
    },
  }),
  defineAdminAction({
    name: 'app show',
    method: 'GET',
    path: '/environments/{environment}/applications/{application}',
    summary: 'Show an application',
    roles: ['operator', 'vendor'],
    output: one(application),
    run: (context, { path }) => getTargetApplication(context, path),
  }),
  defineAdminAction({
    name: 'app acl',
    method: 'PUT',
    path: '/environments/{environment}/applications/{application}/acl',
    summary: 'Replace the entries of an application',
    description: 'Authorisations stay as they are. An entry that the application no longer has is refused.',
    roles: ['operator'],
    fields: { acl: { ...acl('The entries.'), required: true } },
    run: async (context, { path, body }) =>
      setApplicationAcl(context.database, await getTargetApplication(context, path), body.acl, entryProblem),
    command: { print: (_, { path, body }) => [`application ${path.application} holds ${body.acl.length} entries`] },
  }),
  defineAdminAction({
    name: 'app settings',
    method: 'GET',
    path: '/environments/{environment}/applications/{application}/settings',
    summary: 'List the compatibility settings and their values for an application',
    roles: ['operator', 'vendor'],
    output: list({
      name: { kind: 'text', label: 'setting', description: 'The setting.' },
      on: { kind: 'flag', words: ['on', 'off'], label: 'state', description: 'Whether it is on.' },
      meaning: { kind: 'text', description: 'What changes when it is on.' },
      habit: { kind: 'text', description: 'Which clients need it.' },
    }),
    run: async (context, { path }) => describeSettings((await getTargetApplication(context, path)).settings),
    command: { columns: ['name', 'on', 'meaning'] },
  }),
  defineAdminAction({
    name: 'app set',
    method: 'PUT',
    path: '/environments/{environment}/applications/{application}/settings',
    summary: 'Replace the compatibility settings of an application',
    roles: ['operator', 'vendor'],
    fields: { settings: { ...settings, required: true } },
    run: async (context, { path, body }) =>
      setApplicationSettings(context.database, await getTargetApplication(context, path), body.settings),
    command: {
      print: (_, { path, body }) => {
        const pairs = Object.entries(body.settings).map(([name, on]) => `${name}=${on}`);
        return [`application ${path.application}: ${pairs.join(' ')}`];
      },
    },
  }),
  defineAdminAction({
    name: 'app suspend',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/suspend',
    summary: 'Suspend an application everywhere, and its vendor administrators, at once',
    roles: ['operator'],
    run: async (context, { path }) => suspendApplication(context.database, await getTargetApplication(context, path)),
    command: { print: (_, { path }) => [`application ${path.application} is suspended`] },
  }),
  defineAdminAction({
    name: 'app resume',
    method: 'POST',
    path: '/environments/{environment}/applications/{application}/resume',
    summary: 'End a suspension',
    roles: ['operator'],
    run: async (context, { path }) => resumeApplication(context.database, await getTargetApplication(context, path)),
    command: { print: (_, { path }) => [`application ${path.application} is active`] },
  }),
  defineAdminAction({
    name: 'app firms',
    method: 'GET',
    path: '/environments/{environment}/applications/{application}/firms',
    summary: 'List the firms that authorise an application now, by name',
    roles: ['operator', 'vendor'],
    output: list({
      prefix: { kind: 'text', description: 'The prefix of the firm in paths.' },
      name: { kind: 'text', description: 'The name.' },
    }),
    run: async (context, { path }) =>
      listAuthorisingFirms(context.database, context.clock, await getTargetApplication(context, path)),
  }),
];
