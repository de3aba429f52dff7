/** `praxis imports …`: what comes into a practice as files, and how far it is. */
import { firmMember } from '../../actions/fields.ts';
import { listOverFirms } from '../../actions/over-firms.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { getTargetFirm, requireUuid } from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import { cancelImport, listShownImports } from '../../storage/import-runs.ts';
import { listFirms } from '../../tenancy/firms.ts';
import { defineAdminAction } from '../context.ts';

const shape: Shape = {
  id: { kind: 'text', description: 'The id of the import.' },
  state: {
    kind: 'choice',
    values: ['unfinished', 'finished', 'cancelled'],
    description: 'An unfinished import is under way, or goes on when its command is given again.',
  },
  begun: { kind: 'time', description: 'When it was begun.' },
  finished: { kind: 'time', nullable: true, description: 'When it ended.' },
  files: { kind: 'integer', description: 'How many files it has.' },
  bytes: { kind: 'integer', description: 'How many bytes they have.' },
  bytesDone: { kind: 'integer', nullable: true, description: 'How many of them are done. Null: it was cancelled.' },
  stored: { kind: 'integer', description: 'How many resources it has stored.' },
  skipped: { kind: 'integer', description: 'How many it has skipped.' },
  refused: { kind: 'integer', description: 'How many it has refused.' },
};

const firmPath = '/environments/{environment}/firms/{firm}/imports';
const practices = ['operator', 'practice'] as const;

export const importActions = [
  defineAdminAction({
    name: 'imports list',
    method: 'GET',
    path: firmPath,
    summary: 'List the imports of files at a firm, the newest first',
    roles: practices,
    output: list(shape),
    run: async (context, { path }) => {
      const { id } = await getTargetFirm(context, path);
      return await listShownImports(context.database, id, { limit: context.rowsMax + 1 });
    },
  }),
  defineAdminAction({
    name: 'imports all',
    method: 'GET',
    path: '/environments/{environment}/imports',
    summary: 'List the imports of files at all firms of an environment',
    requestNote: 'Where `more` is true, ask firm by firm.',
    roles: ['operator'],
    output: list({ ...firmMember, ...shape }),
    run: async ({ database, rowsMax }, { path }) =>
      await listOverFirms(
        await listFirms(database, path.environment),
        rowsMax,
        async (firm, limit) => await listShownImports(database, firm, { limit }),
      ),
  }),
  defineAdminAction({
    name: 'imports show',
    method: 'GET',
    path: `${firmPath}/{import}`,
    summary: 'Show how far an import is',
    roles: practices,
    output: one(shape),
    async run(context, { path }) {
      requireUuid('import', path.import);
      const { id } = await getTargetFirm(context, path);
      const [found] = await listShownImports(context.database, id, { limit: 1, id: path.import });
      return found ?? refuseUnknown();
    },
  }),
  defineAdminAction({
    name: 'imports cancel',
    method: 'DELETE',
    path: `${firmPath}/{import}`,
    summary: 'End an import: its process stops, what it has stored stays, the same files begin another one',
    roles: practices,
    async run(context, { path }) {
      requireUuid('import', path.import);
      const { id } = await getTargetFirm(context, path);
      if (!(await cancelImport(context.database, id, path.import, context.clock.now()))) refuseUnknown();
    },
    command: { print: (_, { path }) => [`import ${path.import} is cancelled`] },
  }),
];

function refuseUnknown(): never {
  return fail('resource-not-found', {
    diagnostics: 'There is no such import, or it has ended',
    expression: ['import'],
  });
}
