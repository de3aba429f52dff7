/** `praxis charges list`: what applications have recorded to be billed. */

import { parseStored } from '../../access/disclosure.ts';
import { defineAction } from '../../actions/action.ts';
import type { Shape } from '../../actions/schema.ts';
import { getAuthorisedTargets, getTargetFirm } from '../../actions/targets.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import { chargeFacts } from './charge-transaction.ts';
import { findInboundCharges, type InboundCharge } from './store.ts';

const charge: Shape = {
  id: { kind: 'text', description: 'The id of the ChargeItem.' },
  received: { kind: 'time', description: 'When it was recorded.' },
  application: { kind: 'text', description: 'The name of the application that recorded it.' },
  transaction: { kind: 'text', nullable: true, description: 'The id of the transaction at the application.' },
  status: { kind: 'text', description: 'The state: docs/integrate/states.md.' },
  patient: { kind: 'text', nullable: true, description: 'The reference to the patient.' },
  code: { kind: 'text', nullable: true, description: 'The first code, or the text if there is none.' },
  quantity: { kind: 'text', nullable: true, none: '1', description: 'The quantity as recorded. Null: one.' },
  unitCost: { kind: 'text', nullable: true, description: 'The unit cost. Null: as in the fee schedule.' },
  amount: { kind: 'text', nullable: true, description: 'Unit cost × quantity. Null: as in the fee schedule.' },
  currency: { kind: 'text', nullable: true, description: 'The ISO 4217 code of the currency.' },
};

/** As in FHIR ids; longer words of other filters find nothing. */
const wordLengthMax = 100;

export const chargeActions = [
  defineAction({
    name: 'charges list',
    method: 'POST',
    path: '/environments/{environment}/firms/{firm}/charges',
    summary: 'List the charges of applications, newest first',
    requestNote: 'What narrows the list stands in the body so that no patient is in a log of paths.',
    roles: ['operator', 'practice'],
    fields: {
      application: {
        kind: 'text',
        lengthMax: 120,
        noted: true,
        description: 'Return only charges of this application.',
      },
      status: { kind: 'text', lengthMax: wordLengthMax, description: 'Return only charges in this state.' },
      patient: {
        kind: 'text',
        lengthMax: 72,
        noted: true,
        description: 'Return only charges of this patient: Patient/ID, or only the id.',
      },
      transaction: {
        kind: 'text',
        lengthMax: wordLengthMax,
        description: 'Return only charges with this transaction id.',
      },
      from: { kind: 'time', description: 'The earliest time, inclusive.' },
      to: { kind: 'time', description: 'The latest time, exclusive.' },
    },
    output: { kind: 'list', shape: charge },
    async run(context, { path, body: { from = 0, to = Number.MAX_SAFE_INTEGER, application, patient, ...words } }) {
      const { database, clock, store } = context;
      const scope = await openOperatorScope(database, clock, await getTargetFirm(context, path));
      const targets =
        application === undefined ? undefined : await getAuthorisedTargets(context, { ...path, application });
      const filter = {
        ...words,
        application: targets?.application.id,
        patient: patient?.replace(/^Patient\//, ''),
        fromMs: from,
        toMs: to,
      };
      return (await findInboundCharges(store, scope, filter, context.rowsMax + 1)).map(shown);
    },
    command: {
      columns: [
        ...['id', 'received', 'application', 'transaction', 'status', 'patient', 'code', 'quantity'],
        {
          heading: 'AMOUNT',
          none: 'fee schedule',
          cell: ({ amount, currency }) => (amount === null ? null : `${amount} ${currency ?? ''}`.trim()),
        },
      ],
    },
  }),
];

function shown({ charge: id, content, ...noted }: InboundCharge) {
  const { status, ...facts } = chargeFacts(parseStored(content));
  const { patient = null, code = null, quantity = null, unitCost = null, amount = null, currency = null } = facts;
  const { transaction = null, ...source } = noted;
  return { id, ...source, transaction, status, patient, code, quantity, unitCost, amount, currency };
}
