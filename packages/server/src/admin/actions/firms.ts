/** `praxis firm …`: the practices; and what a practice sees of itself. */

import { segment, title } from '../../actions/fields.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { getTargetFirm } from '../../actions/targets.ts';
import { createFirm, listFirms, resumeFirm, setRequiredReferences, suspendFirm } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import { defineAdminAction } from '../context.ts';

const firm: Shape = {
  prefix: { kind: 'text', label: 'firm', description: 'Segment of its paths.' },
  name: { kind: 'text', description: 'Its name.' },
  timeZone: { kind: 'text', description: 'IANA zone of its dates.' },
  state: { kind: 'choice', values: ['active', 'suspended'], description: 'Suspended: every application is refused.' },
  requiresReferences: { kind: 'flag', description: 'Writes that refer to what does not exist are refused.' },
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
    summary: 'Make a firm',
    roles: ['operator'],
    creates: true,
    fields: {
      prefix: { ...segment('Segment of its paths.'), required: true },
      name: { ...title('Its name.'), required: true },
      timeZone: { kind: 'text', lengthMax: 64, description: 'IANA zone of its dates; America/New_York when absent.' },
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
    summary: 'One firm',
    roles: ['operator', 'practice'],
    output: one(firm),
    run: (context, { path }) => getTargetFirm(context, path),
  }),
  defineAdminAction({
    name: 'firm suspend',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/suspend',
    summary: 'Refuse every application and administrator of a firm, from the next statement on',
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
    run: async (context, { path }) => resumeFirm(context.database, await getTargetFirm(context, path)),
    command: { print: (_, { path }) => [`firm ${path.firm} is active`] },
  }),
  defineAdminAction({
    name: 'firm references',
    method: 'PUT',
    path: '/environments/{environment}/firms/{firm}/references',
    summary: 'Refuse writes that refer to a resource of the firm that does not exist, or take them',
    roles: ['operator', 'practice'],
    fields: {
      required: {
        kind: 'flag',
        words: ['required', 'free'],
        required: true,
        description: 'Whether they are refused; at first they are not.',
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
    summary: 'How the search parameters stand that the firm has defined for itself',
    roles: ['operator', 'practice'],
    output: list({
      url: { kind: 'text', description: 'Canonical URL.' },
      resourceId: { kind: 'text', description: 'Id of the SearchParameter.' },
      state: {
        kind: 'choice',
        values: ['indexing', 'active', 'failed', 'dropping', 'refused'],
        description: 'Active: can be searched by. Failed: costs too much; a new version begins anew.',
      },
      percent: { kind: 'integer', description: 'How much of what was stored before is indexed.' },
      reason: {
        kind: 'text',
        nullable: true,
        description: 'Why it is refused, has failed, or is not indexed any further.',
      },
    }),
    async run(context, { path }) {
      const scope = await openOperatorScope(context.database, context.clock, await getTargetFirm(context, path));
      return await context.store.parameterStandings(scope);
    },
  }),
];
