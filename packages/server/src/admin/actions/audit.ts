/**
 * `praxis audit …`, `praxis access explain`: what applications saw, what was asked of the service itself, and what
 * applications may do.
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { parseScope } from '../../access/grammar.ts';
import { formatRowQuery } from '../../access/row-query.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { getTargetApplication, getTargetFirm } from '../../actions/targets.ts';
import { serviceActions } from '../../audit/audit-row.ts';
import { listDisclosureArchives, streamDisclosures } from '../../audit/disclosures.ts';
import { listServiceRows } from '../../audit/service-rows.ts';
import {
  computeEffectiveAccess,
  interactionNames,
  type PermissionGrant,
} from '../../engine/rights/effective-access.ts';
import { openOperations } from '../../operations/open-operations.ts';
import { operations } from '../../practice/features.ts';
import { getTypeName } from '../../storage/rows.ts';
import { defineAdminAction } from '../context.ts';
import { explainAccess, judgeQuestion } from '../explain.ts';
import { refuseField } from '../input.ts';
import { printAccess } from './print-access.ts';

const practices = ['operator', 'practice'] as const;
const scopeLengthMax = 20_000;
const parameterLengthMax = 64;

const disclosure: Shape = {
  at: { kind: 'time', precision: 'instant', label: 'time', description: 'The time.' },
  application: { kind: 'text', description: 'The current name of the application.' },
  subject: { kind: 'text', nullable: true, label: 'caller', description: 'The subject of the token.' },
  interaction: { kind: 'text', description: 'The request. `archive`: rows up to this time are in an archive.' },
  resource: { kind: 'text', description: 'The type, or type and id. Empty: several types. The file of an archive.' },
  shown: { kind: 'integer', description: 'How many resources the response showed.' },
  elements: { kind: 'text', description: 'The names of the elements, or all.' },
  entries: { kind: 'text', nullable: true, description: 'The access entries that allowed it.' },
  requestId: { kind: 'text', nullable: true, label: 'request', description: 'The X-Request-Id of the response.' },
};

const serviceRow: Shape = {
  at: { kind: 'time', precision: 'instant', label: 'time', description: 'The time.' },
  action: { kind: 'choice', values: serviceActions, description: 'The request.' },
  about: {
    kind: 'text',
    nullable: true,
    description: 'The realm, environment and firm, or the subject of the administration.',
  },
  application: {
    kind: 'text',
    nullable: true,
    description: 'The current name of the application, if known.',
  },
  subject: { kind: 'text', nullable: true, label: 'caller', description: 'The authenticated caller.' },
  outcome: { kind: 'integer', description: '0: success. 4: refused. 8: failed.' },
  reason: { kind: 'text', nullable: true, description: 'The error code of a refusal.' },
  flow: { kind: 'text', nullable: true, description: 'The grant type of the token.' },
  tokenId: {
    kind: 'text',
    nullable: true,
    label: 'token',
    description: 'The jti of the token, never the token itself.',
  },
  times: { kind: 'integer', description: 'How many equal refusals this row stands for.' },
  requestId: { kind: 'text', nullable: true, label: 'request', description: 'The X-Request-Id of the response.' },
};

/** What tells in place of disclosures that there may be more of them. */
const archiveRow = {
  application: '',
  subject: null,
  interaction: 'archive',
  shown: 0,
  elements: '',
  entries: null,
  requestId: null,
} as const;

const dayMs = 86_400_000;

const grant: Shape = {
  letter: { kind: 'text', description: 'The permission letter: r, s, c, u or another one of the entries.' },
  elements: { kind: 'texts', description: 'The top-level elements. A single all means every element.' },
  rows: { kind: 'text', description: 'A query that resources must match. Empty: all resources.' },
  entries: { kind: 'texts', description: 'The entries that grant it.' },
};

const typeAccess: Shape = {
  type: { kind: 'text', description: 'The resource type.' },
  interactions: { kind: 'texts', description: 'The allowed interactions.' },
  grants: { kind: 'list', description: 'The permissions by letter.', shape: grant },
  searchParameters: { kind: 'texts', description: 'The search parameters that are allowed.' },
  sortKeys: { kind: 'texts', description: 'The allowed values of _sort.' },
  includes: { kind: 'texts', description: 'The allowed values of _include.' },
  revincludes: { kind: 'texts', description: 'The allowed values of _revinclude.' },
};

const entry: Shape = {
  entry: { kind: 'text', description: 'The entry.' },
  heldBy: { kind: 'texts', description: 'Who has the entry: token, application, firm.' },
  effective: { kind: 'flag', description: 'Whether the entry applies.' },
  reason: { kind: 'text', optional: true, description: 'Why the entry does not apply.' },
};

const verdict: Shape = {
  what: { kind: 'text', description: 'The subject of the question.' },
  allowed: { kind: 'flag', description: 'Whether it is allowed.' },
  entries: { kind: 'texts', description: 'The entries that allow it.' },
  reason: { kind: 'text', optional: true, description: 'What is missing, and who can grant it.' },
};

export const auditActions = [
  defineAdminAction({
    name: 'audit disclosures',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/disclosures',
    summary: 'Report which application saw which data of a patient, and when',
    description:
      'Rows of an archive are not in the report. A row `archive` for each archive that has rows of the period stands first and names its file.',
    requestNote: 'The patient stands in the body so that it is in no log of paths.',
    roles: practices,
    fields: {
      patient: {
        kind: 'text',
        lengthMax: 72,
        required: true,
        noted: true,
        description: 'Patient/ID, or only the id.',
      },
      from: { kind: 'time', description: 'The earliest time, inclusive.' },
      to: { kind: 'time', description: 'The latest time, exclusive.' },
    },
    output: list(disclosure),
    async run(context, { path, body: { patient, from = 0, to = Number.MAX_SAFE_INTEGER } }) {
      const patientId = /^(?:Patient\/)?([A-Za-z0-9\-.]{1,64})$/.exec(patient)?.[1];
      if (patientId === undefined) return refuseField('patient', 'patient must be Patient/ID');
      const firm = await getTargetFirm(context, path);
      const wanted = { firm: firm.id, patient: patientId, fromMs: from, toMs: to };
      const archives = await listDisclosureArchives(context.database, wanted);
      const rows: object[] = archives.map(({ untilMs, file }) => ({ ...archiveRow, atMs: untilMs, resource: file }));
      for await (const { typeNumber, id, ...row } of streamDisclosures(context.database, wanted)) {
        const type = typeNumber === null ? '' : getTypeName(typeNumber);
        rows.push({ ...row, resource: id === null ? type : `${type}/${id}` });
        if (rows.length > context.rowsMax) break;
      }
      return rows;
    },
    command: { isForEveryFirm: true },
  }),
  defineAdminAction({
    name: 'audit service',
    method: 'POST',
    path: '/ledger',
    summary: 'List tokens, refused callers and administration, newest first',
    description: 'Equal refusals within a short time are one row. This request adds a row as well.',
    roles: ['operator'],
    fields: {
      from: { kind: 'time', description: 'The earliest time, inclusive. The default is a day ago.' },
      to: { kind: 'time', description: 'The latest time, exclusive.' },
      refused: { kind: 'flag', description: 'Return only refusals and failures.' },
    },
    output: list(serviceRow),
    run: async ({ database, clock, rowsMax }, { body: { from, to = Number.MAX_SAFE_INTEGER, refused = false } }) =>
      listServiceRows(database, {
        fromMs: from ?? clock.now() - dayMs,
        toMs: to,
        isRefused: refused,
        limit: rowsMax + 1,
      }),
  }),
  defineAdminAction({
    name: 'access explain',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/authorisations/{application}/explain',
    summary: 'Explain what an application may do at a firm, and why not more',
    roles: ['operator'],
    fields: {
      scope: {
        kind: 'text',
        lengthMax: scopeLengthMax,
        description: 'The scope of the token. The default is all entries.',
      },
      type: { kind: 'choice', values: resourceTypesWithEndpoint, description: 'Return only this resource type.' },
      interaction: {
        kind: 'choice',
        values: interactionNames,
        description: 'Explain whether this interaction is allowed on the type.',
      },
      parameter: {
        kind: 'text',
        lengthMax: parameterLengthMax,
        description: 'Explain whether a search of the type may use this parameter.',
      },
    },
    output: one({
      closed: { kind: 'texts', description: 'Why every call is refused. Empty: calls are accepted.' },
      entries: { kind: 'list', description: 'The entries one by one.', shape: entry },
      bundles: { kind: 'texts', description: 'The transaction Bundles that are allowed.' },
      types: { kind: 'list', description: 'The resource types with any permission.', shape: typeAccess },
      verdicts: {
        kind: 'list',
        description: 'The answers about the interaction and the parameter of the request.',
        shape: verdict,
      },
    }),
    async run(context, { path, body: { scope, type, interaction, parameter } }) {
      const parsed = scope === undefined ? [] : parseScope(scope);
      if ('diagnostics' in parsed) return refuseField('scope', `scope: ${parsed.diagnostics}`);
      if (type === undefined && (interaction ?? parameter) !== undefined)
        return refuseField('type', 'interaction and parameter are asked of a type');
      const application = await getTargetApplication(context, path);
      const firm = await getTargetFirm(context, path);
      const { closed, policy, own } = await explainAccess(context, firm, application, scope);
      if (policy === undefined) return { closed, entries: [], bundles: [], types: [], verdicts: [], operations: [] };
      const access = computeEffectiveAccess(policy, own, type === undefined ? [] : [type]);
      const asked = interactionNames.find((name) => name === interaction);
      const verdicts = type === undefined ? [] : judgeQuestion(policy, own, { type, interaction: asked, parameter });
      return {
        ...access,
        closed,
        verdicts,
        operations: openOperations(operations, policy).filter(
          ({ types }) => type === undefined || types.length === 0 || types.includes(type),
        ),
        types: access.types.map((each) => ({ ...each, grants: each.grants.map(granted) })),
      };
    },
    command: { arguments: [], print: (explained, input) => printAccess(explained, input) },
  }),
];

function granted({ letter, elements, criteria, entries }: PermissionGrant) {
  return { letter, elements: elements === 'all' ? ['all'] : elements, rows: formatRowQuery(criteria), entries };
}
