/** `praxis firm erase …`: removing all of a firm, which takes two operators. */
import { segment } from '../../actions/fields.ts';
import { list, one, type Shape } from '../../actions/schema.ts';
import { getTargetFirm, parseSegmentNumber } from '../../actions/targets.ts';
import { openSealingKey } from '../../audit/seal.ts';
import { toInstant } from '../../base/clock.ts';
import { listTablesLeft } from '../../offboarding/erase-firm.ts';
import { isSignedProof } from '../../offboarding/erasure-proof.ts';
import {
  cancelErasure,
  confirmErasure,
  countedMax,
  type Erasure,
  type FirmCounts,
  getErasure,
  listErasures,
  requestErasure,
} from '../../offboarding/erasures.ts';
import { type AdminContext, defineAdminAction } from '../context.ts';
import { operatorFields, requireOperator } from '../operators.ts';

const states = ['requested', 'cancelled', 'expired', 'confirmed', 'erased'] as const;

const told: Shape = {
  id: { kind: 'integer', description: 'The number of the erasure.' },
  environment: { kind: 'text', description: 'The environment of the firm.' },
  firm: { kind: 'text', description: 'Prefix of the firm.' },
  name: { kind: 'text', description: 'Name of the firm.' },
  state: { kind: 'choice', values: states, description: 'confirmed: rows are being removed; erased: all are removed.' },
  reason: { kind: 'text', description: 'Why it was requested.' },
  requestedBy: { kind: 'text', label: 'requested by', description: 'Username of the operator who requested it.' },
  requestedAt: { kind: 'time', description: 'When it was requested.' },
  expiresAt: { kind: 'time', description: 'Until when it can be confirmed.' },
  confirmedBy: { kind: 'text', nullable: true, description: 'Username of the operator who confirmed it.' },
  confirmedAt: { kind: 'time', nullable: true, description: 'When it was confirmed.' },
  cancelledBy: { kind: 'text', nullable: true, description: 'Who cancelled it.' },
  cancelledAt: { kind: 'time', nullable: true, description: 'When it was cancelled.' },
  finishedAt: { kind: 'time', nullable: true, description: 'When the last row was removed.' },
};

const count = (what: string) => ({ kind: 'integer', description: what }) as const;

const whole: Shape = {
  ...told,
  counts: {
    kind: 'object',
    description: `What the firm held when it was requested. ${countedMax + 1} stands for all that are more.`,
    shape: {
      resources: count('Current resources.'),
      versions: count('Versions of resources.'),
      documents: count('Contents of documents.'),
      auditRows: count('Rows of the audit ledger.'),
      applications: count('Applications that the firm authorises.'),
    },
  },
  proof: {
    kind: 'text',
    nullable: true,
    description: 'What was erased, as JSON in the form in which it is signed. Null until all rows are removed.',
  },
  signature: {
    kind: 'text',
    nullable: true,
    description: 'Ed25519 in base64, by the key of the seals, over "praxis firm erasure", a line feed and the proof.',
  },
  isSigned: { kind: 'flag', nullable: true, description: 'Whether the signature is that of this installation.' },
  tablesLeft: {
    kind: 'texts',
    description: 'Tables that have rows of the firm now. None when it is erased.',
  },
};

/** As the answer has it. */
async function tell(context: AdminContext, erasure: Erasure) {
  const { proof, signature, firmNumber } = erasure;
  const tablesLeft = await listTablesLeft(context.database.forFirm(firmNumber), firmNumber);
  const key = openSealingKey(context.secrets);
  const isSigned = proof === null || signature === null ? null : isSignedProof(key, proof, signature);
  return { ...erasure, signature: signature?.toString('base64') ?? null, isSigned, tablesLeft };
}

function formatCounts({ resources, versions, documents, auditRows, applications }: FirmCounts): string {
  const many = (number: number): string =>
    number > countedMax ? `more than ${countedMax.toLocaleString('en-US')}` : number.toLocaleString('en-US');
  return `${many(resources)} resources with ${many(versions)} versions, ${many(documents)} documents, ${many(auditRows)} rows of the audit ledger and the rights of ${many(applications)} applications`;
}

const segments = { erasure: { description: 'The number that firm erase list shows' } } as const;

export const erasureActions = [
  defineAdminAction({
    name: 'firm erase request',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/erasures',
    summary: 'Request that everything of a suspended firm be erased; another operator has to confirm it',
    roles: ['operator'],
    sessionOnly: true,
    creates: true,
    fields: {
      reason: { kind: 'text', lengthMax: 500, required: true, description: 'Why. It stays in the record.' },
      ...operatorFields,
    },
    output: one(whole),
    async run(context, { path, body }) {
      const by = await requireOperator(context, body);
      const firm = await getTargetFirm(context, path);
      return await tell(context, await requestErasure(context, firm, { reason: body.reason, by }));
    },
    command: {
      print: ({ id, firm, environment, counts, expiresAtMs }) => [
        `erasure ${id} of firm ${firm} in ${environment} would remove ${formatCounts(counts)}`,
        `another operator confirms it until ${toInstant(expiresAtMs)}: praxis firm erase confirm ${id} ${firm}`,
      ],
    },
  }),
  defineAdminAction({
    name: 'firm erase confirm',
    method: 'POST',
    path: '/erasures/{erasure}/confirm',
    summary:
      'Confirm an erasure that another operator has requested: nobody enters the firm any more, and its rows are removed',
    description: 'It cannot be undone. The running service removes the rows.',
    roles: ['operator'],
    sessionOnly: true,
    fields: {
      firm: { ...segment('Prefix of the firm that is to be erased.'), required: true },
      ...operatorFields,
    },
    output: one(whole),
    async run(context, { path, body }) {
      const by = await requireOperator(context, body);
      const id = parseSegmentNumber('erasure', path.erasure);
      return await tell(context, await confirmErasure(context, id, { firm: body.firm, by }));
    },
    command: {
      arguments: ['erasure', 'firm'],
      segments,
      print: ({ id, firm, environment }) => [
        `erasure ${id} is confirmed: firm ${firm} in ${environment} is closed, and its rows are being removed`,
      ],
    },
  }),
  defineAdminAction({
    name: 'firm erase cancel',
    method: 'POST',
    path: '/erasures/{erasure}/cancel',
    summary: 'Cancel an erasure that is not confirmed yet',
    roles: ['operator'],
    output: one(whole),
    run: async (context, { path }) =>
      await tell(
        context,
        await cancelErasure(context, parseSegmentNumber('erasure', path.erasure), context.caller.username),
      ),
    command: { segments, print: ({ id }) => [`erasure ${id} is cancelled`] },
  }),
  defineAdminAction({
    name: 'firm erase list',
    method: 'GET',
    path: '/erasures',
    summary: 'List erasures of firms, the latest first',
    roles: ['operator'],
    output: list(told),
    run: (context) => listErasures(context, context.rowsMax + 1),
    command: {
      columns: ['id', 'environment', 'firm', 'state', 'requestedBy', 'requestedAt', 'confirmedBy', 'finishedAt'],
    },
  }),
  defineAdminAction({
    name: 'firm erase show',
    method: 'GET',
    path: '/erasures/{erasure}',
    summary: 'Show an erasure with its proof, and whether it is true of the database now',
    roles: ['operator'],
    output: one(whole),
    run: async (context, { path }) =>
      await tell(context, await getErasure(context, parseSegmentNumber('erasure', path.erasure))),
    command: { segments },
  }),
];
