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
import { streamDisclosures } from '../../audit/disclosures.ts';
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
  at: { kind: 'time', precision: 'instant', label: 'time', description: 'When.' },
  application: { kind: 'text', description: 'Name of the application as it is now.' },
  subject: { kind: 'text', nullable: true, label: 'caller', description: 'Whom the token named.' },
  interaction: { kind: 'text', description: 'What was asked for.' },
  resource: { kind: 'text', description: 'Type, or type and id; empty: of several types.' },
  shown: { kind: 'integer', description: 'Resources that the answer showed.' },
  elements: { kind: 'text', description: 'all, or the names of the elements.' },
  entries: { kind: 'text', nullable: true, description: 'Access entries that allowed it.' },
  requestId: { kind: 'text', nullable: true, label: 'request', description: 'X-Request-Id of the answer.' },
};

const serviceRow: Shape = {
  at: { kind: 'time', precision: 'instant', label: 'time', description: 'When.' },
  action: { kind: 'choice', values: serviceActions, description: 'What was asked for.' },
  about: { kind: 'text', nullable: true, description: 'The realm, environment and firm, or what was administered.' },
  application: {
    kind: 'text',
    nullable: true,
    description: 'Name of the application as it is now, where it is known.',
  },
  subject: { kind: 'text', nullable: true, label: 'caller', description: 'Who proved to be it.' },
  outcome: { kind: 'integer', description: '0: it succeeded; 4: it was refused; 8: it failed.' },
  reason: { kind: 'text', nullable: true, description: 'Error code of a refusal.' },
  flow: { kind: 'text', nullable: true, description: 'How the token was got.' },
  tokenId: { kind: 'text', nullable: true, label: 'token', description: 'jti of the token, never the token.' },
  times: { kind: 'integer', description: 'Equal refusals that it stands for.' },
  requestId: { kind: 'text', nullable: true, label: 'request', description: 'X-Request-Id of the answer.' },
};

const dayMs = 86_400_000;

const grant: Shape = {
  letter: { kind: 'text', description: 'r, s, c, u or another letter of the entries.' },
  elements: { kind: 'texts', description: 'Top-level elements; all alone: every one.' },
  rows: { kind: 'text', description: 'A query that rows have to fit; empty: all.' },
  entries: { kind: 'texts', description: 'The entries that grant it.' },
};

const typeAccess: Shape = {
  type: { kind: 'text', description: 'The resource type.' },
  interactions: { kind: 'texts', description: 'What may be asked for.' },
  grants: { kind: 'list', description: 'Permission by letter.', shape: grant },
  searchParameters: { kind: 'texts', description: 'By which it can be searched.' },
  sortKeys: { kind: 'texts', description: 'Those that _sort takes.' },
  includes: { kind: 'texts', description: 'Values of _include.' },
  revincludes: { kind: 'texts', description: 'Values of _revinclude.' },
};

const entry: Shape = {
  entry: { kind: 'text', description: 'The entry.' },
  heldBy: { kind: 'texts', description: 'Who holds it: token, application, firm.' },
  effective: { kind: 'flag', description: 'Whether it counts.' },
  reason: { kind: 'text', optional: true, description: 'Why not.' },
};

const verdict: Shape = {
  what: { kind: 'text', description: 'What was asked about.' },
  allowed: { kind: 'flag', description: 'Whether it is allowed.' },
  entries: { kind: 'texts', description: 'The entries that open it.' },
  reason: { kind: 'text', optional: true, description: 'Why not: what is missing, and who grants it.' },
};

export const auditActions = [
  defineAdminAction({
    name: 'audit disclosures',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/disclosures',
    summary: 'Which application saw which data of a patient, and when',
    requestNote: 'The patient stands in the body so that it is in no log of paths.',
    roles: practices,
    fields: {
      patient: {
        kind: 'text',
        lengthMax: 72,
        required: true,
        noted: true,
        description: 'Patient/ID, or the id alone.',
      },
      from: { kind: 'time', description: 'Earliest moment.' },
      to: { kind: 'time', description: 'Moment before which.' },
    },
    output: list(disclosure),
    async run(context, { path, body: { patient, from = 0, to = Number.MAX_SAFE_INTEGER } }) {
      const patientId = /^(?:Patient\/)?([A-Za-z0-9\-.]{1,64})$/.exec(patient)?.[1];
      if (patientId === undefined) return refuseField('patient', 'patient must be Patient/ID');
      const firm = await getTargetFirm(context, path);
      const rows: object[] = [];
      const wanted = { firm: firm.id, patient: patientId, fromMs: from, toMs: to };
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
    summary: 'What was asked of the service itself, newest first: tokens, callers who were turned away, administration',
    description: 'Refusals that are equal and close together are one row. Asking leaves a row, too.',
    roles: ['operator'],
    fields: {
      from: { kind: 'time', description: 'Earliest moment; a day ago when absent.' },
      to: { kind: 'time', description: 'Moment before which.' },
      refused: { kind: 'flag', description: 'Only refusals and failures.' },
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
    summary: 'What an application may do at a firm, and why not more',
    roles: ['operator'],
    fields: {
      scope: {
        kind: 'text',
        lengthMax: scopeLengthMax,
        description: 'Of a token that was asked for with it; all if absent.',
      },
      type: { kind: 'choice', values: resourceTypesWithEndpoint, description: 'Only this resource type.' },
      interaction: {
        kind: 'choice',
        values: interactionNames,
        description: 'Whether this interaction is allowed on the type.',
      },
      parameter: {
        kind: 'text',
        lengthMax: parameterLengthMax,
        description: 'Whether a search of the type may use this parameter.',
      },
    },
    output: one({
      closed: { kind: 'texts', description: 'Why every call is refused; empty: calls are let in.' },
      entries: { kind: 'list', description: 'Entry by entry.', shape: entry },
      bundles: { kind: 'texts', description: 'Transaction Bundles that may be posted.' },
      types: { kind: 'list', description: 'Types of which something may be done.', shape: typeAccess },
      verdicts: {
        kind: 'list',
        description: 'On the interaction and the parameter that were asked about.',
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
