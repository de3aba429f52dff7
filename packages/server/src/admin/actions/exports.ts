/** `praxis exports …`, `praxis app exports`: what leaves a practice as files, and how far it is. */
import { firmMember } from '../../actions/fields.ts';
import { listOverFirms } from '../../actions/over-firms.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import {
  getPlaceOfApplication,
  getTargetApplication,
  getTargetFirm,
  type PlaceOfApplication,
  requireUuid,
} from '../../actions/targets.ts';
import { fail } from '../../base/errors.ts';
import { cancelExport, listShownExports, type SeenExports, type ShownExport } from '../../bulk-export/oversight.ts';
import { listFirmsOfApplication } from '../../tenancy/authorisations.ts';
import { listFirms } from '../../tenancy/firms.ts';
import { type AdminContext, defineAdminAction } from '../context.ts';

const shape: Shape = {
  id: { kind: 'text', description: 'The id of the export.' },
  application: { kind: 'text', description: 'The name of the application.' },
  level: { kind: 'choice', values: ['system', 'patient', 'group'], description: 'Which operation was asked for.' },
  state: {
    kind: 'choice',
    values: ['planning', 'complete'],
    description: 'An export is planned further whenever the application asks how far it is.',
  },
  created: { kind: 'time', description: 'When it was begun.' },
  transactionTime: { kind: 'time', precision: 'instant', label: 'moment', description: 'The moment of its data.' },
  since: { kind: 'time', nullable: true, description: 'The value of _since. Null: everything is exported.' },
  expires: { kind: 'time', description: 'Until when its files can be fetched.' },
  types: { kind: 'integer', description: 'How many resource types are exported.' },
  typesDone: { kind: 'integer', description: 'How many of them are planned.' },
  files: { kind: 'integer', description: 'How many files are planned.' },
};

const columns = ['id', 'application', 'level', 'state', 'created', 'typesDone', 'types', 'files', 'expires'] as const;
const firmPath = '/environments/{environment}/firms/{firm}/exports';
const practices = ['operator', 'practice'] as const;
const ofApplication = '/environments/{environment}/applications/{application}';
const atFirm = `${ofApplication}/firms/{at}/exports` as const;
const vendors = ['operator', 'vendor'] as const;

export const exportActions = [
  defineAdminAction({
    name: 'exports list',
    method: 'GET',
    path: firmPath,
    summary: 'List the bulk exports of a firm that applications have begun, the newest first',
    roles: practices,
    output: list(shape),
    run: async (context, { path }) => await listAt(context, await seenByPractice(context, path)),
    command: { columns },
  }),
  defineAdminAction({
    name: 'exports all',
    method: 'GET',
    path: '/environments/{environment}/exports',
    summary: 'List the bulk exports of all firms of an environment',
    requestNote: 'Where `more` is true, ask firm by firm.',
    roles: ['operator'],
    output: list({ ...firmMember, ...shape }),
    run: async ({ database, clock, rowsMax }, { path }) =>
      await listOverFirms(
        await listFirms(database, path.environment),
        rowsMax,
        async (firm, limit) => await listShownExports(database, { firm }, { nowMs: clock.now(), limit }),
      ),
    command: { columns: ['firm', ...columns] },
  }),
  defineAdminAction({
    name: 'exports show',
    method: 'GET',
    path: `${firmPath}/{export}`,
    summary: 'Show how far a bulk export is',
    roles: practices,
    output: one(shape),
    run: async (context, { path }) => await showOne(context, await seenByPractice(context, path), path.export),
  }),
  defineAdminAction({
    name: 'exports cancel',
    method: 'DELETE',
    path: `${firmPath}/{export}`,
    summary: 'Remove a bulk export: its files cannot be fetched any more',
    roles: practices,
    run: async (context, { path }) => await cancel(context, await seenByPractice(context, path), path.export),
    command: { print: (_, { path }) => [`export ${path.export} is removed`] },
  }),
  defineAdminAction({
    name: 'app exports',
    method: 'GET',
    path: `${ofApplication}/exports`,
    summary: 'List the bulk exports of an application at all firms that have authorised it',
    requestNote: 'Where `more` is true, ask firm by firm.',
    roles: vendors,
    output: list({ ...firmMember, ...shape }),
    run: async (context, { path }) => {
      const { database, clock, rowsMax } = context;
      const application = await getTargetApplication(context, path);
      const firms = await listFirmsOfApplication(database, application);
      return await listOverFirms(firms, rowsMax, (firm, limit) =>
        listShownExports(database, { firm, application: application.id }, { nowMs: clock.now(), limit }),
      );
    },
    command: { columns: ['firm', 'id', 'level', 'state', 'created', 'typesDone', 'types', 'files', 'expires'] },
  }),
  defineAdminAction({
    name: 'app exports-at',
    method: 'GET',
    path: atFirm,
    summary: 'List the bulk exports of an application at a firm, the newest first',
    roles: vendors,
    output: list(shape),
    run: async (context, { path }) => await listAt(context, await seenByVendor(context, path)),
    command: { columns },
  }),
  defineAdminAction({
    name: 'app show-export',
    method: 'GET',
    path: `${atFirm}/{export}`,
    summary: 'Show how far a bulk export of an application is',
    roles: vendors,
    output: one(shape),
    run: async (context, { path }) => await showOne(context, await seenByVendor(context, path), path.export),
  }),
  defineAdminAction({
    name: 'app cancel-export',
    method: 'DELETE',
    path: `${atFirm}/{export}`,
    summary: 'Remove a bulk export of an application: its files cannot be fetched any more',
    roles: vendors,
    run: async (context, { path }) => await cancel(context, await seenByVendor(context, path), path.export),
    command: { print: (_, { path }) => [`export ${path.export} is removed`] },
  }),
];

interface FirmPath {
  readonly environment: string;
  readonly firm: string;
}

async function seenByPractice(context: AdminContext, path: FirmPath): Promise<SeenExports> {
  return { firm: (await getTargetFirm(context, path)).id };
}

async function seenByVendor(context: AdminContext, path: PlaceOfApplication): Promise<SeenExports> {
  const { firm, application } = await getPlaceOfApplication(context, path);
  return { firm: firm.id, application: application.id };
}

async function listAt({ database, clock, rowsMax }: AdminContext, seen: SeenExports): Promise<readonly ShownExport[]> {
  return await listShownExports(database, seen, { nowMs: clock.now(), limit: rowsMax + 1 });
}

async function showOne({ database, clock }: AdminContext, seen: SeenExports, id: string): Promise<ShownExport> {
  requireUuid('export', id);
  const [found] = await listShownExports(database, seen, { nowMs: clock.now(), limit: 1, id });
  return found ?? refuseUnknown();
}

/** @throws PraxisError `resource-not-found` */
async function cancel({ database }: AdminContext, seen: SeenExports, id: string): Promise<void> {
  requireUuid('export', id);
  if (!(await cancelExport(database, seen, id))) refuseUnknown();
}

function refuseUnknown(): never {
  return fail('resource-not-found', {
    diagnostics: 'There is no such export, or it has expired',
    expression: ['export'],
  });
}
