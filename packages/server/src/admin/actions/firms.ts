/** `praxis firm …`: the practices; and what a practice sees of itself. */

import { segment, title } from '../../actions/fields.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { getTargetFirm } from '../../actions/targets.ts';
import { createFirm, listFirms, resumeFirm, setRequiredReferences, suspendFirm } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import { defineAdminAction } from '../context.ts';

const firm: Shape = {
  prefix: { kind: 'text', label: 'firm', description: 'The prefix in paths.' },
  name: { kind: 'text', description: 'The name.' },
  timeZone: { kind: 'text', description: 'The IANA time zone of its dates.' },
  state: {
    kind: 'choice',
    values: ['active', 'suspended'],
    description: 'A suspended firm refuses every application.',
  },
  requiresReferences: { kind: 'flag', description: 'Whether writes with references to missing resources are refused.' },
};

export const firmActions = [
  defineAdminAction({
    name: 'firm list',
    method: 'GET',
    path: '/environments/{environment}/firms',
    summary: 'List the firms of an environment',
    roles: ['operator'],
    output: list(firm),
    run: ({ database }, { path }) => listFirms(database, path.environment),
    command: { columns: ['prefix', 'name', 'timeZone', 'state'] },
  }),
  defineAdminAction({
    name: 'firm create',
    method: 'POST',
    path: '/environments/{environment}/firms',
    summary: 'Create a firm',
    roles: ['operator'],
    creates: true,
    fields: {
      prefix: { ...segment('The prefix in paths.'), required: true },
      name: { ...title('The name.'), required: true },
      timeZone: {
        kind: 'text',
        lengthMax: 64,
        description: 'The IANA time zone of its dates. The default is America/New_York.',
      },
    },
    output: one(firm),
    run: ({ database }, { path, body: { prefix, name, timeZone = 'America/New_York' } }) =>
      createFirm(database, { environment: path.environment, prefix, name, timeZone }),
    command: {
      arguments: ['prefix', 'name'],
      print: ({ prefix, environment }) => [`firm ${prefix} in ${environment}`],
    },
  }),
  defineAdminAction({
    name: 'firm show',
    method: 'GET',
    path: '/environments/{environment}/firms/{firm}',
    summary: 'Show a firm',
    roles: ['operator', 'practice'],
    output: one(firm),
    run: (context, { path }) => getTargetFirm(context, path),
  }),
  defineAdminAction({
    name: 'firm suspend',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/suspend',
    summary: 'Suspend a firm: refuse its applications and administrators, at once',
    roles: ['operator'],
    run: async (context, { path }) => suspendFirm(context.database, await getTargetFirm(context, path)),
    command: { print: (_, { path }) => [`firm ${path.firm} is suspended`] },
  }),
  defineAdminAction({
    name: 'firm resume',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/resume',
    summary: 'End a suspension',
    roles: ['operator'],
    run: async (context, { path }) =>
      resumeFirm(context.database, await getTargetFirm(context, path), {
        by: context.caller.username,
        nowMs: context.clock.now(),
      }),
    command: { print: (_, { path }) => [`firm ${path.firm} is active`] },
  }),
  defineAdminAction({
    name: 'firm references',
    method: 'PUT',
    path: '/environments/{environment}/firms/{firm}/references',
    summary: 'Refuse or accept writes with references to missing resources of the firm',
    roles: ['operator', 'practice'],
    fields: {
      required: {
        kind: 'flag',
        words: ['required', 'free'],
        required: true,
        description: 'Whether they are refused. The default is false.',
      },
    },
    run: async (context, { path, body }) =>
      setRequiredReferences(context.database, await getTargetFirm(context, path), body.required),
    command: {
      arguments: ['firm', 'required'],
      print: (_, { path, body }) => [`references of firm ${path.firm} are ${body.required ? 'required' : 'free'}`],
    },
  }),
  defineAdminAction({
    name: 'firm search-parameters',
    method: 'GET',
    path: '/environments/{environment}/firms/{firm}/search-parameters',
    summary: "Show the state of the firm's own search parameters",
    roles: ['operator', 'practice'],
    output: list({
      url: { kind: 'text', description: 'The canonical URL.' },
      resourceId: { kind: 'text', description: 'The id of the SearchParameter.' },
      state: {
        kind: 'choice',
        values: ['indexing', 'active', 'failed', 'dropping', 'refused'],
        description:
          'An active parameter can be used in searches. A failed one costs too much; a new version of it starts indexing again.',
      },
      percent: { kind: 'integer', description: 'How much of the stored data is indexed, in percent.' },
      reason: {
        kind: 'text',
        nullable: true,
        description: 'Why it is refused, failed or paused.',
      },
    }),
    async run(context, { path }) {
      const scope = await openOperatorScope(context.database, context.clock, await getTargetFirm(context, path));
      return await context.store.parameterStandings(scope);
    },
  }),
];
